"""The tool protocol: each call has one result, later, with its id; and where a view may be cut without splitting a pair.

`validate_tool_protocol` judges a list of messages and raises; `ViewWatch` looks at the views of a recorded lane, where
a violation is the source's own and becomes a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from compaction.compact_tool import COMPACT_ORPHAN, answers_compact
from compaction.errors import ProtocolError
from compaction.live import LiveView
from compaction.messages import Block, BlockId, Interaction, Message, Role
from compaction.order import Placed, by_position
from compaction.transcript import Finding

if TYPE_CHECKING:
    from compaction.view import PromptView


def interactions(messages: Iterable[Message]) -> tuple[Interaction, ...]:
    """All calls and results, paired by id, in the order of their first block. A side that was never logged is None."""
    uses: dict[str, BlockId] = {}
    results: dict[str, BlockId] = {}
    for block in _tool_blocks(messages):
        side = uses if block.kind == "tool_use" else results
        side.setdefault(block.tool_id or "", block.id)
    order = sorted({**results, **uses}, key=lambda tool_id: min(filter(None, (uses.get(tool_id), results.get(tool_id)))))
    return tuple(Interaction(tool_id=tool_id, use=uses.get(tool_id), result=results.get(tool_id)) for tool_id in order)


def validate_tool_protocol(messages: Iterable[Message]) -> tuple[Interaction, ...]:
    """The interactions of `messages` in the order of their calls; ProtocolError where a call and its result do not pair."""
    return _validated(("user" if message.role == "tool" else message.role, message.blocks) for message in messages)


def validate_view(view: PromptView) -> tuple[Interaction, ...]:
    """The same of the messages of a view, each as the provider gets it."""
    return _validated(
        ("user" if message.role == "tool" and message.raw is None else message.role, [visible.block for visible in message.blocks])
        for message in view.messages
    )


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
                if answers_compact(orphan.block):
                    yield from self._once(COMPACT_ORPHAN, orphan, tool_id)
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


class _Sides(NamedTuple):
    """Where each id has its call and its result: the index of the message, and the block."""

    uses: dict[str, tuple[int, BlockId]]
    results: dict[str, tuple[int, BlockId]]


def _validated(messages: Iterable[tuple[Role, Sequence[Block]]]) -> tuple[Interaction, ...]:
    """The order of the checks decides which violation is told: block by block, then calls, then results, then their order."""
    sides = _Sides({}, {})
    for index, (role, blocks) in enumerate(messages):
        for block in blocks:
            if block.kind in ("tool_use", "tool_result"):
                _take(index, role, block, sides)
    for tool_id in sorted(sides.uses.keys() - sides.results.keys()):
        what = "has no result: append the result, or leave the call out"
        raise _violation("tool_use_unmatched", tool_id, sides.uses[tool_id][1], "tool_use", what)
    for tool_id in sorted(sides.results.keys() - sides.uses.keys()):
        what = "has no call: append the call first, or leave the result out"
        raise _violation("tool_result_unmatched", tool_id, sides.results[tool_id][1], "tool_result", what)
    for tool_id, (index, _) in sides.uses.items():
        if sides.results[tool_id][0] <= index:
            what = "is not in a later message than its call: move it behind the call"
            raise _violation("tool_result_before_use", tool_id, sides.results[tool_id][1], "tool_result", what)
    return tuple(Interaction(tool_id=tool_id, use=use, result=sides.results[tool_id][1]) for tool_id, (_, use) in sides.uses.items())


def _take(index: int, role: Role, block: Block, sides: _Sides) -> None:
    """Judge one tool block by itself and note its place."""
    name, home, known = ("call", "assistant", sides.uses) if block.kind == "tool_use" else ("result", "user", sides.results)
    tool_id = block.tool_id or ""
    if not tool_id.strip():
        raise _violation("correlation_id_missing", "", block.id, block.kind, f"is a tool {name} without an id: give it that of its call")
    if role != home:
        raise _violation("wrong_role", tool_id, block.id, block.kind, f"is a tool {name} in a message of role {role}: its role is {home}")
    if tool_id in known:
        raise _violation(f"duplicate_{block.kind}", tool_id, block.id, block.kind, f"repeats the id of an earlier {name}: keep one")
    known[tool_id] = (index, block.id)


def _violation(code: str, tool_id: str, block: BlockId, kind: str, what: str) -> ProtocolError:
    message = f"block {block} (tool id {tool_id or 'missing'}) {what}"
    return ProtocolError(message, code=code, tool_id=tool_id, block=str(block), kind=kind)
