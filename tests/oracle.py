"""A plain step-by-step fold, written from the docstrings of compaction.transcript alone, to judge the real one.

It shares no code with spans: the view is a Python list that each event changes, and each call is given a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from compaction.messages import BlockId, BlockState
from compaction.transcript import Appended, Called, Edit, Edited, Event, Shown


class Seen(NamedTuple):
    """A block as a call saw it. `digest` is None where the content in this state is not known."""

    block: BlockId
    state: BlockState
    digest: bytes | None


def plain_views(events: Iterable[Event]) -> Iterator[tuple[int, list[Seen]]]:
    """(number of the call, what it was sent in order), for each call."""
    logged: dict[int, list[BlockId]] = {}
    looks: dict[BlockId, Seen] = {}
    view: list[BlockId] = []
    for event in events:
        if isinstance(event, Appended):
            logged[event.message.seq] = [block.id for block in event.message.blocks]
            for block in event.message.blocks:
                looks[block.id] = Seen(block.id, block.state, block.body.digest)
        elif isinstance(event, Shown):
            for seq in event.seqs:
                view += [block for block in logged[seq] if block not in view]
        elif isinstance(event, Edited):
            view = _after(event, view, logged, looks)
        elif isinstance(event, Called):
            yield event.call.n, [looks[block] for block in view]


def _after(event: Edited, view: list[BlockId], logged: dict[int, list[BlockId]], looks: dict[BlockId, Seen]) -> list[BlockId]:
    for edit in event.compaction.edits:
        if event.base is None:
            view = _edited(view, edit, logged, looks)
        elif edit.block not in view:
            _change_look(edit, looks)
    return view


def _edited(view: list[BlockId], edit: Edit, logged: dict[int, list[BlockId]], looks: dict[BlockId, Seen]) -> list[BlockId]:
    if edit.block is not None:
        _change_look(edit, looks)
        return view
    staying = set(view) - set(edit.takes)
    coming = [block for seq in dict.fromkeys(edit.puts) for block in logged[seq] if block not in staying]
    if edit.after in view:
        cut = view.index(edit.after) + 1
    else:
        cut = next((place for place, block in enumerate(view) if block in edit.takes), len(view))
    front, back = view[:cut], view[cut:]
    return [block for block in front if block in staying] + coming + [block for block in back if block in staying]


def _change_look(edit: Edit, looks: dict[BlockId, Seen]) -> None:
    if edit.block in looks and edit.state is not None:
        looks[edit.block] = Seen(edit.block, edit.state, None if edit.body is None else edit.body.digest)
