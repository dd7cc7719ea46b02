"""What real sessions show: the prompts that others have counted, the plain step-by-step fold, balances that add up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from compaction.transcript import Event
from ctxweb.importers.claude_code import IMPORTER
from ctxweb.importers.physical import ReadLimits, read_records
from ctxweb.models import Block, Compaction, Finding, History, Session, Span
from tests.evidence.elements import Element, figure, figures, page_of
from tests.evidence.homes import demo_file, imported, shared_home
from tests.oracle import Seen, plain_views
from tests.shared import SHARED, needs_shared
from tests.view_oracles import ORACLES

pytestmark = [needs_shared, pytest.mark.django_db]
EVERY_CALL = (
    "codemie-ai__codemie-code__conv-c3a574c5", "entireio__cli__8c-fa910f8ef9-5", "entireio__cli__b0-dc55b3a1dc-1",
    "entireio__cli__fc-99c919b212-0",
)  # fmt: skip
SAMPLED = 7  # of the other sessions every so many calls, and the calls beside each compaction
BROKEN = "demo-broken"
WINDOW = 150  # rows of one answer of the API, so that a view takes several


@pytest.fixture(scope="module")
def sessions(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    """The sessions by the name of their file, all in one home, and one that breaks the tool protocol."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("real")):
        with django_db_blocker.unblock():
            made = {name: imported(name=f"{name}.jsonl", data=_file(name).read_bytes()) for name in ORACLES}
            made[BROKEN] = imported(name=f"{BROKEN}.jsonl", data=demo_file("broken"))
        yield made


def _file(name: str) -> Path:
    return SHARED / "corpus" / "claude_code" / f"{name}.jsonl"


def get(address: str) -> Any:
    response = Client().get(f"/api/v1{address}")
    assert response.status_code == 200, response.content
    return response.json()


def paged(address: str, rows: str) -> list[Any]:
    """All rows of a twin, window by window."""
    found: list[Any] = []
    after: str | None = ""
    while after is not None:
        window = get(f"{address}?limit={WINDOW}&after={after}")
        found, after = found + window[rows], window["next"]
    return found


def page(address: str) -> Element:
    response = Client().get(address)
    assert response.status_code == 200
    return page_of(response.content.decode())


@pytest.mark.parametrize("name", ORACLES)
def test_the_prompt_of_a_call_holds_the_tool_calls_that_a_plain_count_of_the_file_finds(name: str, sessions: dict[str, Session]) -> None:
    public_id = sessions[name].public_id
    for oracle in ORACLES[name].split(" · "):
        place, _, counts = oracle.partition(": ")
        n, line = map(int, place.split("@"))
        blocks = paged(f"/histories/{public_id}r/calls/{n}/view", "blocks")
        ids = {kind: {block["tool_id"] for block in blocks if block["kind"] == kind} for kind in ("tool_use", "tool_result")}
        cleared = {block["tool_id"] for block in blocks if block["state"] == "cleared"}
        call = get(f"/histories/{public_id}r/calls/{n}/view?limit=1")["call"]
        assert call["line"] == line
        assert (len(ids["tool_use"]), len(ids["tool_result"]), len(cleared)) == (*map(int, counts.split("/")), 0, 0)[:3], oracle
        assert len(blocks) == call["blocks"]
        assert sum(block["estimate"] for block in blocks) == call["estimate"]


@cache
def plain(name: str) -> dict[int, list[Seen]]:
    """The view at each call by the plain fold, from the events that the importer makes of the file."""
    return dict(plain_views(_events(name)))


def _events(name: str) -> Iterator[Event]:
    reader = IMPORTER.reader()
    with _file(name).open("rb") as stream:
        for record in read_records(stream, limits=ReadLimits(), layout="lines", looks_like_record=IMPORTER.looks_like_record):
            reader.feed(record)
    return iter(max(reader.lanes(), key=lambda lane: len(lane.record_numbers)).events)


def stored(session: Session, n: int) -> list[Span]:
    """The view at call `n`, from the stored spans alone."""
    history = History.objects.get(revision=session.current_id)
    return list(Span.objects.filter(history=history, from_call__lte=n, to_call__gt=n).order_by("position"))


