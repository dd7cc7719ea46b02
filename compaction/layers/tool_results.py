"""The tool results of a view with what their calls tell, and the edits that shorten them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compaction.edits import clear
from compaction.messages import Block, Body
from compaction.transcript import Edit
from compaction.view import PromptView, ViewMessage, VisibleBlock


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result where it stands. `tool` is the name of the tool that was called, "" where it is not known."""

    message: ViewMessage
    visible: VisibleBlock
    tool: str


@dataclass(frozen=True, slots=True)
class Saving:
    """A planned edit of a result, and what it saves in the policy's own unit."""

    edit: Edit
    own: int


def tool_results(view: PromptView) -> Iterator[Result]:
    """All tool results, oldest first."""
    calls = {one.block.tool_id: one.block for one in view.blocks if one.block.kind == "tool_use"}
    for message in view.messages:
        yield from _results_of(message, calls)


def newest_results(view: PromptView) -> Iterator[Result]:
    """The results of the newest batch: those that no assistant message has followed yet."""
    end = len(view.messages)
    while end and view.messages[end - 1].role != "assistant":
        end -= 1
    calls = {one.block.tool_id: one.block for one in view.messages[end - 1].blocks if one.block.kind == "tool_use"} if end else {}
    for message in view.messages[end:]:
        yield from _results_of(message, calls)


def cleared(view: PromptView, result: Result, placeholder: Body) -> Saving | None:
    """The placeholder in place of a result; None where it is cleared already, or would not be shorter."""
    if result.visible.state == "cleared" or result.visible.body.chars <= placeholder.chars:
        return None
    block = result.visible.block
    return Saving(clear(block.id, placeholder), result.visible.own - view.pricer.block(block, placeholder, result.message.shape))


def turns_after(view: PromptView, turns: int) -> int:
    """Position of the message that begins the newest `turns` turns of a person: what stands there and after is protected."""
    starts = [index for index, message in enumerate(view.messages) if is_turn(message)]
    return starts[-turns] if 0 < turns <= len(starts) else (0 if turns else len(view.messages))


def is_turn(message: ViewMessage) -> bool:
    """Whether a message is what a person wrote: a user message without results that no compaction put there."""
    return message.role == "user" and not message.results and message.origin in ("human", "unknown")


def _results_of(message: ViewMessage, calls: Mapping[str | None, Block]) -> Iterator[Result]:
    for visible in message.blocks:
        if visible.block.kind == "tool_result":
            call = calls.get(visible.block.tool_id, visible.block)
            yield Result(message, visible, visible.block.tool_name or call.tool_name or "")
