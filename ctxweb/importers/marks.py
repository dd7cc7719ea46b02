"""Marks that compaction leaves in bare messages: a summary that stands for earlier ones, a result that was cut or cleared.

Literal tables of the texts that public agents are known to write. A mark says that something was taken, not when.
"""

from __future__ import annotations

import re

from compaction.messages import BlockState
from compaction.transcript import Verb

HEAD_CHARS = 400
TAIL_CHARS = 400

SUMMARY = re.compile(
    r"\A\s*(?:This session is being continued from a previous conversation|<compacted-summary>|<state_snapshot>"
    r"|Here is a summary of the conversation to date:|Previous context has been compacted\."
    r"|\[(?:Compacted|Reactive compact)\]\n\n|\[Conversation compressed\. Transcript: |## Conversation Summary\b"
    r"|Another language model started to solve this problem|\[(?:之前的)?对话摘要\]\n)"
)
SUMMARY_TAG = re.compile(r"\n\n<compacted-summary>\n")
HIDDEN_MESSAGES = re.compile(
    r"\A\[(?:snipped \d+ messages(?: from conversation middle)?|\d+ messages archived at [^\]]+"
    r"|Sliding window truncation: \d+ messages hidden[^\]]*)\]\s*\Z"
)

CLEARED = re.compile(
    r"\A\s*(?:\[cleared\]|\[Old tool result content cleared\]|\[Earlier tool result (?:compacted|saved at)[^\]]*\]"
    r"|\[Previous: used [^\]]+\]|<tool_output_masked\b)"
)
SPILLED = re.compile(r"\A\s*<persisted-output>|\(Omitted \d+ bytes\. Full formatted result stored at: ")
TRUNCATED = re.compile(
    r"…\d+ (?:tokens|chars) truncated…|\[\.\.\. tool result middle pruned \.\.\.\]"
    r"|\[\.\.\. 已截断[:,][^\]]{0,80}\]\s*\Z|\[\.\.\. (?:omitted \d+ of \d+ lines|output truncated to fit \d+ bytes) \.\.\.\]"
)
STATE_VERBS: dict[BlockState, Verb] = {"cleared": "clear", "spilled": "spill", "truncated": "truncate"}


def is_summary(text: str) -> bool:
    """Whether a user or system message is a summary of earlier messages, or stands for ones that were hidden."""
    head = text[:HEAD_CHARS]
    return bool(SUMMARY.match(head) or SUMMARY_TAG.search(head) or HIDDEN_MESSAGES.match(head))


def result_state(text: str) -> BlockState:
    """State that a tool result's text shows: `whole` unless it holds a mark."""
    if CLEARED.match(text[:HEAD_CHARS]):
        return "cleared"
    if SPILLED.search(text[:HEAD_CHARS]) or SPILLED.search(text[-TAIL_CHARS:]):
        return "spilled"
    return "truncated" if TRUNCATED.search(text) else "whole"


def result_verb(text: str, chars_before: int) -> Verb:
    """What happened to a tool result of `chars_before` characters that is `text` now."""
    marked = STATE_VERBS.get(result_state(text))
    if marked is not None:
        return marked
    return "truncate" if len(text) < chars_before else "replace"