def some_calls(session: Session) -> list[int]:
    """Every so many calls, the first, the last, and those before and behind each compaction."""
    compactions = Compaction.objects.filter(history__revision=session.current_id)
    beside = [row.before_call + step for row in compactions if row.before_call is not None for step in (-1, 0)]
    wanted = {*range(1, session.call_count + 1, SAMPLED), session.call_count, *beside}
    return sorted(n for n in wanted if 1 <= n <= session.call_count)


@pytest.mark.parametrize("name", ORACLES)
def test_the_view_from_stored_spans_is_that_of_the_plain_step_by_step_fold(name: str, sessions: dict[str, Session]) -> None:
    session = sessions[name]
    calls = range(1, session.call_count + 1) if name in EVERY_CALL else some_calls(session)
    assert len(plain(name)) == session.call_count
    for n in calls:
        seen = [((span.seq, span.i), span.state, None if span.body is None else bytes(span.body)) for span in stored(session, n)]
        assert seen == [(tuple(block), state, digest) for block, state, digest in plain(name)[n]], f"call {n}"


@pytest.mark.parametrize("name", ORACLES)
def test_the_view_that_the_api_gives_is_that_of_the_plain_step_by_step_fold(name: str, sessions: dict[str, Session]) -> None:
    session = sessions[name]
    for n in some_calls(session)[:: 1 if name in EVERY_CALL else 4]:
        blocks = paged(f"/histories/{session.public_id}r/calls/{n}/view", "blocks")
        seen = [(block["block"], block["state"], block["body"]) for block in blocks]
        assert seen == [(str(block), state, digest and digest.hex()) for block, state, digest in plain(name)[n]], f"call {n}"


def results_without_use(session: Session, calls: Iterable[int]) -> dict[int, set[str]]:
    """Of each call with such: the blocks of results in its view whose tool call is not in it."""
    tools = Block.objects.filter(revision=session.current_id, kind__in=("tool_use", "tool_result"))
    kinds = {(seq, i): (kind, tool) for seq, i, kind, tool in tools.values_list("seq", "i", "kind", "tool_id")}
    found: dict[int, set[str]] = {}
    for n in calls:
        view = [(f"{span.seq}.{span.i}", *kinds.get((span.seq, span.i), ("", ""))) for span in stored(session, n)]
        uses = {tool for _, kind, tool in view if kind == "tool_use"}
        orphans = {block for block, kind, tool in view if kind == "tool_result" and tool not in uses}
        found |= {n: orphans} if orphans else {}
    return found


@pytest.mark.parametrize("name", [*ORACLES, BROKEN])
def test_a_result_has_its_call_in_the_prompt_or_the_page_says_that_the_file_broke_it(name: str, sessions: dict[str, Session]) -> None:
    session = sessions[name]
    said = {row.detail.split()[0] for row in Finding.objects.filter(revision=session.current_id, code="orphan_result")}
    calls = range(1, session.call_count + 1) if name in (*EVERY_CALL, BROKEN) else some_calls(session)
    broken = results_without_use(session, calls)
    assert {block for found in broken.values() for block in found} <= said
    assert broken or name != BROKEN
    for n, found in broken.items():
        _page_says(session, n, found)


def _page_says(session: Session, n: int, orphans: set[str]) -> None:
    shown = page(f"/s/{session.public_id}/view/{n}")
    assert "The prompt breaks the tool protocol" in shown.text
    marked = {row.attributes["id"].removeprefix("b") for row in shown.all("tr", id=r"b\d+\.\d+") if "orphan result" in row.text}
    twin = paged(f"/histories/{session.public_id}r/calls/{n}/view", "blocks")
    assert orphans <= marked
    assert orphans <= {block["block"] for block in twin if "orphan_result" in block["findings"]}


@pytest.mark.parametrize("name", [*ORACLES, BROKEN])
def test_the_estimates_of_each_stored_compaction_balance_and_are_the_sums_of_its_edits(name: str, sessions: dict[str, Session]) -> None:
    for row in Compaction.objects.filter(history__revision=sessions[name].current_id):
        assert row.estimate_before - row.removed + row.added == row.estimate_after, row
        edits = list(row.entries.all())
        assert row.removed == sum(edit.tokens_before - edit.tokens_after for edit in edits if not edit.adds), row
        assert row.added == sum(edit.tokens_after for edit in edits if edit.adds), row
        assert row.edits == sum(not edit.adds for edit in edits), row


