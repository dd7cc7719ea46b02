"""What happened to a lane's prompts, compaction by compaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.transcript import HARNESS_CHANGES, USER_ACTIONS
from ctxweb.charts.drops import Drop
from ctxweb.models import Compaction, History
from ctxweb.vocabulary import action_of, mechanism_word

MOST_DRAWN = 2_000  # compactions of one map


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One compaction; `number` is its `index` in the import's JSON (docs/importing.md), None where it has none there.

    `before` and `after` are the reported prompt sizes around it, estimates where `estimated`; they belong to the place:
    several compactions before one call share them, and `is_last` marks the last of these. `blocks` left or changed,
    `never_sent` of them were in no prompt; `added` is the estimate of what was put in their place, `entered` that of the
    blocks that came in with the same call. `unexplained_after`: tokens of that call that no record shows.
    """

    ordinal: int
    number: int | None
    call: int | None
    line: int
    action: str
    mechanism: str
    word: str
    trigger: str
    status: str
    inferred: bool
    by_person: bool
    blocks: int
    never_sent: int
    added: int
    removed: int
    entered: int
    before: int | None
    after: int | None
    estimated: bool
    unexplained_after: int | None
    is_last: bool

    @property
    def change(self) -> int | None:
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def fell(self) -> int | None:
        return None if self.change is None else -self.change


def happenings(*, history: History) -> tuple[Happening, ...]:
    """All compactions of a history in their order, at most `MOST_DRAWN`."""
    rows = list(Compaction.objects.filter(history=history).order_by("ordinal")[:MOST_DRAWN])
    last_at = {row.before_call: row.ordinal for row in rows}
    return tuple(_happening(row, is_last=last_at[row.before_call] == row.ordinal) for row in rows)


def _happening(row: Compaction, *, is_last: bool) -> Happening:
    before, after, estimated = _sizes(row)
    return Happening(
        ordinal=row.ordinal,
        number=row.index,
        is_last=is_last,
        call=row.before_call,
        line=row.line,
        action=action_of(mechanism=row.mechanism, origin=row.origin).name,
        mechanism=row.mechanism,
        word=mechanism_word(row.mechanism),
        trigger=row.trigger,
        status=row.status,
        inferred=row.origin == "inferred",
        by_person=row.mechanism in USER_ACTIONS,
        blocks=row.edits,
        never_sent=row.never_sent,
        added=row.added,
        removed=row.removed,
        entered=row.entered,
        before=before,
        after=after,
        estimated=estimated,
        unexplained_after=row.unexplained_after,
    )


def _sizes(row: Compaction) -> tuple[int | None, int | None, bool]:
    """Sizes before and after on one scale: reported by the calls around it, else by its own record, else estimates."""
    if row.reported_before is not None and row.reported_after is not None:
        return row.reported_before, row.reported_after, False
    if row.scale == "prompt" and row.tokens_before is not None and row.tokens_after is not None:
        return row.tokens_before, row.tokens_after, False
    return row.estimate_before, row.estimate_after, True


def drops_of(found: Sequence[Happening], *, overhead: int) -> tuple[Drop, ...]:
    """Those that the map draws: what succeeded and changed the prompt of a later call."""
    return tuple(
        Drop(
            ordinal=each.ordinal,
            before_call=each.call,
            action=each.action,
            word=each.word,
            inferred=each.inferred,
            before=None if each.before is None else each.before + (overhead if each.estimated else 0),
            after=None if each.after is None else each.after + (overhead if each.estimated else 0),
            estimated=each.estimated,
            trigger=each.trigger,
        )
        for each in found
        if each.call is not None and each.status == "ok" and (each.inferred or each.blocks > each.never_sent)
        if each.mechanism not in HARNESS_CHANGES
    )
