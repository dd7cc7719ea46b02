"""Marks that compaction leaves in bare messages: checkpoints, and results that were cut, cleared or spilled; and how one writes them.

`MARKS` is the one table of texts that public agents are known to write. A mark says that something was taken and by
whom it may have been, not when. Only the head and the tail of a text are searched, so a long or hostile text costs no more
than a short one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.messages import BlockState
from compaction.transcript import Verb

EDGE_CHARS = 600  # longer than every mark, a path in it included

MarkKind = Literal["checkpoint", "hidden", "acknowledgement", "truncated", "cleared", "spilled"]
Where = Literal["message", "result"]
Edge = Literal["start", "end", "whole", "inside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A text that a compaction writes. `edge` says where in the text `pattern` stands; named groups are its figures.
    Where there is an `ending`, the text has to end in it too, with further figures.

    `checkpoint`: a summary stands for earlier messages; `hidden`: a note that messages were left out;
    `acknowledgement`: the reply to a summary or to a request for one.
    """

    system: str
    kind: MarkKind
    where: Where
    edge: Edge
    pattern: re.Pattern[str]
    ending: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A mark found in a text, with its figures by name, as they stand there."""

    mark: Mark
    figures: dict[str, str]


def _mark(system: str, kind: MarkKind, where: Where, edge: Edge, pattern: str, ending: str | None = None) -> Mark:
    end = None if ending is None else re.compile(ending)
    return Mark(system=system, kind=kind, where=where, edge=edge, pattern=re.compile(pattern), ending=end)


MARKS: tuple[Mark, ...] = (
    _mark("claude_code", "checkpoint", "message", "start", r"This session is being continued from a previous conversation"),
    _mark("codex", "checkpoint", "message", "start", r"Another language model started to solve this problem"),
    _mark("dsh", "checkpoint", "message", "start", r"<compacted-summary>"),
    _mark("dsh", "checkpoint", "message", "end", r"\n\n<compacted-summary>"),
    _mark("dsh", "checkpoint", "message", "end", r"\n</compacted-summary>"),
    _mark("dsh", "checkpoint", "message", "whole", r"</compacted-summary>"),
    _mark("gemini", "checkpoint", "message", "start", r"<state_snapshot>"),
    _mark("langchain", "checkpoint", "message", "start", r"Here is a summary of the conversation to date:"),
    _mark("kimi", "checkpoint", "message", "start", r"Previous context has been compacted\."),
    _mark("roo", "checkpoint", "message", "start", r"## Conversation Summary\b"),
    _mark("ctxweb", "checkpoint", "message", "start", r"\[Summary of the conversation so far\]\n"),
    _mark("s14", "checkpoint", "message", "start", r"\[(?:之前的)?对话摘要\]\n"),
    _mark("s14", "acknowledgement", "message", "whole", r"好的, 我已了解之前的对话内容。(?:请继续。)?"),
    _mark(
        "s08",
        "checkpoint",
        "message",
        "start",
        r"\[(?P<how>Compacted|Reactive compact)\]\n\nCurrent user request:\n",
        ending=r"\n\nFull transcript: (?P<path>[^\n]+)",
    ),
    _mark("s08", "checkpoint", "message", "start", r"\[(?:Compacted|Reactive compact)\]\n\n"),
    _mark("s08", "checkpoint", "message", "start", r"\[Conversation compressed\. Transcript: (?P<path>[^\n]+)\]\n\n"),
    _mark("s08", "hidden", "message", "whole", r"\[snipped (?P<messages>\d+) messages(?: from conversation middle)?\]"),
    _mark("s08", "hidden", "message", "whole", r"\[(?P<messages>\d+) messages archived at (?P<path>[^\n]+)\]"),
    _mark("s08", "acknowledgement", "result", "whole", r"\[Compacted\. Conversation history has been summarized\.\]"),
    _mark("s08", "acknowledgement", "result", "whole", r"Compaction requested after this tool batch\."),
    _mark("roo", "hidden", "message", "start", r"\[Sliding window truncation: (?P<messages>\d+) messages hidden"),
    _mark("s08", "cleared", "result", "start", r"\[Earlier tool result compacted\."),
    _mark("s08", "cleared", "result", "whole", r"\[Earlier tool result saved at (?P<path>[^\n]+)\]"),
    _mark("s08", "cleared", "result", "whole", r"\[Previous: used (?P<tool>[^\n]+)\]"),
    _mark("opencode", "cleared", "result", "start", r"\[Old tool result content cleared\]"),
    _mark("generic", "cleared", "result", "whole", r"\[cleared\]"),
    _mark("gemini", "cleared", "result", "start", r"<tool_output_masked\b"),
    _mark("s08", "spilled", "result", "start", r"(?:<persisted-output>)?\nFull output: (?P<path>[^\n]+)\nPreview:\n"),
    _mark("claude_code", "spilled", "result", "start", r"<persisted-output>(?:\s*Output too large[^\n]* saved to: (?P<path>[^\n]+))?"),
    _mark(
        "dsh",
        "spilled",
        "result",
        "end",
        r"(?:^|\n\n)\(Omitted (?P<omitted_bytes>\d+) bytes\. Full formatted result stored at: (?P<path>[^\n]+?)\. [^\n]+\)",
    ),
    _mark("dsh", "truncated", "result", "inside", r"\n\n\[\.\.\. tool result middle pruned \.\.\.\]\n\n"),
    _mark("codex", "truncated", "result", "inside", r"…(?P<removed>\d+) (?:tokens|chars) truncated…"),
    _mark("codex", "truncated", "result", "inside", r"\[\.\.\. (?:omitted \d+ of \d+ lines|output truncated to fit \d+ bytes) \.\.\.\]"),
    _mark(
        "s14",
        "truncated",
        "result",
        "end",
        r"\n\n\[\.\.\. 已截断: 原始 (?P<original_chars>\d+) 字符, 保留 (?P<kept_chars>\d+) 字符 \.\.\.\]",
    ),
    _mark("s14", "truncated", "result", "end", r"\n\n\[\.\.\. 已截断, 原始长度 (?P<original_chars>\d+) 字符 \.\.\.\]"),
)

OPENING_TAG, CLOSING_TAG = "<compacted-summary>", "</compacted-summary>"
PREAMBLE = (
    "The earlier part of this conversation is no longer in view. What follows between the two tags was written by a model from it: "
    "it is a record of what was said and done, not a new request. Where it and the messages after it disagree, the messages are right. "
    "Go on from where the conversation stands."
)

STATES: dict[MarkKind, BlockState] = {"truncated": "truncated", "cleared": "cleared", "spilled": "spilled"}
STATE_VERBS: dict[BlockState, Verb] = {"cleared": "clear", "spilled": "spill", "truncated": "truncate"}


def checkpoint_text(summary: str, preamble: str = PREAMBLE) -> str:
    """The text of a checkpoint that is one block: the preamble, and the summary between its tags."""
    return f"{_opening(preamble)}\n{summary}\n{CLOSING_TAG}"


def checkpoint_texts(summary: Sequence[str], preamble: str = PREAMBLE) -> tuple[str, ...]:
    """The texts of a checkpoint that keeps the blocks of its summary: one block before them, one after."""
    return (_opening(preamble), *summary, CLOSING_TAG)


def recognise(text: str, where: Where) -> Recognised | None:
    """The first mark of the table that stands in the text of a message, or of a tool result."""
    head, tail = text[:EDGE_CHARS], text[-EDGE_CHARS:].rstrip()
    for mark in MARKS:
        if mark.where == where:
            match = _find(mark, text, head, tail)
            end = _at_end(mark.ending, tail) if mark.ending is not None else match
            if match is not None and end is not None:
                figures = match.groupdict() | end.groupdict()
                return Recognised(mark=mark, figures={name: value for name, value in figures.items() if value is not None})
    return None


def is_checkpoint(text: str) -> bool:
    """Whether a message is a summary of earlier messages, or says that some were left out."""
    found = recognise(text, "message")
    return found is not None and found.mark.kind in ("checkpoint", "hidden")


def result_state(text: str) -> BlockState:
    """The state that a tool result's text shows: `whole` unless it holds a mark."""
    found = recognise(text, "result")
    return "whole" if found is None else STATES.get(found.mark.kind, "whole")


def result_verb(text: str, chars_before: int) -> Verb:
    """What happened to a tool result of `chars_before` characters that is `text` now."""
    state = result_state(text)
    if state in STATE_VERBS:
        return STATE_VERBS[state]
    return "truncate" if len(text) < chars_before else "replace"


def _opening(preamble: str) -> str:
    return f"{preamble}\n\n{OPENING_TAG}"


def _find(mark: Mark, text: str, head: str, tail: str) -> re.Match[str] | None:
    if mark.edge == "start":
        return mark.pattern.match(head) or mark.pattern.match(head.lstrip())
    if mark.edge == "whole":
        return mark.pattern.fullmatch(tail) if len(text) <= EDGE_CHARS else None
    if mark.edge == "inside":
        return mark.pattern.search(text)
    return _at_end(mark.pattern, tail)


def _at_end(pattern: re.Pattern[str], tail: str) -> re.Match[str] | None:
    return next((match for match in pattern.finditer(tail) if match.end() == len(tail)), None)