@pytest.mark.parametrize("name", ORACLES)
def test_the_reported_sizes_of_each_compaction_add_up_exactly_with_the_change_in_unexplained(
    name: str, sessions: dict[str, Session]
) -> None:
    public_id = sessions[name].public_id
    calls = {call["n"]: call for call in paged(f"/sessions/{public_id}/calls", "calls")}
    rows = {row["ordinal"]: row for row in paged(f"/histories/{public_id}r", "compactions")}
    for row in rows.values():
        assert row["estimate_before"] - row["removed"] + row["added"] == row["estimate_after"]
        if row["reported"]:
            _adds_up(row, calls)
    told = {row["before_call"] for row in rows.values() if row["before_call"] and not row["detached"]}
    assert {row["before_call"] for row in rows.values() if row["reported"]} >= told
    shown = dict(_balances(public_id))
    assert set(shown) == set(rows)
    for ordinal, terms in shown.items():
        _same_balance(terms, rows[ordinal])


def _adds_up(row: dict[str, Any], calls: dict[int, dict[str, Any]]) -> None:
    """The terms give the size after; both sizes and the change are those of the two calls."""
    sizes, after = row["reported"], calls[row["before_call"]]
    before = calls[after["previous"]]
    assert sizes["before"] + sizes["entered"] - sizes["removed"] + sizes["added"] + sizes["change"] == sizes["after"]
    assert (sizes["before"], sizes["after"]) == (before["prompt_tokens"], after["prompt_tokens"])
    assert sizes["change"] == after["unexplained"] - before["unexplained"]
    assert before["estimate"] + sizes["entered"] - sizes["removed"] + sizes["added"] == after["estimate"]


def _balances(public_id: str) -> Iterator[tuple[int, list[tuple[str, str, int]]]]:
    """(ordinal, [(word, sign, figure)]) of each balance line of the ledger's pages; the estimates' own line follows it."""
    address: str | None = f"/s/{public_id}/ledger"
    while address is not None:
        shown = page(address)
        for group in shown.all("tr", cls="group"):
            terms = [term for line in group.all(cls="balance") for term in _terms(line)]
            terms += [("estimates", "", found) for line in group.all(cls="estimates") for found in figures(line.text)]
            yield int(group.attributes["id"].removeprefix("c")), terms
        more = shown.all("tr", id="ledger-more")
        address = more[0].one("a").attributes["href"] if more else None


def _terms(line: Element) -> Iterator[tuple[str, str, int]]:
    sign = ""
    for part in line.inside:
        if isinstance(part, Element) and "sign" in part.attributes.get("class", ""):
            sign = part.text
        elif isinstance(part, Element) and "term" in part.attributes.get("class", ""):
            yield part.one("small").text, sign, figure(part.one("b").text) or 0
            sign = ""


def _same_balance(terms: list[tuple[str, str, int]], row: dict[str, Any]) -> None:
    """What the page writes adds up as it is written, and its figures are those of the twin."""
    line, own = [term for term in terms if term[0] != "estimates"], [term[2] for term in terms if term[0] == "estimates"]
    total = sum(-tokens if sign == "−" else tokens for _, sign, tokens in line[:-1])
    assert (line[-1][1], line[-1][2]) == ("=", total)
    shown = {word: -tokens if sign == "−" and word.startswith("change") else tokens for word, sign, tokens in line}
    estimates = [row["estimate_before"], row["removed"], row["added"], row["estimate_after"]]
    if row["reported"] is None:
        assert list(shown.values()) == estimates
        return
    sizes = row["reported"]
    words = {"before, reported": "before", "came": "entered", "removed": "removed", "added": "added",
             "change in unexplained": "change", "after, reported": "after"}  # fmt: skip
    assert {word: shown.get(word, 0) for word in words} == {word: sizes[name] for word, name in words.items()}
    assert own in ([], estimates)
