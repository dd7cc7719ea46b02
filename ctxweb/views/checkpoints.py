"""Checkpoints: the summaries of a session, recorded and made, what each kept, and what lives on along their chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.checkpoints.followed import FollowedItem
from ctxweb.checkpoints.rows import chain_of
from ctxweb.page import session_frame, show
from ctxweb.queries.checkpoints import CheckpointWindow, checkpoint_of, checkpoint_window, lane_checkpoints
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.services.checkpoint_analysis import chain_followed, checkpoint_figures, followed_keys
from ctxweb.views import asked
from ctxweb.views.checkpoint_words import finding_of, made_by, state_of, trigger_of
from ctxweb.views.choices import Switch

ROWS = 30  # of a window: each needs an analysis at the first look
ITEMS = 40  # of a window of the matrix
FRAGMENTS = {"checkpoints-more": "checkpoints/_rows.html", "chain-more": "checkpoints/_chain_rows.html"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLine:
    """A row. `share`: the size of the text, 0 … 1 of its range. `diff` leads to the difference from its parent."""

    checkpoint: Checkpoint
    figures: Figures | None
    range_tokens: int | None
    share: float | None
    by: str
    trigger: str
    state: str
    diff: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainCard:
    """What lives on along a chain: `keys` are its last checkpoints, the oldest first, `kept` of the items said so far by each, and a
    window of the items. `others`: the ends of other chains with their addresses; `before` earlier ones are not followed."""

    keys: tuple[str, ...]
    kept: tuple[tuple[int, int], ...]
    rows: tuple[FollowedItem, ...]
    total: int
    lost: int
    left_out: int
    before: int
    others: tuple[Switch, ...]
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsPage:
    """`waiting` rows have no figures yet: they are computed in the next looks. `chain` is None where no checkpoint grew out of
    another."""

    address: str
    public_id: str
    finding: str
    detail: str
    total: int
    lines: tuple[CheckpointLine, ...]
    waiting: int
    more: str | None
    chain: ChainCard | None


@require_safe
def checkpoints(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    every = lane_checkpoints(lane=lane)
    named = checkpoint_of(every, compaction=asked.number(request.GET, "compaction"), block=asked.text(request.GET, "block", longest=19))
    if named is not None:
        return redirect(addresses.checkpoint(session_id, named.key))
    window = checkpoint_window(checkpoints=every, after=asked.number(request.GET, "after") or 0, limit=ROWS)
    end = asked.one_of(request.GET, "chain", window.chains, window.chains[0] if window.chains else "")
    chain = _chain(lane, window, chain_of(every, end), after=asked.number(request.GET, "items") or 0) if end else None
    page = _page(lane, window, chain)
    frame = session_frame(
        request,
        lane.session,
        tab="checkpoints",
        title=f"Checkpoints · {window.total:,}",
        json=addresses.api_session(session_id, "checkpoints"),
    )
    return show(request, template="checkpoints/page.html", frame=frame, page=page, fragments=FRAGMENTS)


def _page(lane: Lane, window: CheckpointWindow, chain: ChainCard | None) -> CheckpointsPage:
    public_id = lane.session.public_id
    figures = checkpoint_figures(history=lane.history, checkpoints=window.checkpoints)
    last = next((one for one in reversed(window.checkpoints) if one.origin == "recorded"), None) or next(reversed(window.checkpoints), None)
    told = figures.get(last.key) if last is not None else None
    finding, detail = finding_of(last, told, used=window.total - window.unused, unused=window.unused)
    lines = tuple(_line(public_id, one, figures.get(one.key)) for one in window.checkpoints)
    return CheckpointsPage(
        address=addresses.checkpoints(public_id),
        public_id=public_id,
        finding=finding,
        detail=detail,
        total=window.total,
        lines=lines,
        waiting=sum(line.figures is None and line.checkpoint.has_range and line.checkpoint.is_readable for line in lines),
        more=addresses.checkpoints(public_id, after=window.next) if window.next else None,
        chain=chain,
    )


def _chain(lane: Lane, window: CheckpointWindow, chain: Sequence[Checkpoint], *, after: int) -> ChainCard | None:
    followed = chain_followed(history=lane.history, chain=chain)
    if followed is None:
        return None
    public_id, end = lane.session.public_id, chain[-1].key
    shown = followed.rows[after : after + ITEMS]
    following = after + len(shown)
    return ChainCard(
        keys=followed_keys(chain),
        kept=followed.kept,
        rows=shown,
        total=len(followed.rows),
        lost=sum(row.cells[-1] == "lost" for row in followed.rows),
        left_out=followed.rows_left_out,
        before=len(chain) - len(followed.kept),
        others=tuple(
            Switch(word=f"… → {key}", count=0, address=addresses.checkpoints(public_id, chain=key) + "#chain", current=key == end)
            for key in window.chains
        ),
        more=addresses.checkpoints(public_id, chain=end, items=following) if following < len(followed.rows) else None,
    )


def _line(session: str, checkpoint: Checkpoint, figures: Figures | None) -> CheckpointLine:
    range_tokens = checkpoint.range_tokens if checkpoint.range_tokens is not None else figures.range_tokens if figures else None
    share = checkpoint.tokens / range_tokens if checkpoint.tokens is not None and range_tokens else None
    return CheckpointLine(
        checkpoint=checkpoint,
        figures=figures,
        range_tokens=range_tokens,
        share=share,
        by=made_by(checkpoint),
        trigger=trigger_of(checkpoint),
        state=state_of(checkpoint),
        diff=addresses.checkpoint_diff(session, checkpoint.parent, checkpoint.key) if checkpoint.parent else None,
    )
