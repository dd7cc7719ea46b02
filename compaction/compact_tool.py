"""The tool by which a model asks for compaction itself, with a focus for the summary.

The summary runs after the whole batch of calls is answered. An older form of this tool summarised at once and appended
the answer afterwards: the call was just summarised away, so its answer is an orphan, and the calls beside it were lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from compaction.checkpoints import recognise
from compaction.messages import Block, Message
from compaction.transcript import Finding

COMPACT_TOOL = "compact"
FOCUS_FIELDS = ("focus", "instructions", "custom_instructions")
MOST_FOCUS_CHARS = 2_000

COMPACT_ORPHAN = "compact_answer_orphan"
"""Code of the finding: the answer of a compact call stands without its call."""


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


def compact_orphans(messages: Iterable[Message]) -> Iterator[Finding]:
    """A finding for each answer of a compact call whose call no message before it holds."""
    called: set[str | None] = set()
    for message in messages:
        for block in message.blocks:
            if block.kind == "tool_use":
                called.add(block.tool_id)
            elif block.kind == "tool_result" and block.tool_id not in called and _answers_compact(block.body.text or ""):
                detail = f"{block.id} {block.tool_id or ''}".strip()
                yield Finding(code=COMPACT_ORPHAN, line=message.line, seq=message.seq, detail=detail)


def _answers_compact(text: str) -> bool:
    found = recognise(text, "result")
    return found is not None and found.mark.kind == "acknowledgement"
