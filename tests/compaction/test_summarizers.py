"""Summarizers without a model, as a replay asks them."""

from __future__ import annotations

import pytest

from compaction.ask import SummaryRequest
from compaction.counters.bpe import O200K_BASE
from compaction.counters.units import unit_named
from compaction.errors import SummarizerError
from compaction.messages import Message
from compaction.pricing import Pricer
from compaction.summarizers import SUMMARIZERS, Extractive, Recorded, RecordedSummary, Stub, summarizer_named
from compaction.view import PromptView
from tests.compaction.lanes import message, tool_result, tool_use
from tests.shared import REPO

LANE = [
    message(1, "user", "Fix the login. Never touch the database."),
    tool_use(2, "a", '{"path": "login.py"}'),
    tool_result(3, "a", "ImportError: no module named jwt"),
    message(4, "assistant", "I decided to vendor it."),
]


def request(messages: list[Message], count: int | None = None, **fields: object) -> SummaryRequest:
    view = PromptView.of(messages, Pricer(unit_named("exact"), count=lambda text: O200K_BASE.count(text).tokens))
    return SummaryRequest(messages=view.messages[:count], view=view, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", SUMMARIZERS, ids=lambda kind: kind.id)
def test_every_summarizer_has_a_name_a_title_and_one_answer_to_one_question(kind: type) -> None:
    first, second = (summarizer_named(kind.id, [RecordedSummary(text="S", ends_at=1)]) for _ in range(2))  # type: ignore[attr-defined]
    assert first.title
    assert first.summarize(request(LANE)) == second.summarize(request(LANE)) != ""


@pytest.mark.parametrize("kind", SUMMARIZERS, ids=lambda kind: kind.id)
def test_every_summarizer_is_on_the_library_page(kind: type) -> None:
    assert f"`{kind.id}`" in (REPO / "docs" / "library.md").read_text()  # type: ignore[attr-defined]


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(SummarizerError, match="stub, extractive, recorded"):
        summarizer_named("model")


def test_the_stub_has_its_size_exactly_and_no_word() -> None:
    summary = Stub().summarize(request(LANE))
    assert summary is not None
    assert O200K_BASE.count(summary).tokens == 1_500
    assert not any(char.isalnum() for char in summary)


def test_the_stub_is_no_larger_than_what_is_asked_for() -> None:
    summary = Stub().summarize(request(LANE, most_tokens=100))
    assert summary is not None
    assert O200K_BASE.count(summary).tokens == 100


def test_the_extract_is_of_the_messages_asked_for_and_within_the_bound() -> None:
    summary = Extractive().summarize(request(LANE, 3, most_tokens=150))
    assert summary is not None
    assert "- Never touch the database." in summary
    assert "- ImportError: no module named jwt" in summary
    assert "vendor" not in summary
    assert O200K_BASE.count(summary).tokens <= 150


def test_an_extract_without_room_is_no_summary() -> None:
    assert Extractive().summarize(request(LANE, most_tokens=5)) is None


RECORDED = (RecordedSummary(text="at 2", ends_at=2), RecordedSummary(text="at 4", ends_at=4), RecordedSummary(text="at 90", ends_at=90))


@pytest.mark.parametrize(("count", "nearest"), [(1, "at 2"), (2, "at 2"), (3, "at 2"), (4, "at 4")])
def test_the_recorded_summary_is_the_one_whose_range_ends_nearest_and_the_earlier_of_two(count: int, nearest: str) -> None:
    assert Recorded(summaries=RECORDED).summarize(request(LANE, count)) == nearest


def test_a_message_that_a_replay_put_in_is_no_end_of_a_range() -> None:
    lane = [*LANE[:2], message(80, "user", "[snipped 3 messages]")]
    assert Recorded(summaries=RECORDED, last_seq=4).summarize(request(lane)) == "at 2"
    assert Recorded(summaries=RECORDED).summarize(request(lane)) == "at 90"


def test_without_a_recorded_summary_there_is_none() -> None:
    assert Recorded().summarize(request(LANE)) is None
