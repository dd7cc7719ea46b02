"""The list of sessions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import OuterRef, Subquery
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxweb.models import Compaction, History, Revision, Session, Source
from ctxweb.queries.sessions import ROWS, SORTS, SessionFilters, sessions_window

pytestmark = pytest.mark.django_db
BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def source() -> Source:
    return Source.objects.create(sha256="0" * 64, size=10, name="a.jsonl")


def session(source: Source, number: int, **fields: Any) -> Session:
    usual: dict[str, Any] = {
        "format": "claude_code",
        "lane": "main",
        "native_id": f"native-{number}",
        "cwd": f"/home/me/project{number % 3}",
        "call_count": number % 50,
        "peak_context": number * 100 or None,
        "ended_at": BEGIN + timedelta(hours=number) if number % 7 else None,
        "spark": {"sizes": [100 * (n % 17) for n in range(56)], "recorded": [9, 30], "inferred": [40]},
    }
    made = Session.objects.create(public_id=f"sessionid{number:011d}", **{**usual, **fields})
    made.current = Revision.objects.create(session=made, source=source, state="ready")
    made.save()
    return made


def listed(window: Any) -> list[str]:
    return [group.session.id for group in window.groups]


def test_the_first_start_says_how_to_begin(client: Client) -> None:
    page = client.get("/").content.decode()
    assert "No session is imported yet" in page
    assert 'action="/import"' in page
    assert 'enctype="multipart/form-data"' in page


@pytest.mark.parametrize("sort", [*SORTS, *(f"-{name}" for name in SORTS)])
def test_windows_of_every_order_give_each_session_once(source: Source, sort: str) -> None:
    for number in range(25):
        session(source, number)
    filters = SessionFilters(sort=sort)
    whole = listed(sessions_window(filters=filters, after="", limit=100))
    pieces: list[str] = []
    after: str | None = ""
    while after is not None:
        window = sessions_window(filters=filters, after=after, limit=4)
        pieces += listed(window)
        after = window.next
    assert pieces == whole
    assert len(set(whole)) == 25


def test_lanes_stand_below_their_session_and_the_rest_is_a_link_away(source: Source, client: Client) -> None:
    main = session(source, 1)
    for number in range(2, 9):
        session(source, number, parent=main, lane="subagent")
    (group,) = sessions_window(filters=SessionFilters(), after="", limit=ROWS).groups
    assert (group.session.lanes, len(group.lanes), group.more_lanes) == (7, 4, 3)
    page = client.get("/").content.decode()
    assert f'href="/?parent={main.public_id}"' in page
    assert len(sessions_window(filters=SessionFilters(parent=main.public_id), after="", limit=ROWS).groups) == 7
    assert "<b>7 lanes match, " in client.get(f"/?parent={main.public_id}").content.decode()


def test_a_window_counts_the_rows_of_lanes_too(source: Source) -> None:
    for number in range(0, 60, 5):
        main = session(source, number)
        for lane in range(1, 5):
            session(source, number + lane, parent=main, lane="subagent")
    window = sessions_window(filters=SessionFilters(), after="", limit=20)
    assert sum(1 + len(group.lanes) for group in window.groups) == 20
    assert window.next is not None


def test_filters_narrow_by_format_project_and_name(source: Source) -> None:
    session(source, 1)
    session(source, 2, format="codex", title="Fix the parser")
    session(source, 4)
    assert listed(sessions_window(filters=SessionFilters(format="codex"), after="", limit=9)) == ["sessionid00000000002"]
    assert len(listed(sessions_window(filters=SessionFilters(project="/home/me/project1"), after="", limit=9))) == 2
    assert listed(sessions_window(filters=SessionFilters(q="PARSER"), after="", limit=9)) == ["sessionid00000000002"]


def test_a_filter_that_matches_nothing_can_be_cleared(source: Source, client: Client) -> None:
    session(source, 1)
    page = client.get("/?format=codex&project=/nowhere").content.decode()
    assert "No session matches these filters" in page
    assert 'href="/?project=%2Fnowhere"' in page
    assert 'href="/?format=codex"' in page


def test_unpublished_sessions_are_not_listed(source: Source) -> None:
    Session.objects.create(public_id="unpublished000000000", format="codex", lane="main")
    assert sessions_window(filters=SessionFilters(), after="", limit=9).total == 0


def test_compactions_are_counted_by_action(source: Source, client: Client) -> None:
    made = session(source, 1)
    assert made.current is not None
    history = History.objects.create(public_id="h", revision=made.current, origin="recorded")
    for ordinal, (mechanism, origin) in enumerate(
        [("summary", "recorded"), ("clear_tool_result", "recorded"), ("clear_tool_result", "recorded"), ("unknown", "inferred")], 1
    ):
        Compaction.objects.create(
            history=history, ordinal=ordinal, index=ordinal, line=1, origin=origin, mechanism=mechanism, trigger="auto", status="ok"
        )
    Compaction.objects.create(
        history=history, ordinal=5, index=None, line=1, origin="recorded", mechanism="rewind", trigger="manual", status="ok"
    )
    (group,) = sessions_window(filters=SessionFilters(), after="", limit=9).groups
    assert [(mark.action, mark.count) for mark in group.session.compactions] == [("summarise", 1), ("clear", 2), ("inferred", 1)]
    assert f'href="/s/{made.public_id}/ledger?action=clear"' in client.get("/").content.decode()


def test_the_query_count_is_that_of_ten_rows_for_a_thousand_and_the_page_stays_small(source: Source, client: Client) -> None:
    for number in range(10):
        session(source, number)
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get("/")
    parents = list(Session.objects.all())
    made = [
        Session(
            public_id=f"many{number:016d}",
            format="claude_code",
            lane="main",
            native_id=f"a rather long native id {number}",
            title=f"What the session {number} was about, in a long sentence of its own",
            cwd=f"/home/me/{number}",
            model="claude-opus-4-5-20251101",
            producer_version="2.1.17",
            peak_context=150_000,
            context_window=200_000,
            ended_at=BEGIN + timedelta(days=400, minutes=number),
            spark=parents[0].spark,
            parent=parents[number % 10] if number % 3 == 0 else None,
        )
        for number in range(1_000)
    ]
    Session.objects.bulk_create(made)
    Revision.objects.bulk_create([Revision(session=each, source=source, state="ready") for each in made])
    own = Revision.objects.filter(session=OuterRef("pk")).values("pk")[:1]
    Session.objects.filter(public_id__startswith="many").update(current=Subquery(own))
    with CaptureQueriesContext(connection) as many:
        page = client.get("/").content
    assert len(many) == len(few)
    assert len(page) < 100_000
    assert len(re.findall(rb"<[a-z]", page)) < 5_000


def test_htmx_gets_the_part_that_it_asks_for(source: Source, client: Client) -> None:
    session(source, 1)
    answer = client.get("/?sort=-peak", headers={"HX-Request": "true", "HX-Target": "list"})
    assert "<html" not in answer.content.decode()
    assert {"HX-Request", "HX-Target"} <= set(answer.headers["Vary"].split(", "))
    assert 'aria-sort="descending"' in answer.content.decode()


def test_a_place_that_no_answer_gave_is_nowhere(source: Source, client: Client) -> None:
    session(source, 1)
    assert client.get("/?after=nonsense").status_code == 404
    assert client.get("/api/v1/sessions?after=nonsense").status_code == 422


def test_the_twin_has_the_figures_of_the_page(source: Source, client: Client) -> None:
    for number in range(1, 6):
        session(source, number)
    page = client.get("/?sort=-peak").content.decode()
    twin = client.get(re.search(r'href="(/api[^"]*)">JSON', page).group(1)).json()  # type: ignore[union-attr]
    rows = re.findall(r'<a href="/s/([a-z0-9]+)/"', page)
    assert [group["session"]["id"] for group in twin["groups"]] == rows
    assert [f"{group['session']['peak_context']}" for group in twin["groups"]] == re.findall(r'<td class="num">(\d+00)</td>', page)
