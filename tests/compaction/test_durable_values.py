"""Durable values are valid from the moment that they exist, and the refusal of one names its field."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from compaction.durable.canonical import state_from
from compaction.durable.evidence import capture_retrieval_evidence
from compaction.durable.values import DurableContextState, RetrievalDecision, RetrievalTrace
from compaction.errors import DurableError
from tests.compaction.durable_states import EARLY, evidence, fact, item

pytestmark = pytest.mark.nodb

REFUSED: list[tuple[Any, dict[str, Any], str, str]] = [
    (fact, {"content": " \n\t"}, "empty_field", "content"),
    (fact, {"source_pointer": None}, "empty_field", "source_pointer"),
    (fact, {"content": 7}, "not_plain_text", "content"),
    (fact, {"last_confirmed_at": "2026-10-01"}, "naive_timestamp", "last_confirmed_at"),
    (fact, {"last_confirmed_at": "now"}, "invalid_timestamp", "last_confirmed_at"),
    (fact, {"last_confirmed_at": "\ud800"}, "invalid_timestamp", "last_confirmed_at"),
    (fact, {"last_confirmed_at": ""}, "empty_field", "last_confirmed_at"),
    (item, {"status": None}, "not_plain_text", "status"),
    (item, {"status": "blocked"}, "empty_field", "reason"),
    (item, {"status": "blocked", "reason": " "}, "empty_field", "reason"),
    (item, {"reason": 3}, "not_plain_text", "reason"),
    (evidence, {"score": float("nan")}, "score_out_of_range", "score"),
    (evidence, {"score": 10**400}, "score_out_of_range", "score"),
    (evidence, {"score": "0.5"}, "score_out_of_range", "score"),
    (evidence, {"source_rank": True}, "rank_invalid", "source_rank"),
    (evidence, {"conflict_key": ""}, "empty_field", "conflict_key"),
]


@pytest.mark.parametrize(("make", "fields", "code", "field"), REFUSED)
def test_what_cannot_be_is_refused_with_its_field(make: Any, fields: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(DurableError) as refused:
        make(**fields)
    assert (refused.value.code, refused.value.figures) == (code, {"field": field})


def test_an_unknown_status_is_refused_with_what_it_was_cut_short() -> None:
    with pytest.raises(DurableError) as refused:
        item(status="closed" * 100)
    assert refused.value.code == "unknown_pending_status"
    assert len(refused.value.figures["value"]) == 80


def test_texts_collapse_white_space_and_times_and_reasons_stay_as_written() -> None:
    made = item(" a \n b ", status="blocked", reason=" x\n y ", last_confirmed_at="2026-10-01T09:00+08:00")
    assert (made.item_id, made.reason, made.last_confirmed_at) == ("a b", " x\n y ", "2026-10-01T09:00+08:00")


def test_values_are_frozen() -> None:
    for value, name in ((fact(), "content"), (item(), "status"), (evidence(), "score"), (DurableContextState(), "facts")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, "other")


def test_ids_are_unique_within_their_list_after_white_space_collapsed() -> None:
    with pytest.raises(DurableError) as refused:
        DurableContextState(facts=(fact("a b"), fact(" a  b")))
    assert refused.value.figures == {"domain": "facts"}
    assert DurableContextState(facts=(fact("a"),), pending_items=(item("a"),)).pointers == ("transcript:s:1", "transcript:s:2")


def test_a_refusal_of_an_import_says_where() -> None:
    good = {"fact_id": "a", "content": "x", "source_pointer": "transcript:s:1", "last_confirmed_at": EARLY}
    with pytest.raises(DurableError) as refused:
        state_from({"facts": [good, {**good, "fact_id": "b", "content": ""}]})
    assert (refused.value.place, refused.value.figures) == ("facts.1", {"field": "content"})


def test_an_error_quotes_no_text_of_a_value() -> None:
    with pytest.raises(DurableError) as refused:
        fact(content="secret words", last_confirmed_at="secret words")
    assert "secret" not in str(refused.value) + repr(refused.value.figures)


def test_captured_hits_keep_their_order_score_rank_and_conflict() -> None:
    provenance = {"source_id": "n", "source_type": "wiki", "title": "T", "captured_at": EARLY}
    hits = [
        {"memory_id": one, "score": 0.1, "rank": rank, "conflict_key": "k", "provenance": provenance} for one, rank in (("z", 9), ("a", 1))
    ]
    captured = capture_retrieval_evidence(hits)
    assert [(one.memory_id, one.source_rank, one.conflict_key) for one in captured] == [("z", 9, "k"), ("a", 1, "k")]
    with pytest.raises(DurableError, match="no object"):
        capture_retrieval_evidence(["no hit"])  # type: ignore[list-item]


def test_a_trace_keeps_the_query_and_each_decision_and_is_found_by_its_memory() -> None:
    decisions = (
        RetrievalDecision(memory_id="m", decision="selected", score=1, source_rank=1, conflict_key="k"),
        RetrievalDecision(memory_id="n", decision="dropped", reason="lost the conflict k"),
    )
    trace = RetrievalTrace(trace_id="t", query="which port?\n", captured_at=EARLY, decisions=decisions)
    state = DurableContextState(retrieval_evidence=(evidence("m"),), retrieval_traces=(trace,))
    assert state.traces_of("m") == (trace,) == state.traces_of("n")
    assert state.traces_of("other") == ()
    assert trace.query == "which port?\n"


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"decision": "maybe"}, "unknown_decision"), ({"score": 2}, "score_out_of_range"), ({"source_rank": 0}, "rank_invalid")],
)
def test_a_decision_that_cannot_be_is_refused(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(DurableError) as refused:
        RetrievalDecision(**{"memory_id": "m", "decision": "dropped", **fields})
    assert refused.value.code == code
