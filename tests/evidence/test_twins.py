"""Every page of the resolver has a visible link to its JSON twin, and the twin has the figures of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from django.test import Client

from ctxweb.models import Block, Compaction, Job, LedgerEntry, Record, Session
from ctxweb.queries.sources import item_key
from ctxweb.services.durable_keep import fact_keep
from tests.evidence import checkpoint_pages, other_pages, replay_page, session_pages, source_pages, summary_pages
from tests.evidence.durable_rows import ANA, keep_durable
from tests.evidence.elements import Element, page_of
from tests.evidence.homes import demo_file, imported, shared_home
from tests.evidence.made_checkpoints import make_chain, make_job
from tests.evidence.schema import faults
from tests.evidence.walk import DOCUMENT, api_routes, name_of, page_names, route_of, unreached_pages, unreached_twins

pytestmark = pytest.mark.django_db

Check = Callable[[Element, Any, session_pages.Get], None]
CHECKS: dict[str, tuple[tuple[Check, tuple[str, ...]], ...]] = {
    # name of the page pattern: how its figures are compared, and addresses to do it at
    "sessions": ((other_pages.sessions, ("/", "/?sort=-peak", "/?sort=calls&q=nightly")),),
    "search": ((other_pages.search, ("/search?q=export", "/search?q=export&session={broken}")),),
    "overview": (
        (session_pages.overview, ("/s/{long}/", "/s/{long}/?call=3", "/s/{long}/?call={drop}&stack=kind", "/s/{broken}/?call=1")),
        (session_pages.overview_table, ("/s/{long}/?as=table", "/s/{broken}/?as=table")),
    ),
    "messages": ((session_pages.messages, ("/s/{long}/messages", "/s/{long}/messages?kind=tool_result", "/s/{broken}/messages")),),
    "view": (
        (session_pages.view, ("/s/{long}/view/1", "/s/{long}/view/{drop}", "/s/{long}/view/{next}", "/s/{long}/view/{drop}?against=2",
                              "/s/{broken}/view/3")),
        (session_pages.ghosts, ("/s/{long}/view/{drop}?against={before}&ghosts=all",)),
    ),
    "ledger": ((session_pages.ledger, ("/s/{long}/ledger", "/s/{long}/ledger?kind=tool_result", "/s/{long}/ledger?compaction=1")),),
    "fate": ((session_pages.fate, ("/s/{long}/b/{edited}", "/s/{long}/b/{added}", "/s/{broken}/b/1.1")),),
    "checkpoints": ((checkpoint_pages.checkpoints, ("/s/{long}/checkpoints", "/s/{broken}/checkpoints")),),
    "checkpoint": (
        (checkpoint_pages.checkpoint, ("/s/{long}/checkpoints/1", "/s/{long}/checkpoints/1?outcome=lost&text=all",
                                       "/s/{long}/checkpoints/m2")),
    ),
    "checkpoint_range": (
        (checkpoint_pages.checkpoint_range, ("/s/{long}/checkpoints/1/range", "/s/{long}/checkpoints/1/range?kind=own")),
    ),
    "checkpoint_diff": (
        (checkpoint_pages.checkpoint_diff, ("/s/{long}/checkpoints/m1..m2", "/s/{long}/checkpoints/1..m3?as=side",
                                            "/s/{long}/checkpoints/m2..m2")),
    ),
    "replay": (
        (replay_page.replay, ("/s/{long}/replay", "/s/{long}/replay?trigger=9000&hard_limit=12000",
                              "/s/{long}/replay?policy=learn-claude-code-s08", "/s/{broken}/replay?policy=dsh-basic",
                              "/s/{long}/replay?policy=claude-code-spill&spill_results.longer_than=3000")),
    ),
    "units": ((replay_page.units, ("/s/{long}/units", "/s/{long}/units?call=3", "/s/{broken}/units")),),
    "report": ((other_pages.report, ("/s/{long}/import", "/s/{broken}/import", "/s/{broken}/import?verdict=invalid_json")),),
    "record": ((other_pages.record, ("/s/{long}/import/1", "/s/{broken}/import/{odd}")),),
    "body": ((other_pages.body, ("/s/{long}/body/{digest}",)),),
    "sources": (
        (source_pages.sources, ("/s/{long}/sources", "/s/{long}/sources?item={fact}", "/s/{long}/sources?status=missing",
                                "/s/{broken}/sources")),
    ),
    "source_edit": (
        (source_pages.form, ("/s/{long}/sources/edit?new=facts", "/s/{long}/sources/edit?item={fact}",
                             "/s/{long}/sources/edit?item={work}&move=blocked", "/s/{long}/sources/edit?item={fact}&remove=1")),
    ),
    "source_keep": ((source_pages.form, ("/s/{long}/keep/1.1", "/s/{broken}/keep/1.1")),),
    "source_proposal": ((source_pages.form, ("/s/{long}/sources/proposals/1", "/s/{long}/sources/proposals/2")),),
    "source_preview": ((source_pages.preview, ("/s/{long}/sources/preview",)),),
    "source_versions": ((source_pages.versions, ("/s/{long}/sources/versions",)),),
    "source_version": (
        (source_pages.version, ("/s/{long}/sources/versions/2", "/s/{long}/sources/versions/1", "/s/{long}/sources/versions/3?against=1")),
    ),
    "audit": ((source_pages.audit, ("/audit", "/audit?status=missing", "/audit?session={long}")),),
    "audit_entries": ((source_pages.entries, ("/audit/entries", "/audit/entries?status=signed_off", "/audit/entries?session={long}")),),
    "audit_drift": ((source_pages.drift, ("/audit/drift?since=2026-09-30", "/audit/drift?since=2026-09-30&session={long}")),),
    "summarise": ((summary_pages.plan, ("/s/{long}/summarise", "/s/{long}/summarise?from=2&to=6&focus=ports&incremental=1")),),
    "comparison": ((summary_pages.comparison, ("/s/{long}/summarise/{summary}..{other}",)),),
    "jobs": ((other_pages.jobs, ("/jobs", "/jobs?state=failed")),),
    "job": ((other_pages.job, ("/jobs/{job}", "/jobs/{failed}", "/jobs/{summary}")),),
    "settings": ((other_pages.settings, ("/settings",)),),
}  # fmt: skip
WITHOUT_HTML = {
    # name of the pattern: address, and how GET without a script is answered
    "import": ("/import", 302),
    "replay_change": ("/s/{job}/replay/{job}", 405),
    "source_verify": ("/s/{job}/sources/verify", 405),
    "source_events": ("/s/{long}/sources/events", 204),
    "source_badges": ("/s/{long}/sources/badges", 200),
    "audit_sign_off": ("/audit/sign-off", 405),
    "audit_verify": ("/audit/verify", 405),
    "job_cancel": ("/jobs/{job}/cancel", 405),
    "job_retry": ("/jobs/{job}/retry", 405),
}
MORE_TWINS = (
    # twins that no page links alone: their rows are part of another page
    "/api/v1/histories/{long}r", "/api/v1/sessions/{broken}/records", "/api/v1/sessions/{long}/calls", "/api/v1/sessions/{broken}",
    "/api/v1/policies", "/api/v1/model-access",
    "/api/v1/sessions/{long}/durable/versions/1", "/api/v1/sessions/{long}/durable/proposals",
    "/api/v1/audit/chain", "/api/v1/audit/anchors",
)  # fmt: skip
FILES = ("/api/v1/audit/bundle",)  # answers that are no JSON


class Visit(NamedTuple):
    check: Check
    pattern: str


VISITS = [Visit(check, pattern) for parts in CHECKS.values() for check, patterns in parts for pattern in patterns]


@pytest.fixture(scope="module")
def places(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The demo sessions, imported, and what stands for the names in the addresses."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("twins")):
        with django_db_blocker.unblock():
            long, broken = (imported(name=f"demo-{name}.jsonl", data=demo_file(name)) for name in ("long", "broken"))
            failed = Job.objects.create(public_id="failedjob0001", kind="import", key="f", state="failed", total=900, done=300, attempt=3)
            Job.objects.filter(pk=failed.pk).update(
                error={"code": "disk_full", "message": "No space is left."}, log=[{"at": "10:00", "line": "stored"}]
            )
            found = _places(long, broken)
            keep_durable(long, facts=7)
            make_chain(long, 3)
            found |= {"summary": make_job(long, to_call=4), "other": make_job(long, to_call=5)}
            assert long.current is not None
            fact_keep(session=long, revision=long.current, seq=1, content="It runs every night.", author=ANA)
        yield found


def _places(long: Session, broken: Session) -> dict[str, str]:
    edits = LedgerEntry.objects.filter(history__revision=long.current_id)
    taken = edits.filter(adds=False).exclude(state_after="").order_by("-tokens_before")[0]
    put = edits.filter(adds=True)[0]
    drop = Compaction.objects.filter(history__revision=long.current_id, mechanism="summary")[0].before_call or 0
    largest = Block.objects.filter(revision=long.current_id).select_related("body").order_by("-chars")[0]
    odd = Record.objects.filter(source__name="demo-broken.jsonl", verdict="invalid_json")[0]
    return {
        "long": long.public_id,
        "broken": broken.public_id,
        "drop": str(drop),
        "before": str(drop - 1),
        "next": str(long.call_count + 1),
        "edited": f"{taken.seq}.{taken.i}",
        "added": f"{put.seq}.{put.i}",
        "odd": str(odd.number),
        "digest": bytes(largest.body.digest).hex(),
        "job": Job.objects.order_by("pk")[0].public_id,
        "failed": "failedjob0001",
        "fact": item_key("facts", "fact-1"),
        "work": item_key("pending_items", "work-0"),
    }


def get(address: str) -> Any:
    response = Client().get(f"/api/v1{address}" if not address.startswith("/api/") else address)
    assert response.status_code == 200, (address, response.content)
    return response.json()


def page(address: str) -> Element:
    response = Client().get(address)
    assert response.status_code == 200, address
    return page_of(response.content.decode())


def twin_of(shown: Element) -> str:
    """The address of the link that people see."""
    (link,) = [link for link in shown.one("header", cls="topbar").all("a") if link.text == "JSON"]
    assert "hidden" not in link.attributes
    assert shown.one("head").all("link")[0] is not None
    return link.attributes["href"]


@pytest.mark.parametrize("visit", VISITS, ids=lambda visit: visit.pattern)
def test_the_twin_has_the_figures_of_the_page(visit: Visit, places: dict[str, str]) -> None:
    shown = page(visit.pattern.format(**places))
    address = twin_of(shown)
    twin = get(address)
    visit.check(shown, twin, get)
    if shown.all("nav", cls="tabs"):
        public_id = shown.one("nav", cls="tabs").one("a").attributes["href"].split("/")[2]
        session_pages.tabs(shown, get(f"/sessions/{public_id}"))


def test_no_page_is_left_out() -> None:
    places = dict.fromkeys(("long", "broken", "digest", "job", "failed", "fact", "work", "summary", "other"), "a" * 20) | dict.fromkeys(
        ("drop", "before", "next", "odd"), "1"
    )
    addresses = [visit.pattern.format(edited="1.1", added="1.1", **places) for visit in VISITS]
    without = [address.format(job="a", long="a") for address, _ in WITHOUT_HTML.values()]
    assert unreached_pages([*addresses, *without]) == set(), "give the new page an entry in CHECKS or WITHOUT_HTML"
    assert set(CHECKS) | set(WITHOUT_HTML) == page_names()
    assert {name_of(visit.pattern.format(edited="1.1", added="1.1", **places)) for visit in VISITS} == set(CHECKS)


@pytest.mark.parametrize("name", WITHOUT_HTML)
def test_an_address_without_a_page_of_its_own_says_so(name: str, places: dict[str, str]) -> None:
    address, status = WITHOUT_HTML[name]
    assert Client().get(address.format(**places)).status_code == status


def test_every_path_of_the_api_is_in_its_description_and_nothing_else_is() -> None:
    described = {
        path.removeprefix("/api/v1/"): {method.upper() for method in operations} for path, operations in get(DOCUMENT)["paths"].items()
    }
    assert described == api_routes()


def test_every_twin_answers_with_the_keys_that_its_description_promises(places: dict[str, str]) -> None:
    document = get(DOCUMENT)
    addresses = [twin_of(page(visit.pattern.format(**places))) for visit in VISITS]
    addresses += [pattern.format(**places) for pattern in MORE_TWINS]
    assert unreached_twins([*addresses, *FILES]) == set(), "give the new twin a page in CHECKS, or a line in MORE_TWINS"
    for address in dict.fromkeys(addresses):
        operation = document["paths"][f"/api/v1/{route_of(address)}"]["get"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert list(faults(get(address), schema, document)) == [], address


def test_a_key_that_is_missing_or_not_described_is_a_fault(places: dict[str, str]) -> None:
    document = get(DOCUMENT)
    schema = document["paths"]["/api/v1/sessions/{session_id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    answer = get(f"/sessions/{places['long']}")
    without = {name: value for name, value in answer.items() if name != "records"}
    assert list(faults(without, schema, document)) == ["answer.records: missing"]
    assert list(faults(answer | {"extra": 1}, schema, document)) == ["answer.extra: not described"]
    assert list(faults(answer | {"records": "1"}, schema, document)) == ["answer.records: str where integer is described"]
