"""What a page costs does not depend on how much there is: the same number of queries for 10 rows and for 1,000, and a bounded page."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import OuterRef, Subquery
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxweb.lane_rows import stored_map
from ctxweb.models import Compaction, History, Job, Revision, Session, Source
from ctxweb.queries.source_counts import project_sources
from ctxweb.queries.sources import item_key
from ctxweb.services.importing import import_run
from ctxweb.services.session_import import session_import
from tests.ctxweb.pages_b.rows import make_session
from tests.evidence.durable_rows import keep_durable
from tests.evidence.elements import page_of
from tests.evidence.homes import shared_home
from tests.evidence.made_checkpoints import ended_job
from tests.evidence.walk import unreached_pages, unreached_twins
from tests.shared import SHARED, needs_shared

FEW, MANY = 10, 1_000
BYTES, NODES = 100_000, 5_000
SOURCES = (
    "/s/{s}/sources", "/s/{s}/sources?item={fact}", "/s/{s}/sources?status=missing", "/s/{s}/sources?part=facts&after=3",
    "/s/{s}/sources/badges", "/s/{s}/sources/edit?item={fact}", "/s/{s}/sources/proposals/1", "/s/{s}/sources/preview",
    "/s/{s}/sources/versions", "/s/{s}/sources/versions/1", "/s/{s}/keep/1.1", "/audit", "/audit?status=corrupt", "/audit?session={s}",
    "/audit/entries", "/audit/entries?session={s}", "/audit/drift?since=2026-09-30",
)  # fmt: skip
PAGES = (
    "/", "/?sort=-calls&format=claude_code", "/?q=line", "/search?q=line", "/search?q=line&session={s}", "/s/{s}/",
    "/s/{s}/?call=3&stack=kind", "/s/{s}/?as=table", "/s/{s}/messages", "/s/{s}/messages?kind=tool_result", "/s/{s}/view/{last}",
    "/s/{s}/view/{last}?against=1", "/s/{s}/view/{last}?against=1&ghosts=all", "/s/{s}/ledger", "/s/{s}/ledger?compaction=1",
    "/s/{s}/b/3.1", "/s/{s}/import", "/s/{s}/import/1", "/s/{s}/body/{digest}", "/jobs", "/jobs?state=failed", "/jobs/{job}", "/settings",
    "/s/{s}/checkpoints", "/s/{s}/checkpoints/2", "/s/{s}/checkpoints/2/range", "/s/{s}/checkpoints/1..2",
    "/s/{s}/replay", "/s/{s}/replay?policy=workbuddy-s14&trigger=20000",
    "/s/{s}/units", "/s/{s}/summarise?to=3", "/s/{s}/summarise/{summary}..{summary}",
    *SOURCES,
)  # fmt: skip
TWINS = (
    "sessions", "sessions?sort=-calls&format=claude_code", "search?q=line", "sessions/{s}", "sessions/{s}?call=3", "sessions/{s}/calls",
    "sessions/{s}/messages", "sessions/{s}/messages?kind=tool_result", "sessions/{s}/report", "sessions/{s}/records",
    "sessions/{s}/records/1", "sessions/{s}/body/{digest}", "histories/{s}r", "histories/{s}r/calls/{last}/view?against=1",
    "histories/{s}r/calls/{last}/ghosts?against=1", "histories/{s}r/ledger", "histories/{s}r/blocks/3.1/fate", "jobs",
    "jobs/{job}", "health", "model-access",
    "sessions/{s}/summaries/plan?to=3", "sessions/{s}/summaries/{summary}/against/{summary}",
    "sessions/{s}/checkpoints", "checkpoints/{s}-2", "checkpoints/{s}-2/range", "checkpoints/{s}-1/diff/{s}-2",
    "policies", "sessions/{s}/replay", "sessions/{s}/units",
    "sessions/{s}/durable", "sessions/{s}/durable/preview", "sessions/{s}/durable/versions",
    "sessions/{s}/durable/versions/1", "sessions/{s}/durable/proposals",
    "sessions/{s}/durable/versions/1/difference", "audit", "audit/sources", "audit/chain", "audit/anchors", "audit/bundle",
    "audit/drift?since=2026-09-30T00:00:00Z",
)  # fmt: skip
ADDRESSES = (*PAGES, *(f"/api/v1/{twin}" for twin in TWINS))
LOOKING = ("/badges", "/preview")
WITHOUT_ROWS = {
    "import",
    "job_cancel",
    "job_retry",
    "replay_change",
    "source_verify",
    "source_events",
    "audit_sign_off",
    "audit_verify",
}  # patterns that GET answers without a page


def test_every_page_and_every_twin_is_measured() -> None:
    places = {"s": "a" * 20, "last": "9", "digest": "0" * 32, "job": "a", "fact": "a", "summary": "a"}
    addresses = [address.format(**places) for address in ADDRESSES]
    assert unreached_pages(addresses[: len(PAGES)]) == WITHOUT_ROWS
    assert unreached_twins(addresses[len(PAGES) :]) == set()


@pytest.fixture(scope="module")
def queries(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[int, int]]]:
    """Of each address: its number of queries with few rows, and with many."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("growth")):
        with django_db_blocker.unblock():
            few = _queries(_grown(to=FEW, session=_lane("small", turns=7), facts=FEW))
            many = _queries(_grown(to=MANY, session=_lane("large", turns=64), facts=MANY))
        yield {pattern: (few[pattern], many[pattern]) for pattern in ADDRESSES}


