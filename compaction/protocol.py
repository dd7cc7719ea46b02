"""The tool protocol: each call has one result, later, with its id; and where a view may be cut without splitting a pair.

`validate_tool_protocol` judges a list of messages and raises; `ViewWatch` looks at the views of a recorded lane, where
a violation is the source's own and becomes a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compaction.errors import ProtocolError
from compaction.live import LiveView
from compaction.messages import Block, BlockId, Interaction, Message
from compaction.order import Placed, by_position
from compaction.transcript import Finding


def interactions(messages: Iterable[Message]) -> tuple[Interaction, ...]:
    """All calls and results, paired by id, in the order of their first block. A side that was never logged is None."""
    uses: dict[str, BlockId] = {}
    results: dict[str, BlockId] = {}
    for block in _tool_blocks(messages):
        side = uses if block.kind == "tool_use" else results
        side.setdefault(block.tool_id or "", block.id)
    order = sorted({**results, **uses}, key=lambda tool_id: min(filter(None, (uses.get(tool_id), results.get(tool_id)))))
    return tuple(Interaction(tool_id=tool_id, use=uses.get(tool_id), result=results.get(tool_id)) for tool_id in order)


def validate_tool_protocol(messages: Sequence[Message]) -> tuple[Interaction, ...]:
    """The interactions of `messages` in the order of their calls; ProtocolError where a call and its result do not pair."""
    open_calls: dict[str, BlockId] = {}
    pairs: dict[str, Interaction] = {}
    for message in messages:
        for block in message.blocks:
            if block.kind == "tool_use":
                _check_use(message, block, open_calls, pairs)
                open_calls[block.tool_id or ""] = block.id
            elif block.kind == "tool_result":
                _check_result(message, block, open_calls, pairs)
                tool_id = block.tool_id or ""
                pairs[tool_id] = Interaction(tool_id=tool_id, use=open_calls.pop(tool_id), result=block.id)
    for tool_id, use in open_calls.items():
        raise _violation("tool_use_unmatched", tool_id, use, "has no result: append the result, or leave the call out")
    return tuple(sorted(pairs.values(), key=lambda pair: pair.use or BlockId(0, 0)))


def safe_cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """The positions 0…len at which a list of messages may be cut: no call lies before the cut with its result after it."""
    last_index: dict[str, int] = {}
    for index, message in enumerate(messages):
        for block in _tool_blocks((message,)):
            last_index[block.tool_id or ""] = index
    cuts, reach = [0], -1
    for index, message in enumerate(messages):
        for block in _tool_blocks((message,)):
            reach = max(reach, last_index[block.tool_id or ""])
        if reach <= index:
            cuts.append(index + 1)
    return tuple(cuts)


class ViewWatch:
    """Finds, call by call, what the view of a recorded lane breaks; each place is reported once."""

    def __init__(self, view: LiveView) -> None:
        self._view = view
        self._reported: set[tuple[str, BlockId]] = set()

    def findings(self) -> Iterator[Finding]:
        """What the view as it stands breaks and was not reported before. Looks only at what changed since."""
        for tool_id in sorted(self._view.changed_tools):
            yield from self._of_tool(tool_id, sorted(self._view.tools.get(tool_id, ()), key=by_position))
        for placed in self._view.seams:
            if placed.visible and placed.behind is not None and _same_role(placed.behind, placed):
                yield from self._once("consecutive_user", placed, f"after message {placed.behind.block.id.seq}")
        self._view.changed_tools.clear()
        self._view.seams.clear()

    def _of_tool(self, tool_id: str, places: list[Placed]) -> Iterator[Finding]:
        uses = [placed for placed in places if placed.block.kind == "tool_use"]
        results = [placed for placed in places if placed.block.kind == "tool_result"]
        for twice in (*uses[1:], *results[1:]):
            yield from self._once("duplicate_tool_id", twice, tool_id)
        if not uses:
            for orphan in results:
                yield from self._once("orphan_result", orphan, tool_id)
        elif not results:
            for unanswered in uses:
                yield from self._once("unanswered_use", unanswered, tool_id)
        elif results[0].position < uses[0].position:
            yield from self._once("result_before_use", results[0], tool_id)

    def _once(self, code: str, placed: Placed, detail: str) -> Iterator[Finding]:
        key = (code, placed.block.id)
        if key not in self._reported:
            self._reported.add(key)
            yield Finding(code=code, line=placed.line, seq=placed.block.id.seq, detail=f"{placed.block.id} {detail}")


def _same_role(first: Placed, second: Placed) -> bool:
    """Two user messages in a row; a message of tool results is no turn of its own."""
    results = "tool_result" in (first.block.kind, second.block.kind)
    return first.role == second.role == "user" and first.block.id.seq != second.block.id.seq and not results


def _tool_blocks(messages: Iterable[Message]) -> Iterator[Block]:
    return (block for message in messages for block in message.blocks if block.kind in ("tool_use", "tool_result"))


def _check_use(message: Message, block: Block, open_calls: dict[str, BlockId], pairs: dict[str, Interaction]) -> None:
    if not (block.tool_id or "").strip():
        raise _violation("correlation_id_missing", "", block.id, "is a tool call without an id: give it one")
    if message.role != "assistant":
        raise _violation("wrong_role", block.tool_id, block.id, f"is a tool call in a {message.role} message: move it to an assistant one")
    if block.tool_id in open_calls or block.tool_id in pairs:
        raise _violation("duplicate_tool_use", block.tool_id, block.id, "repeats the id of an earlier call: ids must be unique")


def _check_result(message: Message, block: Block, open_calls: dict[str, BlockId], pairs: dict[str, Interaction]) -> None:
    if not (block.tool_id or "").strip():
        raise _violation("correlation_id_missing", "", block.id, "is a tool result without the id of its call: give it")
    if message.role not in ("user", "tool"):
        raise _violation("wrong_role", block.tool_id, block.id, f"is a tool result in a {message.role} message: move it to a user one")
    if block.tool_id in pairs:
        raise _violation("duplicate_tool_result", block.tool_id, block.id, "is a second result of one call: keep one")
    if block.tool_id not in open_calls:
        raise _violation("tool_result_unmatched", block.tool_id, block.id, "has no call before it: append the call first")


def _violation(code: str, tool_id: str | None, block: BlockId, what: str) -> ProtocolError:
    return ProtocolError(f"block {block} (tool id {tool_id or 'missing'}) {what}", code=code, tool_id=tool_id or "", block=str(block))
