"""Planted canaries: the same seed plants the same ones, between interactions, and what a summary says of them is counted."""

from __future__ import annotations

from itertools import pairwise

import pytest

from compaction.retention.canaries import CANARY_KINDS, MOST_CANARIES, canaries, canary_fates, kept_shares, planted
from tests.compaction.test_retention import pieces

pytestmark = pytest.mark.nodb
RANGE = pieces(("user", "Why is it slow?"), ("Bash", "{}"), ("tool", "ok"), ("agent", "It is the parser."), ("Bash", "{}"), ("tool", "ok"))


def test_a_seed_plants_always_the_same_and_another_seed_others() -> None:
    assert canaries("run 1", 12) == canaries("run 1", 12)
    assert not {one.key for one in canaries("run 1", 12)} & {one.key for one in canaries("run 2", 12)}
    assert {one.kind for one in canaries("run 1", 12)} == set(CANARY_KINDS)
    assert len(canaries("run 1", 10_000)) == MOST_CANARIES
    assert canaries("run 1", 0) == ()


@pytest.mark.parametrize("count", [1, 5, 40])
def test_planting_keeps_all_pieces_in_order_and_tears_no_result_from_its_call(count: int) -> None:
    put = canaries("run 1", count)
    after = planted(RANGE, put)
    assert [piece for piece in after if piece.block.id.seq] == list(RANGE)
    assert {piece.text for piece in after if not piece.block.id.seq} == {one.sentence for one in put}
    for before, piece in pairwise(after):
        assert piece.block.kind != "tool_result" or before.block.kind == "tool_use"


def test_a_summary_that_repeats_them_keeps_all_and_one_that_says_nothing_loses_all() -> None:
    put = canaries("run 1", 12)
    assert {fate.outcome for fate in canary_fates(put, "\n".join(one.sentence for one in put))} == {"kept"}
    assert {fate.outcome for fate in canary_fates(put, "nothing of it")} == {"lost"}
    assert kept_shares(canary_fates(put, "")) == dict.fromkeys(CANARY_KINDS, 0.0)


def test_a_rule_that_stands_without_its_denial_is_changed() -> None:
    rule = canaries("run 1", 1)[0]
    assert rule.denied
    assert [fate.outcome for fate in canary_fates([rule], f"Things are sent to the {rule.key} queue")] == ["changed"]