@pytest.mark.django_db
@pytest.mark.parametrize("pattern", ADDRESSES)
def test_the_number_of_queries_is_that_of_ten_rows_for_a_thousand(pattern: str, queries: dict[str, tuple[int, int]]) -> None:
    few, many = queries[pattern]
    if pattern.endswith("/preview"):  # it looks all sources up, in batches of at least 200
        assert many - few <= 2 * MANY // 200
    elif "/replay" in pattern:  # it reads texts in batches of some hundreds, and draws a short lane block by block
        assert many - few <= 1
    else:
        assert many == few
    assert many < 40


def _lane(name: str, *, turns: int) -> Session:
    """A session of 16 blocks a turn, with the stored map that an import leaves."""
    session = make_session(turns=turns, name=name)
    history = History.objects.get(revision=session.current_id)
    stored = stored_map(history=history)
    History.objects.filter(pk=history.pk).update(bins=stored.bins)
    Session.objects.filter(pk=session.pk).update(spark=stored.spark)
    return session


def _grown(*, to: int, session: Session, facts: int) -> dict[str, str]:
    """As many sessions and jobs in the database; what stands for the names in the addresses of `session`."""
    source = Source.objects.all()[0]
    missing = range(Session.objects.count(), to)
    Session.objects.bulk_create(
        Session(public_id=f"more{n:016d}", format="claude_code", lane="main", cwd=f"/home/{n}", native_id=f"line {n}") for n in missing
    )
    bare = list(Session.objects.filter(current__isnull=True))
    Revision.objects.bulk_create(Revision(session=each, source=source, state="ready") for each in bare)
    own = Revision.objects.filter(session=OuterRef("pk")).values("pk")[:1]
    Session.objects.filter(current__isnull=True).update(current=Subquery(own))
    states = ("succeeded", "failed")
    Job.objects.bulk_create(
        Job(public_id=f"job{n:017d}", kind="import", key=f"{n}", state=states[n % 2], params={"name": f"{n}"})
        for n in range(Job.objects.count(), to)
    )
    assert (Session.objects.count(), Job.objects.count()) == (to, to)
    keep_durable(session, facts=facts)
    made = ended_job(session, calls=facts)
    body = session.current.blocks.select_related("body")[0].body  # type: ignore[union-attr]  # make_session publishes it
    return {
        "s": session.public_id,
        "last": str(session.call_count),
        "digest": bytes(body.digest).hex(),
        "job": f"job{0:017d}",
        "summary": made,
        "fact": item_key("facts", "fact-1"),
    }


