"""Every checkpoint that a real session of the corpus recorded: retention, claims, doubts, sources of its lines, difference."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from compaction.checkpoint_diff import CheckpointDiff, diff_checkpoints
from compaction.containment import is_refused, objections
from compaction.durable.values import DurableContextState
from compaction.range_diff import MOST_LINE_CHARS, trace_checkpoint
from compaction.retention.assertions import unfounded, unhedged
from compaction.retention.canaries import canaries, canary_fates, planted
from compaction.retention.contradictions import contradictions
from compaction.retention.retained import OUTCOMES, retention_of
from compaction.retention.survival import ChainLink, survival
from compaction.summary_prompt import framed, since_last_checkpoint
from tests.corpus_checkpoints import CorpusCheckpoint, corpus_checkpoints
from tests.shared import needs_shared

pytestmark = [needs_shared, pytest.mark.nodb]

WORK = (
    "derived-91-bom-crlf/0/1",
    "entireio__cli__23-72de7ea2ff-0/0/2",
    "entireio__cli__25-730c662552-0/0/3",
    "entireio__cli__25-730c662552-0/0/5",
    "entireio__cli__86-9d11344fce-1/0/1",
    "entireio__cli__9b-04c3d92e38-4/0/1",
    "entireio__cli__b0-dc55b3a1dc-1/0/3",
    "entireio__cli__b6-f735fbac66-0/0/1",
    "entireio__cli__b6-f735fbac66-0/0/2",
    "entireio__cli__bc-cb77bb88fa-1/0/2",
    "entireio__cli__bc-cb77bb88fa-1/0/5",
    "entireio__cli__f5-dab3d95bc1-0/0/1",
    "entireio__cli__f5-dab3d95bc1-0/0/2",
    "entireio__cli__fc-99c919b212-0/0/1",
)
"""The work of whole sessions of Claude Code."""

CUT = (
    "tomjnsn__agentlogs__compact/0/1",
    "jazzyalex__agent-sessions__codex-small/0/2",
    "jazzyalex__agent-sessions__codex-small/0/3",
    "jazzyalex__agent-sessions__codex-small/0/4",
    "jazzyalex__agent-sessions__codex-small/0/5",
    "jazzyalex__agent-sessions__codex-small/0/6",
    "toninfo__deepseek-harness__compaction-recovery-oldnames/0/1",
)
"""Short ranges, some with texts that were cut for publishing."""

CHAINS = sorted({name.rpartition("/")[0] for name in (*WORK, *CUT)})
every = pytest.mark.parametrize("name", [*WORK, *CUT])
work = pytest.mark.parametrize("name", WORK)


@cache
def checkpoints() -> dict[str, CorpusCheckpoint]:
    return {one.id: one for one in corpus_checkpoints()}


def test_these_are_all_that_the_corpus_holds() -> None:
    assert set(checkpoints()) == {*WORK, *CUT}


@every
def test_every_item_is_kept_changed_or_lost_where_it_was_said(name: str) -> None:
    checkpoint = checkpoints()[name]
    found = retention_of(checkpoint.pieces, checkpoint.summary)
    blocks = {piece.block.id for piece in checkpoint.pieces}
    assert sum(len(found.of(outcome)) for outcome in OUTCOMES) == len(found.items)
    assert all(one.item.places and set(one.item.places) <= blocks for one in found.items)
    assert found.items_left_out == found.summary_chars_left_out == 0


@work
def test_claude_code_quotes_what_users_asked_and_keeps_paths_better_than_addresses(name: str) -> None:
    checkpoint = checkpoints()[name]
    counts = retention_of(checkpoint.pieces, checkpoint.summary).counts
    assert counts["request"]["lost"] <= 0.2 * sum(counts["request"].values())
    assert counts["path"]["kept"] >= 0.2 * sum(counts["path"].values())
    assert "url" not in counts or counts["url"]["kept"] <= 1


def test_of_paths_that_were_used_often_most_are_kept_and_of_those_used_once_few() -> None:
    found = [one for name in WORK for one in retention_of(checkpoints()[name].pieces, checkpoints()[name].summary).items]
    often, once = ([one for one in found if one.item.kind == "path" and (one.item.uses >= 3) is often] for often in (True, False))
    assert sum(one.outcome == "kept" for one in often) >= 0.75 * len(often)
    assert sum(one.outcome == "kept" for one in once) <= 0.4 * len(once)


@work
def test_few_sentences_of_a_summary_are_without_words_in_its_range_and_few_lost_their_doubt(name: str) -> None:
    checkpoint = checkpoints()[name]
    assert len(unfounded(checkpoint.pieces, checkpoint.summary)) <= 6
    assert len(unhedged(checkpoint.pieces, checkpoint.summary)) <= 6


@work
def test_a_name_that_is_taken_out_of_a_real_summary_is_lost_and_a_claim_that_is_put_in_is_told(name: str) -> None:
    checkpoint = checkpoints()[name]
    kept = [one.item for one in retention_of(checkpoint.pieces, checkpoint.summary).of("kept", "identifier")]
    without = checkpoint.summary
    for item in kept:
        without = without.replace(item.key, "it")
    gone = {one.item.id: one.outcome for one in retention_of(checkpoint.pieces, without).items}
    assert {gone[item.id] for item in kept} <= {"lost", "changed"}
    claim = "The reviewer approved release 4 in docs/made_up_release.md."
    told = unfounded(checkpoint.pieces, f"{checkpoint.summary}\n{claim}")
    assert ("docs/made_up_release.md",) in [one.names for one in told]


@every
def test_doubts_claims_and_contradictions_of_any_checkpoint_are_found_without_an_error(name: str) -> None:
    checkpoint = checkpoints()[name]
    unfounded(checkpoint.pieces, checkpoint.summary)
    unhedged(checkpoint.pieces, checkpoint.summary)
    assert contradictions(checkpoint.summary, DurableContextState()) == ()


@work
def test_no_summary_of_real_work_has_a_grave_objection(name: str) -> None:
    checkpoint = checkpoints()[name]
    assert not is_refused(objections(checkpoint.summary, checkpoint.pieces, expected=()))


@every
def test_the_lines_of_a_summary_are_all_told(name: str) -> None:
    checkpoint = checkpoints()[name]
    lines = [line for section in trace_checkpoint(checkpoint.pieces, checkpoint.summary).sections for line in section.lines]
    told = ["".join(word.text for word in line.words) for line in lines]
    assert told == [line[:MOST_LINE_CHARS] for line in checkpoint.summary.split("\n")]


@work
def test_most_lines_of_a_summary_lead_to_the_range(name: str) -> None:
    checkpoint = checkpoints()[name]
    counts = trace_checkpoint(checkpoint.pieces, checkpoint.summary).counts
    assert counts["quoted"] + counts["reworded"] >= counts["own"]


@pytest.mark.parametrize("session", CHAINS)
def test_a_chain_of_real_checkpoints_is_compared_pair_by_pair_and_its_items_followed(session: str) -> None:
    chain = [one for one in checkpoints().values() if one.session == session]
    for before, after in pairwise(chain):
        difference = diff_checkpoints(before.summary, after.summary)
        assert rebuilt(difference) == (before.summary, after.summary)
        assert not difference.left_out
    found = survival([ChainLink(pieces=one.pieces, summary=one.summary) for one in chain])
    assert found.checkpoints == len(chain)
    assert all(len(row.cells) == len(chain) for row in found.rows)


@work
def test_canaries_planted_in_a_real_range_stand_in_the_request_and_not_in_the_recorded_summary(name: str) -> None:
    checkpoint = checkpoints()[name]
    put = canaries(checkpoint.id, 12)
    earlier, new = since_last_checkpoint(planted(checkpoint.pieces, put))
    request = framed(new, b"seed", most_tokens=2_000, earlier=earlier)
    assert request.user.count(request.nonce) == 2
    assert all(one.sentence in request.user for one in put if one.place > 0.5)
    assert {fate.outcome for fate in canary_fates(put, checkpoint.summary)} == {"lost"}


def rebuilt(difference: CheckpointDiff) -> tuple[str, str]:
    rows = [row for section in difference.sections for row in section.rows]
    old = {row.old: "".join(word.text for word in row.old_words) for row in rows if row.old is not None}
    new = {row.new: "".join(word.text for word in row.new_words) for row in rows if row.new is not None}
    return tuple("\n".join(side[number] for number in sorted(side)) for side in (old, new))  # type: ignore[return-value]
