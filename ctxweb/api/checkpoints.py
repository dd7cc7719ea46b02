"""JSON twins of the pages of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.http import HttpRequest
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import NOTHING_FOUND, ClaimFound, DoubtFound, Figures, ItemFound, ObjectionFound, figures_of
from ctxweb.checkpoints.followed import FollowedItem
from ctxweb.checkpoints.ranges import checkpoint_text
from ctxweb.checkpoints.rows import chain_of
from ctxweb.models import History
from ctxweb.queries.checkpoint_detail import AgainstState, CanaryFound, ItemFilters, against_state, canary_trial, children_of, item_window
from ctxweb.queries.checkpoints import checkpoint_named, checkpoint_window, lane_checkpoints
from ctxweb.queries.readable import readable_lane
from ctxweb.services.checkpoint_analysis import chain_followed, checkpoint_figures, checkpoint_findings, followed_keys

router = Router(tags=["checkpoints"])
TEXT_CHARS = 65_536  # of a checkpoint that its twin holds; the rest is in its bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTwin(Checkpoint):
    """`retention` in numbers; None where text or range cannot be read, or where it is computed in a later look."""

    retention: Figures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedOf:
    checkpoint: str
    kept: int
    said: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointChainTwin:
    """A chain of checkpoints, its last ones, and the first of the items that were said along it. `kept`: of the items `said` so far,
    how many each checkpoint carries."""

    kept: tuple[CarriedOf, ...]
    total: int
    items: tuple[FollowedItem, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsTwin:
    """A window of a session's checkpoints; `chains` are the keys of those that end a chain of at least two, and `chain` is one of
    them."""

    session: str
    total: int
    recorded: int
    made: int
    checkpoints: tuple[CheckpointTwin, ...]
    chains: tuple[str, ...]
    chain: CheckpointChainTwin | None
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDetailTwin(CheckpointTwin):
    """One checkpoint with a window of the items of its range: `items` of `matching` of `total`, lost ones first. `text` is its beginning,
    `chars` its whole length. `canary_shares`: of the canaries of a trial, the share (0…1) of each kind that was kept."""

    text: str
    chars: int
    children: tuple[str, ...]
    total: int
    matching: int
    items: tuple[ItemFound, ...]
    doubts: tuple[DoubtFound, ...]
    claims: tuple[ClaimFound, ...]
    objections: tuple[ObjectionFound, ...]
    durable: AgainstState
    canaries: tuple[CanaryFound, ...]
    canary_shares: dict[str, float]
    blocks_left_out: int
    items_left_out: int
    chars_left_out: int
    next: str | None


@router.get("/sessions/{session_id}/checkpoints", response=CheckpointsTwin, summary="Summary checkpoints: range, sizes, what each kept")
def session_checkpoints(
    request: HttpRequest, session_id: str, chain: str = "", after: After = "", limit: Limit = MAXIMUM
) -> CheckpointsTwin:
    lane = readable_lane(public_id=session_id)
    every = lane_checkpoints(lane=lane)
    window = checkpoint_window(checkpoints=every, after=number_after(after) or 0, limit=limit)
    figures = checkpoint_figures(history=lane.history, checkpoints=window.checkpoints)
    end = chain if chain in window.chains else next(iter(window.chains), "")
    return CheckpointsTwin(
        session=session_id,
        total=window.total,
        recorded=window.recorded,
        made=window.made,
        checkpoints=tuple(twin_of(one, figures.get(one.key)) for one in window.checkpoints),
        chains=window.chains,
        chain=_chain_twin(lane.history, chain_of(every, end)),
        next=str(window.next) if window.next else None,
    )


@router.get("/checkpoints/{checkpoint_id}", response=CheckpointDetailTwin, summary="One checkpoint and what it kept, changed and lost")
def checkpoint(
    request: HttpRequest, checkpoint_id: str, outcome: str = "", kind: str = "", after: After = "", limit: Limit = MAXIMUM
) -> CheckpointDetailTwin:
    lane, every, found = checkpoint_named(public_id=checkpoint_id)
    findings = checkpoint_findings(history=lane.history, checkpoint=found) or NOTHING_FOUND
    filters = ItemFilters(outcome=outcome, kind=kind)
    window = item_window(findings=findings, filters=filters, after=number_after(after) or 0, limit=limit)
    text = checkpoint_text(found)
    trial = canary_trial(checkpoint=found, text=text)
    return CheckpointDetailTwin(
        **_columns(found),
        retention=None if findings is NOTHING_FOUND else figures_of(findings),
        text=text[:TEXT_CHARS],
        chars=len(text),
        children=tuple(one.key for one in children_of(every, found.key)),
        total=window.total,
        matching=window.matching,
        items=window.items,
        doubts=findings.doubts,
        claims=findings.claims,
        objections=findings.objections,
        durable=against_state(session=lane.session.public_id, text=text),
        canaries=trial.canaries,
        canary_shares=dict(trial.kept_shares),
        blocks_left_out=findings.blocks_left_out,
        items_left_out=findings.items_left_out,
        chars_left_out=findings.chars_left_out,
        next=str(window.next) if window.next else None,
    )


def twin_of(checkpoint: Checkpoint, figures: Figures | None) -> CheckpointTwin:
    return CheckpointTwin(**_columns(checkpoint), retention=figures)


def _columns(checkpoint: Checkpoint) -> dict[str, Any]:
    return {field.name: getattr(checkpoint, field.name) for field in fields(Checkpoint)}


def _chain_twin(history: History, chain: Sequence[Checkpoint]) -> CheckpointChainTwin | None:
    followed = chain_followed(history=history, chain=chain)
    if followed is None:
        return None
    keys = followed_keys(chain)
    return CheckpointChainTwin(
        kept=tuple(CarriedOf(checkpoint=key, kept=kept, said=said) for key, (kept, said) in zip(keys, followed.kept, strict=True)),
        total=len(followed.rows),
        items=followed.rows[:MAXIMUM],
        left_out=followed.rows_left_out,
    )
