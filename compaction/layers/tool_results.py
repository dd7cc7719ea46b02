"""The tool results of a view with what their calls tell, and the edits that shorten them.

A layer may run before every call of a long session, so messages that hold nothing for it cost a glance each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compaction.edits import clear
from compaction.messages import Body
from compaction.view import Plan, PromptView, ViewMessage, VisibleBlock


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result where it stands. `tool` is the name of the tool that was called, "" where it is not known."""

    message: ViewMessage
    visible: VisibleBlock
    tool: str


def tool_results(view: PromptView, *, longer_than: int = 0, start: int = 0) -> Iterator[Result]:
    """The tool results of more characters from the message at `start` on, oldest first."""
    holding = [message for message in view.messages[start:] if message.results and message.largest_result > longer_than]
    names = _names(view) if holding else {}
    for message in holding:
        yield from _results_of(message, names)


def newest_results(view: PromptView) -> Iterator[Result]:
    """The results of the newest batch: those that no assistant message has followed yet."""
    end = len(view.messages)
    while end and view.messages[end - 1].role != "assistant":
        end -= 1
    names = _names_in(view.messages[end - 1 : end])
    for message in view.messages[end:]:
        yield from _results_of(message, names)


def clearing(
    view: PromptView, old: Sequence[tuple[int, VisibleBlock]], placeholder: Body, *, at_least: int, nothing: str, settled: int
) -> Plan:
    """The placeholder in place of the results `old`, newest first with the places of their messages; nothing where that saves less
    than `at_least` in the policy's own unit. `nothing` says why there may be none, `settled` from where on a result may go later."""
    price = view.pricer.block
    saved = sum(visible.own - price(visible.block, placeholder, view.messages[at].shape) for at, visible in old)
    if not old:
        return Plan(skipped=nothing, settled=settled)
    if saved < at_least:
        return Plan(skipped=f"{saved:,} would be saved < {at_least:,}", settled=min(settled, old[-1][0]))
    return Plan(edits=tuple(clear(visible.block.id, placeholder) for _, visible in reversed(old)), settled=settled)


def is_clearable(visible: VisibleBlock, placeholder: Body) -> bool:
    """Whether a block is a result that is not cleared already and is longer than the placeholder."""
    return visible.body.chars > placeholder.chars and visible.state != "cleared" and visible.block.kind == "tool_result"


def results_of_tools(view: PromptView, tools: tuple[str, ...]) -> frozenset[str]:
    """The ids of the calls of these tools."""
    return frozenset(tool_id for tool_id, name in _names(view).items() if name in tools) if tools else frozenset()


def turns_after(view: PromptView, turns: int) -> int:
    """Position of the message that begins the newest `turns` turns of a person: what stands there and after is protected."""
    index = len(view.messages)
    while turns and index:
        index -= 1
        turns -= is_turn(view.messages[index])
    return index


def is_turn(message: ViewMessage) -> bool:
    """Whether a message is what a person wrote: a user message without results that no compaction put there."""
    return message.role == "user" and not message.results and message.origin in ("human", "unknown")


def _names(view: PromptView) -> dict[str, str]:
    return _names_in(message for message in view.messages if message.uses)


def _names_in(messages: Iterable[ViewMessage]) -> dict[str, str]:
    """The name of the tool of each call, by its id."""
    blocks = (visible.block for message in messages for visible in message.blocks)
    return {block.tool_id or "": block.tool_name or "" for block in blocks if block.kind == "tool_use"}


def _results_of(message: ViewMessage, names: Mapping[str, str]) -> Iterator[Result]:
    for visible in message.blocks:
        if visible.block.kind == "tool_result":
            yield Result(message, visible, visible.block.tool_name or names.get(visible.block.tool_id or "", ""))
