"""The tool by which a model asks for compaction itself, with a focus for the summary.

The summary runs after the whole batch of calls is answered. An older form of this tool summarised at once and appended
the answer afterwards: the call was just summarised away, so its answer is an orphan, and the calls beside it were lost.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from compaction.messages import Block, Body

COMPACT_TOOL = "compact"
FOCUS_FIELDS = ("focus", "instructions", "custom_instructions")
MOST_FOCUS_CHARS = 2_000

ANSWERS = ("[Compacted. Conversation history has been summarized.]", "Compaction requested after this tool batch.")
_ANSWERS = frozenset(Body.of(text).digest for text in ANSWERS)

COMPACT_ORPHAN = "compact_answer_orphan"
"""Code of the finding: the answer of a compact call was sent without its call."""


def compact_call(blocks: Sequence[Block]) -> Block | None:
    """The call by which the model asks for compaction, once the last batch of calls among `blocks` (in their order) is answered.

    None where the last batch has no such call, where a call of it still waits, or where something else came after it.
    """
    end = len(blocks)
    while end and blocks[end - 1].kind != "tool_result" and blocks[end - 1].id.seq == blocks[-1].id.seq:
        end -= 1  # a note of the harness beside the last result
    batch = end
    while end and blocks[end - 1].kind == "tool_result":
        end -= 1
    if end == batch or (batch < len(blocks) and blocks[batch - 1].id.seq != blocks[-1].id.seq):
        return None
    answered = {block.tool_id for block in blocks[end:batch]}
    asked: Block | None = None
    while end and blocks[end - 1].kind == "tool_use":
        end -= 1
        if blocks[end].tool_id not in answered:
            return None
        if blocks[end].tool_name == COMPACT_TOOL:
            asked = blocks[end]
    return asked


def focus_of(text: str) -> str:
    """What the input of a compact call (its JSON text) asks the summary to keep; "" where it says nothing."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    fields = given if isinstance(given, dict) else {}
    focus = next((value for field in FOCUS_FIELDS if isinstance(value := fields.get(field), str) and value.strip()), "")
    return " ".join(focus.split())[:MOST_FOCUS_CHARS]


def answers_compact(block: Block) -> bool:
    """Whether a tool result is the fixed answer of a compact call. Its body needs no text."""
    return block.kind == "tool_result" and block.body.digest in _ANSWERS
