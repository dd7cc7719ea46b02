"""What is computed of checkpoints: over the texts that were visible, kept under a digest of all that it depends on."""

from __future__ import annotations

import pytest

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.ranges import checkpoint_range
from ctxweb.checkpoints.rows import checkpoints_of
from ctxweb.models import CheckpointAnalysis, Session
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.services import checkpoint_analysis
from ctxweb.services.checkpoint_analysis import chain_followed, checkpoint_figures, checkpoint_findings
from tests.ctxweb.pages_b.rows import CLEARED
from tests.evidence.made_checkpoints import made_text, make_chain, make_summary

pytestmark = pytest.mark.django_db


def lane_of(session: Session) -> tuple[Lane, tuple[Checkpoint, ...]]:
    lane = readable_lane(public_id=session.public_id)
    return lane, checkpoints_of(session=lane.session, revision=lane.revision)


def test_a_block_that_was_cleared_before_is_read_as_it_was_visible(session: Session) -> None:
    make_summary(session, text=made_text(1), to_call=11)
    lane, (first, second, made) = lane_of(session)
    cleared = {
        one.key: [str(piece.block.id) for piece in checkpoint_range(history=lane.history, checkpoint=one).pieces if piece.text == CLEARED]
        for one in (first, second, made)
    }
    assert [len(cleared[key]) for key in ("1", "2", "m1")] == [2, 2, 2]
    assert cleared["m1"] == cleared["1"]


def test_what_was_kept_of_something_else_is_made_again(talked: Session) -> None:
    make_chain(talked, 3)
    lane, chain = lane_of(talked)
    findings, followed = checkpoint_findings(history=lane.history, checkpoint=chain[0]), chain_followed(history=lane.history, chain=chain)
    figures = checkpoint_figures(history=lane.history, checkpoints=chain)
    assert CheckpointAnalysis.objects.count() == 7
    CheckpointAnalysis.objects.update(inputs="0" * 64, data={})
    assert checkpoint_findings(history=lane.history, checkpoint=chain[0]) == findings
    assert chain_followed(history=lane.history, chain=chain) == followed
    assert checkpoint_figures(history=lane.history, checkpoints=chain) == figures


def test_a_long_list_is_computed_in_several_looks(talked: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    make_chain(talked, 4)
    lane, chain = lane_of(talked)
    monkeypatch.setattr(checkpoint_analysis, "MOST_SECONDS", 0.0)
    looks = [len(checkpoint_figures(history=lane.history, checkpoints=chain)) for _ in range(5)]
    assert looks == [1, 2, 3, 4, 4]
