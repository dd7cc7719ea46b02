"""Waking rarely gives what looking at every call gives, for every policy: no firing, edit or size depends on what was spared."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from compaction.policies import POLICIES, policy_named
from compaction.policy_json import with_settings
from compaction.replay.firing import Replay
from compaction.replay.place import Place
from compaction.replay.replayable import Replayable
from compaction.replay.run import _Run, replay
from compaction.view import PromptView
from tests.replay_sessions import generated

pytestmark = pytest.mark.nodb

SESSIONS = {"few large results": (3, 150, 2_000, True), "many small results": (4, 400, 160, False)}
WINDOWS = (60_000, 150_000)
ALWAYS = (
    ("gemini-mask", {"mask_tool_results.protect_tokens": 4_000, "mask_tool_results.least_gain": 900}),
    ("gemini-mask", {"mask_tool_results.protect_tokens": 0, "mask_tool_results.least_gain": 0}),
    ("opencode", {"mask_tool_results.protect_tokens": 900, "mask_tool_results.least_gain": 2_000}),
    (
        "opencode",
        {"mask_tool_results.exclude_tools": ("run",), "mask_tool_results.protect_tokens": 300, "mask_tool_results.least_gain": 200},
    ),
    ("anthropic-clear-thinking", {"clear_thinking.keep_turns": 3}),
    ("anthropic-clear-tools", {"trigger": 5_000, "clear_tool_results.clear_at_least": 2_500}),
    ("anthropic-clear-tools", {"trigger": 5_000, "clear_tool_results.exclude_tools": ("run",)}),
)


@cache
def session(name: str) -> Replayable:
    seed, steps, scale, odd = SESSIONS[name]
    return generated(seed, steps=steps, scale=scale, odd=odd)


def told(replayed: Replay) -> list[object]:
    """All that a reader is told of a replay."""
    firings = [(one.call, one.moment, one.before.own, one.before.tokens, replace(one.compacted, view=None)) for one in replayed.firings]  # type: ignore[arg-type]
    views = [[message.ids for message in one.compacted.view.messages] for one in replayed.firings]
    return [firings, views, replayed.failures, [replayed.totals(call.n) for call in replayed.session.calls]]


def looking_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call is looked at, and nothing is known of what earlier runs have done with."""
    seen = Place.view

    def forgetful(place: Place, call: int) -> PromptView:
        return replace(seen(place, call), settled={})

    monkeypatch.setattr(Place, "view", forgetful)
    monkeypatch.setattr(_Run, "_all_wakes", lambda run: [lambda place: place.next_call])


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("policy_id", [policy.id for policy in POLICIES])
def test_waking_rarely_gives_what_looking_at_every_call_gives(
    policy_id: str, name: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_named(policy_id)
    rarely = told(replay(session(name), policy, window=window))
    looking_always(monkeypatch)
    assert rarely == told(replay(session(name), policy, window=window))


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize(("policy_id", "settings"), ALWAYS)
def test_limits_that_let_a_layer_act_often_change_nothing_in_that(
    policy_id: str, settings: dict[str, object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = with_settings(policy_named(policy_id), settings)
    found = replay(session(name), policy, window=150_000)
    rarely = told(found)
    assert found.firings
    looking_always(monkeypatch)
    assert rarely == told(replay(session(name), policy, window=150_000))


def test_a_window_that_is_set_comes_before_that_of_the_session() -> None:
    lane = generated(3, steps=12, scale=400, odd=False, window=90_000)
    policy = policy_named("dsh-basic")
    assert (replay(lane, policy).window, replay(lane, policy, window=500).window) == (90_000, 500)
    assert not replay(lane, policy).firings
    assert replay(lane, policy, window=500).firings
