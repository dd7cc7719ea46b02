"""Context editing by the server: the response tells how many, so which blocks were cleared is reckoned from the prompt.

Types of the official SDK (`clear_tool_uses_20250919`, `clear_thinking_20251015`): oldest first, the newest `keep` stay, results
of excluded tools stay. The client's own list keeps everything, and each response tells the count for its own prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compaction.analysis.estimates import UNKNOWN_PLACEHOLDER_TOKENS
from compaction.messages import Block, BlockId
from compaction.transcript import Edit, Mechanism
from ctxweb.importers.lane_log import LaneLog
from ctxweb.importers.values import count

CLEAR_TOOLS, CLEAR_THINKING = "clear_tool_uses", "clear_thinking"
MECHANISMS: dict[str, Mechanism] = {CLEAR_TOOLS: "clear_tool_result", CLEAR_THINKING: "clear_thinking"}
COUNTS = {CLEAR_TOOLS: "cleared_tool_uses", CLEAR_THINKING: "cleared_thinking_turns"}
DEFAULT_KEPT_TOOL_USES = 3
DEFAULT_KEPT_THINKING_TURNS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEdit:
    """One edit that a response tells of: how many tool uses or thinking turns, and how many tokens, None = not told."""

    kind: str
    total: int
    tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearingRules:
    """What a request asked the server to leave alone."""

    kept_tool_uses: int = DEFAULT_KEPT_TOOL_USES
    kept_thinking_turns: int = DEFAULT_KEPT_THINKING_TURNS
    excluded_tools: frozenset[str] = frozenset()
    clears_inputs: bool = False

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> ClearingRules:
        management = request.get("context_management")
        edits = management.get("edits") if isinstance(management, Mapping) else None
        asked = {_kind(edit): edit for edit in edits if isinstance(edit, Mapping)} if isinstance(edits, list) else {}
        tools, thinking = asked.get(CLEAR_TOOLS, {}), asked.get(CLEAR_THINKING, {})
        excluded = tools.get("exclude_tools")
        return cls(
            kept_tool_uses=_keep(tools.get("keep"), DEFAULT_KEPT_TOOL_USES),
            kept_thinking_turns=_keep(thinking.get("keep"), DEFAULT_KEPT_THINKING_TURNS),
            excluded_tools=frozenset(name for name in excluded if isinstance(name, str)) if isinstance(excluded, list) else frozenset(),
            clears_inputs=bool(tools.get("clear_tool_inputs")),
        )


DEFAULT_RULES = ClearingRules()


def applied_edits(response: Mapping[str, Any]) -> tuple[AppliedEdit, ...]:
    """The edits that took something, in the order in which the response lists them."""
    management = response.get("context_management")
    given = management.get("applied_edits") if isinstance(management, Mapping) else None
    return tuple(_applied(given)) if isinstance(given, list) else ()


def edits_for(log: LaneLog, applied: AppliedEdit, rules: ClearingRules, done: set[BlockId]) -> tuple[Edit, ...]:
    """Edits of those blocks of the view that the count reaches and that are not `done`, which learns them."""
    if applied.kind == CLEAR_THINKING:
        return _thinking_edits(log, applied.total, rules.kept_thinking_turns, done)
    uses = [use for use in _tool_uses(log) if use.tool_name not in rules.excluded_tools]
    reached = uses[: min(applied.total, max(0, len(uses) - rules.kept_tool_uses))]
    ids = {use.tool_id for use in reached if use.tool_id is not None}
    blocks = [block for block in _visible(log) if block.tool_id in ids and (block.kind == "tool_result" or rules.clears_inputs)]
    fresh = [block.id for block in blocks if block.id not in done and block.state != "cleared"]
    done.update(fresh)
    return tuple(Edit(verb="clear", block=block, state="cleared", unit_tokens=UNKNOWN_PLACEHOLDER_TOKENS) for block in fresh)


def _thinking_edits(log: LaneLog, total: int, kept: int, done: set[BlockId]) -> tuple[Edit, ...]:
    turns = [[block.id for block in message if block.kind == "thinking"] for message in _messages(log)]
    turns = [turn for turn in turns if turn]
    taken = [block for turn in turns[: min(total, max(0, len(turns) - kept))] for block in turn if block not in done]
    done.update(taken)
    return (Edit(verb="remove", takes=tuple(taken)),) if taken else ()


def _messages(log: LaneLog) -> Iterator[tuple[Block, ...]]:
    return (log.messages[seq - 1].blocks for seq in log.view)


def _visible(log: LaneLog) -> Iterator[Block]:
    return (block for blocks in _messages(log) for block in blocks)


def _tool_uses(log: LaneLog) -> Iterator[Block]:
    """Calls that have a result in the view; the others have nothing to clear."""
    answered = {block.tool_id for block in _visible(log) if block.kind == "tool_result"}
    return (block for block in _visible(log) if block.kind == "tool_use" and block.tool_id in answered)


def _applied(given: list[Any]) -> Iterator[AppliedEdit]:
    for edit in given:
        kind = _kind(edit) if isinstance(edit, Mapping) else None
        if kind is not None and (total := count(edit.get(COUNTS[kind]))):
            yield AppliedEdit(kind=kind, total=total, tokens=count(edit.get("cleared_input_tokens")))


def _kind(edit: Mapping[str, Any]) -> str | None:
    """The kind of an edit, whose type ends in the date of its version."""
    given = str(edit.get("type"))
    return next((kind for kind in MECHANISMS if given.startswith(kind)), None)


def _keep(given: Any, default: int) -> int:
    """A number of units, {"type": …, "value": number}, or "all"."""
    if given == "all":
        return 2**53
    value = given.get("value") if isinstance(given, Mapping) else given
    number = count(value)
    return default if number is None else number
