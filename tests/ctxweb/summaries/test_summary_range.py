"""What a summary would stand for: whole interactions of the view of a call, never what is hidden, and its raw records are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import override_settings

from compaction.ranges import without_halves
from ctxweb.models import Job, Session
from ctxweb.services.checkpoint_plan import SummaryAsked, SummaryPlan, SummaryRefused, summary_plan
from tests.ctxweb.summaries.talks import imported, opened, talk
from tests.evidence.homes import shared_home

Plan = Callable[..., SummaryPlan]


@pytest.fixture(scope="module")
def talked(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Session]]:
    """Sessions by the number of their calls."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("ranges")):
        with django_db_blocker.unblock():
            made = {calls: imported(talk(calls, key=f"talk {calls}"), name=f"talk{calls}.jsonl") for calls in (0, 6)}
        yield made


@pytest.fixture
def plan(talked: dict[int, Session], db: None) -> Plan:
    return lambda calls=6, **asked: summary_plan(session=talked[calls], asked=SummaryAsked(**asked))


@pytest.mark.nodb
@pytest.mark.parametrize(
    ("ids", "asked", "found"),
    [
        (["a", "a", "b", "b"], (0, 4), (0, 4)),
        (["a", "a", "b", "b"], (0, 3), (0, 2)),
        (["a", "a", "b", "b"], (1, 4), (2, 4)),
        (["ab", "c", "ac", "b"], (0, 3), (0, 0)),
        (["a", "b", "a", "b", ""], (1, 5), (4, 5)),
        (["x", "a", "a"], (0, 3), (0, 3)),  # an orphan binds nothing
        (["a", "a", "a", "a"], (0, 2), (0, 2)),  # the same id again is another pair
        (["a", "a"], (0, 1), (0, 0)),
    ],
)
def test_a_boundary_moves_inwards_until_no_call_loses_its_result(ids: list[str], asked: tuple[int, int], found: tuple[int, int]) -> None:
    assert without_halves(ids, *asked) == found


def test_a_plan_without_more_takes_the_whole_view_of_the_last_call_but_what_is_hidden(plan: Plan) -> None:
    found = plan()
    assert (found.from_call, found.to_call, found.problems) == (1, 6, ())
    assert found.blocks[0] == "2.1", "the system prompt is message 1"
    assert found.blocks[-1] == "17.1", "the last question; what answers it is in no view yet"
    assert found.first_pointer.endswith(":3")
    assert found.records == 16 + 5, "the five calls between are counted too"


def test_a_range_is_what_came_with_its_calls(plan: Plan) -> None:
    found = plan(from_call=3, to_call=4)
    assert {int(block.split(".")[0]) for block in found.blocks} == {6, 7, 8, 9, 10, 11}


def test_the_newest_part_stays_where_it_is_asked_for(plan: Plan) -> None:
    whole = plan()
    kept = plan(keep_tokens=300)
    assert kept.blocks == whole.blocks[: len(kept.blocks)]
    assert whole.range_tokens - kept.range_tokens >= 300
    assert not set(kept.blocks) & {"17.1", "16.1"}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"to_call": 7}, "to_call"),
        ({"to_call": 0}, "to_call"),
        ({"from_call": 5, "to_call": 4}, "from_call"),
        ({"from_call": 0}, "from_call"),
        ({"summarizer": "oracle"}, "summarizer"),
        ({"shape": "round"}, "shape"),
        ({"focus": "x" * 2_001}, "focus"),
        ({"keep_tokens": -1}, "keep_tokens"),
        ({"canaries": 201}, "canaries"),
        ({"max_tokens": 99}, "max_tokens"),
        ({"max_tokens": 4_097}, "max_tokens"),
    ],
)
def test_what_can_never_be_is_refused_with_the_field(plan: Plan, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(SummaryRefused) as refused:
        plan(**asked)
    assert refused.value.field == field


@pytest.mark.parametrize(("asked", "code"), [({"keep_tokens": 100_000}, "empty_range"), ({"to_call": 1}, "small_range")])
@pytest.mark.django_db
def test_what_cannot_be_now_is_a_problem_of_the_plan_and_opens_no_job(talked: dict[int, Session], asked: dict[str, Any], code: str) -> None:
    session = talked[6]
    assert [problem.code for problem in summary_plan(session=session, asked=SummaryAsked(**asked)).problems] == [code]
    with pytest.raises(SummaryRefused) as refused:
        opened(session, **asked)
    assert refused.value.code == code
    assert Job.objects.filter(kind="summary").count() == 0


def test_a_session_without_a_call_has_no_view(plan: Plan) -> None:
    with pytest.raises(SummaryRefused, match="logs no model call"):
        plan(0)


def test_the_digests_change_with_what_they_are_of(plan: Plan) -> None:
    whole, part = plan(), plan(from_call=2)
    assert whole.view_sha256 == part.view_sha256
    assert whole.range_sha256 != part.range_sha256
    assert plan(to_call=5).view_sha256 != whole.view_sha256


def test_limits_of_an_answer_are_those_of_the_setting() -> None:
    with override_settings(CTXWEB_SUMMARY_MAX_TOKENS=200):
        assert SummaryAsked(max_tokens=200).most_tokens == 200
        assert SummaryAsked().most_tokens == 200
        with pytest.raises(SummaryRefused):
            SummaryAsked(max_tokens=201)
