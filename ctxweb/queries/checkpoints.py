"""The checkpoints of a session: which there are, and the one that an address names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.rows import chain_of, checkpoints_of
from ctxweb.queries.readable import Lane, readable_lane


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointWindow:
    """`checkpoints` of `total`, `unused` ones included; `next` is how many to leave out then, None at the end. `chains`: the keys of
    those that others do not grow out of, where the chain has at least two, the longest chain first."""

    total: int
    recorded: int
    made: int
    unused: int
    checkpoints: tuple[Checkpoint, ...]
    chains: tuple[str, ...]
    next: int | None


def checkpoint_window(*, checkpoints: Sequence[Checkpoint], after: int, limit: int) -> CheckpointWindow:
    """Of all checkpoints of a session those behind the first `after`."""
    every = tuple(checkpoints)
    recorded = sum(one.origin == "recorded" for one in every)
    return CheckpointWindow(
        total=len(every),
        recorded=recorded,
        made=len(every) - recorded,
        unused=sum(one.is_unused for one in every),
        checkpoints=every[after : after + limit],
        chains=chain_ends(every),
        next=after + limit if len(every) > after + limit else None,
    )


def lane_checkpoints(*, lane: Lane) -> tuple[Checkpoint, ...]:
    """All of them, recorded ones first."""
    return checkpoints_of(session=lane.session, revision=lane.revision)


def checkpoint(*, lane: Lane, key: str) -> Checkpoint:
    """The checkpoint of this key. Raises Http404."""
    return checkpoint_in(lane_checkpoints(lane=lane), key)


def checkpoint_in(checkpoints: Sequence[Checkpoint], key: str) -> Checkpoint:
    """Raises Http404."""
    found = next((one for one in checkpoints if one.key == key), None)
    if found is None:
        raise Http404
    return found


def checkpoint_of(checkpoints: Sequence[Checkpoint], *, compaction: int | None, block: str) -> Checkpoint | None:
    """The recorded checkpoint that a compaction, by its ordinal, put there, or of which `block` (`SEQ.I`) is a part."""
    found = (one for one in checkpoints if (compaction is not None and one.compaction == compaction) or (block and block in one.places))
    return next(found, None)


def checkpoint_named(*, public_id: str) -> tuple[Lane, tuple[Checkpoint, ...], Checkpoint]:
    """The checkpoint of this global id, `SESSION-KEY`, with its session and all checkpoints of that. Raises Http404."""
    session, _, key = public_id.rpartition("-")
    lane = readable_lane(public_id=session)
    every = lane_checkpoints(lane=lane)
    return lane, every, checkpoint_in(every, key)


def chain_ends(checkpoints: Sequence[Checkpoint]) -> tuple[str, ...]:
    """The last checkpoints of chains of at least two, the longest chain first."""
    parents = {one.parent for one in checkpoints}
    lengths = {one.key: len(chain_of(checkpoints, one.key)) for one in checkpoints if one.key not in parents}
    return tuple(key for key, length in sorted(lengths.items(), key=lambda item: -item[1]) if length > 1)
