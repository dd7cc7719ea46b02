"""Replay of real sessions: three policies, each scaled so that it fires at least five times, against the plain engine."""

from __future__ import annotations

from functools import cache

import pytest

from compaction.replay.replayable import Replayable
from compaction.replay.run import replay
from tests.compaction.test_replay import FIRINGS, SCALED, calls_fired, often_enough
from tests.replay_policies import assert_same
from tests.replay_sessions import corpus_lane, plain_session, tiktoken_tokens
from tests.shared import SHARED, needs_shared

pytestmark = [needs_shared, pytest.mark.nodb]

SESSIONS = (
    "claude_code/daaain__claude-code-log__todowrite",
    "claude_code/codemie-ai__codemie-code__conv-c3a574c5",
    "claude_code/codemie-ai__codemie-code__incremental-turn-2",
    "claude_code/entireio__cli__23-72de7ea2ff-0",
    "claude_code/entireio__cli__25-730c662552-0",
    "claude_code/entireio__cli__26-dcd5518fea-0",
    "claude_code/entireio__cli__33-b1e1e1b51d-0",
    "claude_code/entireio__cli__37-995ebed6e4-2",
    "claude_code/entireio__cli__68-60e2316a8a-0",
    "claude_code/entireio__cli__86-9d11344fce-1",
    "claude_code/entireio__cli__8c-fa910f8ef9-5",
    "claude_code/entireio__cli__91-b42542f24f-0",
    "claude_code/entireio__cli__9b-04c3d92e38-4",
    "claude_code/entireio__cli__b0-dc55b3a1dc-1",
    "claude_code/entireio__cli__b6-f735fbac66-0",
    "claude_code/entireio__cli__bc-cb77bb88fa-1",
    "claude_code/entireio__cli__f5-dab3d95bc1-0",
    "claude_code/entireio__cli__fc-99c919b212-0",
    "codex/codemie-ai__codemie-code__rollout-019e1625",
    "codex/tomjnsn__agentlogs__images",
)


@cache
def lane(name: str) -> Replayable:
    return corpus_lane(SHARED / "corpus" / f"{name}.jsonl", name.partition("/")[0])


@pytest.mark.parametrize("policy", SCALED)
@pytest.mark.parametrize("name", SESSIONS)
def test_replay_of_a_real_session_is_that_of_the_plain_engine(name: str, policy: str) -> None:
    session = lane(name)
    replayed = assert_same(session, plain_session(session), often_enough(session, policy), tiktoken_tokens)
    assert len(calls_fired(replayed)) >= FIRINGS


@pytest.mark.parametrize("name", SESSIONS)
def test_no_layer_makes_an_orphan_in_a_real_session(name: str) -> None:
    session = lane(name)
    kept = {f"{block}" for block in session.orphans}
    for policy in SCALED:
        for firing in replay(session, often_enough(session, policy).policy).firings:
            messages = firing.compacted.view.messages
            uses = {tool_id for message in messages for tool_id in message.uses}
            lone = uses ^ {tool_id for message in messages for tool_id in message.results}
            blocks = {str(one.block.id) for message in messages for one in message.blocks if one.block.tool_id in lone}
            assert blocks <= kept
