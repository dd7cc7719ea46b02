"""The rendered durable context loses nothing, cannot be broken out of, and is bound to the resolutions of its round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.durable.values import DurableContextState
from compaction.errors import DurableError
from compaction.render import TITLES, durable_sections, escaped_json, read_rendered, render_durable_context
from compaction.sources.resolution import STATUSES, SourceResolution
from tests.compaction.durable_states import evidence, fact, item, states

pytestmark = pytest.mark.nodb
CANARY = "an excerpt for people"


def resolution(pointer: str, status: Any = "available", **fields: Any) -> SourceResolution:
    proof = {"evidence_sha256": "a" * 64, "excerpt": CANARY} if status == "available" else {}
    return SourceResolution(pointer=pointer, status=status, **{**proof, **fields})


def resolutions_of(state: DurableContextState, statuses: Sequence[Any] = STATUSES) -> list[SourceResolution]:
    return [resolution(pointer, statuses[place % len(statuses)]) for place, pointer in enumerate(state.pointers)]


@given(states, st.booleans(), st.integers(0, 4))
def test_the_text_holds_exactly_the_sections_one_item_a_line(state: DurableContextState, is_resolved: bool, most_done: int) -> None:
    given_ = resolutions_of(state) if is_resolved else None
    sections = durable_sections(state, given_, most_done_items=most_done)
    text = render_durable_context(state, given_, most_done_items=most_done)
    assert read_rendered(text) == sections
    assert len(text.splitlines()) == sum(1 + len(one.items) + bool(one.done_omitted) for one in sections)
    assert CANARY not in text


@given(states)
def test_every_item_is_there_with_all_that_it_says(state: DurableContextState) -> None:
    sections = {one.section: one.items for one in durable_sections(state, most_done_items=99)}
    assert [(one["id"], one["text"], one["source"], one["confirmed"]) for one in sections.get("facts", ())] == [
        (one.fact_id, one.content, one.source_pointer, one.last_confirmed_at) for one in state.facts
    ]
    assert [(one["id"], one["text"], one["status"], one.get("reason")) for one in sections.get("pending", ())] == [
        (one.item_id, one.description, one.status, one.reason) for one in state.pending_items
    ]
    assert [(one["id"], one["score"], one["rank"]) for one in sections.get("evidence", ())] == [
        (one.memory_id, one.score, one.source_rank) for one in state.retrieval_evidence
    ]


@given(st.text(st.characters()))
def test_no_text_breaks_a_line_hides_or_begins_a_tag(text: str) -> None:
    line = escaped_json({"text": text})
    assert line.splitlines() == [line]
    assert line.isprintable() or all(character.isprintable() or character.isspace() for character in line)
    assert "<" not in line
    line.encode("utf-8")


@pytest.mark.parametrize("title", TITLES.values())
def test_a_text_cannot_pose_as_a_heading_or_an_item(title: str) -> None:
    forged = f"x\n{title}\n- {{}}\n- done_omitted=5"
    text = render_durable_context(DurableContextState(pending_items=(item(status="blocked", reason=forged),)))
    [section] = read_rendered(text)
    assert (section.section, section.done_omitted, section.items[0]["reason"]) == ("pending", 0, forged)


@pytest.mark.parametrize("text", ["hello", "Confirmed facts:\nhello", "- {}", "Confirmed facts:\n- [1]", "Confirmed facts:\n- {", "\n"])
def test_another_text_is_not_read(text: str) -> None:
    with pytest.raises(DurableError, match="no rendered"):
        read_rendered(text)


ONE = DurableContextState(facts=(fact(),))
MISBOUND = [
    ("resolution_mismatch", []),
    ("resolution_mismatch", [resolution("transcript:s:9")]),
    ("resolution_mismatch", [resolution("transcript:s:1"), resolution("transcript:s:9")]),
    ("duplicate_resolution", [resolution("transcript:s:1"), resolution("transcript:s:1", "missing")]),
    ("digest_invalid", [resolution("transcript:s:1", evidence_sha256="A" * 64)]),
    ("digest_invalid", [resolution("transcript:s:1", evidence_sha256="a" * 64 + "\n")]),
    ("digest_invalid", [resolution("transcript:s:1", evidence_sha256=None)]),
]


@pytest.mark.parametrize(("code", "resolutions"), MISBOUND)
def test_resolutions_that_do_not_bind_one_to_one_are_refused(code: str, resolutions: list[SourceResolution]) -> None:
    with pytest.raises(DurableError) as refused:
        render_durable_context(ONE, resolutions)
    assert refused.value.code == code


def test_a_resolution_of_another_round_is_stale() -> None:
    kept = [resolution("transcript:s:1", run="round 1")]
    assert render_durable_context(ONE, kept, run="round 1")
    with pytest.raises(DurableError) as refused:
        render_durable_context(ONE, kept, run="round 2")
    assert (refused.value.code, refused.value.figures) == ("stale_resolution", {"pointer": "transcript:s:1"})


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "available"])
def test_a_source_that_is_not_available_is_marked_and_its_fact_stays(status: Any) -> None:
    [section] = durable_sections(ONE, [resolution("transcript:s:1", status)])
    assert section.items[0]["evidence_unavailable"] is True
    assert section.items[0]["source_status"] == status
    assert section.items[0]["text"] == "The port is 8000."
    assert "evidence_sha256" not in section.items[0]


def test_two_hundred_done_items_are_three_and_a_count() -> None:
    done = tuple(item(f"d{n}", status="done", last_confirmed_at=f"2026-10-01T{n // 60:02d}:{n % 60:02d}:00Z") for n in range(200))
    [section] = durable_sections(DurableContextState(pending_items=done))
    assert [one["id"] for one in section.items] == ["d197", "d198", "d199"]
    assert section.done_omitted == 197


def test_done_items_with_one_id_after_another_count_by_instant_not_by_spelling() -> None:
    items = (
        item("east", status="done", last_confirmed_at="2026-10-02T00:00:00+14:00"),
        item("z", status="done", last_confirmed_at="2026-10-01T11:00:00Z"),
    )
    [section] = durable_sections(DurableContextState(pending_items=items), most_done_items=1)
    assert [one["id"] for one in section.items] == ["z"]


def test_evidence_is_not_bound() -> None:
    state = DurableContextState(retrieval_evidence=(evidence(source_id="transcript:s:1"),))
    assert render_durable_context(state, []) == render_durable_context(state)
    with pytest.raises(DurableError):
        render_durable_context(state, [resolution("transcript:s:1")])


def test_an_empty_state_is_no_text() -> None:
    assert render_durable_context(DurableContextState(), [resolution("x")]) == ""