def _queries(places: dict[str, str]) -> dict[str, int]:
    """What looks sources up comes last: other pages show what was found, and how much that is depends on the time there was."""
    still = [pattern for pattern in ADDRESSES if not pattern.endswith(LOOKING)]
    counts = {pattern: _queries_of(pattern.format(**places)) for pattern in still}
    assert project_sources(project="local").statuses["corrupt"]
    return counts | {pattern: _queries_of(pattern.format(**places)) for pattern in ADDRESSES if pattern not in counts}


def _queries_of(address: str) -> int:
    Client().get(address)  # what is made once for all is there
    with CaptureQueriesContext(connection) as captured:
        assert Client().get(address).status_code == 200, address
    return len(captured)


@pytest.fixture(scope="module")
def generated(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A generated session of so many megabytes, imported, and what stands for the names in its addresses."""
    folder = tmp_path_factory.mktemp("generated")
    file = folder / "session.jsonl"
    made = subprocess.run(
        [sys.executable, str(SHARED / "bench" / "gen_session.py"), str(file), str(request.param), "1"], check=True, capture_output=True
    )
    with shared_home(blocker=django_db_blocker, root=folder / "home"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_run, "COUNT_APART_BYTES", sys.maxsize)  # another process would not see the database of the tests
        with django_db_blocker.unblock():
            places = _imported(file, json.loads(made.stdout))
        file.unlink()
        yield places


def _imported(file: Path, counts: dict[str, int]) -> dict[str, str]:
    (told,) = session_import(name=file.name, path=file).objects()
    recorded = sum(each["origin"] == "recorded" for each in told["compactions"])
    assert (told["status"], told["model_calls"], recorded) == ("imported", counts["model_calls"], counts["compactions"])
    session = Session.objects.get(public_id=told["session"])
    blocks = session.current.blocks.select_related("body")  # type: ignore[union-attr]  # an import publishes it
    keep_durable(session, facts=MANY * 2)
    largest, edited = blocks.order_by("-chars")[0], blocks.filter(end="summarise")[0]
    drop = Compaction.objects.filter(history__revision=session.current_id)[0].before_call or 2
    return {
        "s": session.public_id,
        "last": str(session.call_count),
        "drop": str(drop),
        "before": str(drop - 1),
        "job": Job.objects.all()[0].public_id,
        "summary": ended_job(session, calls=MANY),
        "digest": bytes(largest.body.digest).hex(),
        "fact": item_key("facts", "fact-1"),
        "block": f"{edited.seq}.{edited.i}",
        "largest": f"{largest.seq}.{largest.i}",
    }


SIZED = (
    *(page for page in PAGES if "{job}" not in page and not page.endswith("/badges")),
    "/s/{s}/view/{drop}?against={before}", "/s/{s}/view/{before}",
    "/s/{s}/view/{drop}?against={before}&ghosts=all", "/s/{s}/b/{block}", "/s/{s}/b/{largest}", "/search?q=return", "/search?q=的",
    "/s/{s}/?call={drop}", "/jobs/{job}",
)  # fmt: skip


@needs_shared
@pytest.mark.nodb
@pytest.mark.django_db
@pytest.mark.parametrize("generated", [10, pytest.param(100, marks=pytest.mark.stress)], indirect=True, ids=lambda size: f"{size} MB")
@pytest.mark.parametrize("pattern", SIZED)
def test_a_page_of_a_large_session_stays_small(pattern: str, generated: dict[str, str]) -> None:
    response = Client().get(pattern.format(**generated))
    assert response.status_code == 200
    assert len(response.content) < BYTES
    assert sum(1 for _ in page_of(response.content.decode()).walk()) < NODES
