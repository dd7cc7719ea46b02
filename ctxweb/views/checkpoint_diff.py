"""The difference of two checkpoints: sections, lines, words, and what lives on from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.checkpoint_diff import CheckpointDiff, LeftOut
from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.checkpoints.followed import FollowedItem
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.checkpoint_difference import LivesOn, difference, lives_on
from ctxweb.queries.checkpoints import checkpoint_in, lane_checkpoints
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.services.checkpoint_analysis import chain_followed, checkpoint_figures
from ctxweb.views import asked
from ctxweb.views.checkpoint_words import KIND_WORDS, caution_of
from ctxweb.views.diff_rows import ROWS, Line, lines_of, window

FORMS = ("unified", "side")
ITEMS = 40  # that live on or not, which the page lists
BEFORE = 6  # rows in front of a hunk that an address names


@dataclass(frozen=True, slots=True, kw_only=True)
class KindPair:
    """The items of one kind: of each checkpoint, how many of its own range it kept."""

    word: str
    icon: str
    old_total: int
    old_kept: int
    new_total: int
    new_kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPage:
    """A window of rows. `lives` is None where a text or a range cannot be read."""

    address: str
    public_id: str
    old: Checkpoint
    new: Checkpoint
    finding: str
    detail: str
    cautions: tuple[str, ...]
    form: str
    forms: tuple[tuple[str, str, bool], ...]
    folds: tuple[str, str]
    diff: CheckpointDiff
    left_out: str
    lines: Sequence[Line]
    earlier: str | None
    more: str | None
    old_figures: Figures | None
    new_figures: Figures | None
    kinds: tuple[KindPair, ...]
    lives: LivesOn | None
    items: tuple[FollowedItem, ...]


@require_safe
def checkpoint_diff(request: HttpRequest, session_id: str, old: str, new: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    every = lane_checkpoints(lane=lane)
    before, after = checkpoint_in(every, old), checkpoint_in(every, new)
    form = asked.one_of(request.GET, "as", FORMS, FORMS[0])
    page = _page(request, lane, before, after, form)
    frame = session_frame(
        request,
        lane.session,
        tab="checkpoints",
        title=f"Checkpoint {old} → {new}",
        json=addresses.api_checkpoint(before.id, f"diff/{after.id}"),
    )
    return show(request, template="checkpoints/diff.html", frame=frame, page=page, fragments={"diff-more": "checkpoints/_diff_rows.html"})


def _page(request: HttpRequest, lane: Lane, old: Checkpoint, new: Checkpoint, form: str) -> DiffPage:
    session, whole = lane.session.public_id, request.GET.get("lines") == "all"
    found = difference(old=old, new=new, encoding=lane.session.encoding)
    lines = lines_of(found, side=form == "side", whole=whole)
    start = _start(request, lines)
    shown = window(lines, start)
    figures = checkpoint_figures(history=lane.history, checkpoints=[old, new])
    followed = chain_followed(history=lane.history, chain=[old, new])
    lives = lives_on(followed) if followed is not None else None
    kept = {"as": form if form != FORMS[0] else "", "lines": "all" if whole else ""}

    def address(**more: str | int) -> str:
        return addresses.checkpoint_diff(session, old.key, new.key, **{**kept, **more})

    return DiffPage(
        address=address(),
        public_id=session,
        old=old,
        new=new,
        finding=_finding(old, new, found.diff),
        detail=_detail(old, new, lives),
        cautions=tuple(dict.fromkeys(map(caution_of, (old, new)))),
        form=form,
        forms=tuple((word, address(**{"as": word if word != FORMS[0] else ""}), word == form) for word in FORMS),
        folds=("fold what is the same", address(lines="")) if whole else ("all lines", address(lines="all")),
        diff=found.diff,
        left_out=_left_out(found.diff.left_out),
        lines=shown,
        earlier=address() if start else None,
        more=address(after=start + len(shown)) if start + len(shown) < len(lines) else None,
        old_figures=figures.get(old.key),
        new_figures=figures.get(new.key),
        kinds=_kinds(figures.get(old.key), figures.get(new.key)),
        lives=lives,
        items=lives.rows[:ITEMS] if lives is not None else (),
    )


def _start(request: HttpRequest, lines: Sequence[Line]) -> int:
    """Where the window begins: behind `after` rows, or a little before the hunk that the address names, where that is far."""
    named = asked.text(request.GET, "hunk", longest=40)
    place = next((place for place, line in enumerate(lines) if named and line.begins == named), 0)
    if place >= ROWS // 2:
        return place - BEFORE
    return min(asked.number(request.GET, "after") or 0, max(len(lines) - 1, 0))


def _finding(old: Checkpoint, new: Checkpoint, diff: CheckpointDiff) -> str:
    if not (diff.changed or diff.removed or diff.added):
        return f"Checkpoints {old.key} and {new.key} say the same."
    return (
        f"From checkpoint {old.key} to {new.key}: of the lines {diff.same:,} stay, {diff.changed:,} change, "
        f"{diff.removed:,} go and {diff.added:,} come" + (f", {diff.moved:,} of these only moved." if diff.moved else ".")
    )


def _detail(old: Checkpoint, new: Checkpoint, lives: LivesOn | None) -> str:
    if lives is None:
        return "Which things live on is not known: a text or a range cannot be read."
    told = lives.still + lives.gone
    return f"Of {counted(told, 'thing')} that {old.key} carries, {new.key} has lost {lives.gone:,}." if told else ""


def _left_out(left_out: LeftOut) -> str:
    parts = [
        f"{left_out.old_lines:,} lines of the first and {left_out.new_lines:,} of the second text"
        if left_out.old_lines or left_out.new_lines
        else "",
        f"{left_out.chars:,} characters of long lines" if left_out.chars else "",
        f"the words of {left_out.unmarked:,} changed lines" if left_out.unmarked else "",
    ]
    return ", ".join(filter(None, parts))


def _kinds(old: Figures | None, new: Figures | None) -> tuple[KindPair, ...]:
    if old is None or new is None:
        return ()
    found = []
    for kind, (word, icon) in KIND_WORDS.items():
        before, after = old.counts.get(kind, {}), new.counts.get(kind, {})
        if before or after:
            found.append(
                KindPair(
                    word=word,
                    icon=icon,
                    old_total=sum(before.values()),
                    old_kept=before.get("kept", 0),
                    new_total=sum(after.values()),
                    new_kept=after.get("kept", 0),
                )
            )
    return tuple(found)
