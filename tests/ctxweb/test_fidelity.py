"""`manage.py fidelity`: a line a session with reported usage, exactly as scripts expect it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxweb.models import ModelCall, Session
from tests.ctxweb.pages_b.rows import make_session

pytestmark = pytest.mark.django_db

MOST_QUERIES = 9  # six of them are the start of the command
FIELDS = {
    "session", "native_id", "format", "model", "calls", "step_error", "epoch_error", "growth_error", "epochs", "inferred", "recorded",
    "cache", "constants",
}  # fmt: skip


def _lines(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("fidelity", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_each_session_is_one_json_object_with_the_agreed_fields() -> None:
    session = make_session(turns=4)
    (line,) = _lines("--json")
    told = json.loads(line)
    assert set(told) == FIELDS
    assert (told["session"], told["calls"]) == (session.public_id, ModelCall.objects.count())
    assert set(told["cache"]) == {"exact_share", "unexpected_misses"}


def test_views_that_explain_every_step_have_no_error_and_no_event() -> None:
    make_session(turns=2)
    told = json.loads(_lines("--json")[0])
    assert told["step_error"] == told["epoch_error"] == {"median": 0.0, "p95": 0.0}
    assert told["inferred"] == {"drops": 0, "rises": 0}


def test_a_prompt_that_fell_without_a_record_is_an_inferred_drop() -> None:
    session = make_session(turns=2)
    ModelCall.objects.filter(n__gte=3).update(cache_read_tokens=20_000)
    told = json.loads(_lines("--json", session.public_id)[0])
    assert told["inferred"]["drops"] == 1


def test_the_recorded_drops_are_counted_by_the_calls_before_which_they_lie() -> None:
    make_session(turns=4)
    told = json.loads(_lines("--json")[0])
    assert told["recorded"]["drops"] == 3
    assert told["epochs"] == 4


def test_a_session_without_reported_usage_has_no_line() -> None:
    make_session(turns=2)
    ModelCall.objects.update(input_tokens=None, cache_read_tokens=None, cache_write_tokens=None)
    assert _lines("--json") == []


def test_people_get_a_line_a_session_and_the_errors_of_all_calls_together() -> None:
    make_session(turns=2, name="one")
    make_session(turns=2, name="two")
    lines = _lines()
    assert len(lines) == Session.objects.count() + 1
    assert lines[-1].startswith("all 2 sessions: calls ")
    assert "step 0.00 % / 0.00 %" in lines[-1]


def test_an_unknown_session_is_named() -> None:
    with pytest.raises(CommandError, match="There is no session nosuchsession"):
        _lines("nosuchsession", "--json")


def test_the_queries_do_not_grow_with_the_calls_of_a_session() -> None:
    asked = []
    for turns in (2, 9):
        Session.objects.all().delete()
        make_session(turns=turns, name=f"s{turns}")
        with CaptureQueriesContext(connection) as queries:
            _lines("--json")
        asked.append(len(queries))
    assert asked[0] == asked[1] <= MOST_QUERIES
