"""The newest texts of a person, as many as a budget holds: what some agents keep beside a summary of everything."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.edits import truncate
from compaction.layers.tool_results import is_turn
from compaction.messages import BlockId, Body
from compaction.transcript import Edit
from compaction.view import PromptView, ViewMessage


@dataclass(frozen=True, slots=True)
class Kept:
    """The messages that stay, by position; the edit that cuts the one over the budget; and the last block that stays."""

    positions: frozenset[int]
    cuts: tuple[Edit, ...]
    last: BlockId | None


def keep_user_texts(view: PromptView, budget: int, most: int | None = None) -> Kept:
    """From the newest on, at most `most` messages and `budget` in the policy's unit; the one that overflows is cut to fit."""
    positions: list[int] = []
    cuts: tuple[Edit, ...] = ()
    for index in range(len(view.messages) - 1, -1, -1):
        message = view.messages[index]
        if not is_turn(message):
            continue
        if budget <= 0 or (most is not None and len(positions) >= most):
            break
        if message.own > budget:
            cuts = _cut(view, message, budget)
            positions += [index] * bool(cuts)
            break
        positions.append(index)
        budget -= message.own
    last = view.messages[max(positions)].ids[-1] if positions else None
    return Kept(frozenset(positions), cuts, last)


def _cut(view: PromptView, message: ViewMessage, budget: int) -> tuple[Edit, ...]:
    """The beginning of a message of one text, in proportion to the budget; nothing where it has more blocks."""
    if len(message.blocks) != 1 or message.blocks[0].block.kind != "text":
        return ()
    visible = message.blocks[0]
    text = view.pricer.text(visible.body)
    short = text[: len(text) * budget // message.own]
    return (truncate(visible.block.id, Body.of(short)),) if short else ()
