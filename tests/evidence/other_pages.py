"""The figures of the other pages against those of their twins: sessions, search, import report, record, text, jobs, settings."""

from __future__ import annotations

from typing import Any

from tests.evidence.elements import Element, figure, figures
from tests.evidence.session_pages import Get, facts


def sessions(page: Element, twin: Any, get: Get) -> None:
    rows = [row for row in page.one("table", cls="sessions").one("tbody").all("tr") if "data-row" in row.attributes]
    told = [each for group in twin["groups"] for each in (group["session"], *group["lanes"])]
    assert [row.one("a").attributes["href"].split("/")[2] for row in rows] == [each["id"] for each in told]
    for row, each in zip(rows, told, strict=True):
        cells = row.cells
        assert (figure(cells[5]), figure(cells[6]), figure(cells[10])) == (each["calls"], each["peak_context"], each["removed_blocks"])
        marks = [figure(mark.text) for mark in row.all("a", cls="mark-link")]
        sources = [each["sources"]["count"]] if each["sources"] else []
        assert marks == [*(mark["count"] for mark in each["compactions"]), *sources]
    assert figure(page.one("title").text) == twin["total"]


def search(page: Element, twin: Any, get: Get) -> None:
    assert figure(page.one("h1", cls="answer").text) == twin["found"] > 0
    for card, group in zip(page.all("section", cls="card"), twin["groups"], strict=True):
        hits = [row.cells[0] for row in card.one("tbody").all("tr")]
        assert hits == [f"{hit['seq']}.{hit['i']}" for hit in group["hits"]]
        more = card.all(cls="tools")
        assert (figure(more[0].text) if more else 0) == group["more"]
    assert sum(len(group["hits"]) + group["more"] for group in twin["groups"]) == twin["found"]


def report(page: Element, twin: Any, get: Get) -> None:
    every, *verdicts = page.one(cls="filters").all("a", cls="chip")
    assert figure(every.text) == figure(page.one("p", cls="answer").text) == twin["records"]
    shown = {chip.text.split()[0]: figure(chip.one("b").text) for chip in verdicts}
    assert shown == {verdict: count for verdict, count in twin["verdicts"].items() if count}
    assert sum(count or 0 for count in shown.values()) == twin["records"]
    told = facts(page)
    assert figures(told["size"])[0] == twin["source"]["size"]
    assert told["sha-256"] == twin["source"]["sha256"]
    assert figure(told["records of this lane"]) == twin["lane_records"]
    assert figure(told.get("folded into messages", "0")) == max(twin["folded"], 0)
    for name, counts in (("Types that are not known", twin["unknown_types"]), ("Odd in records", twin["flags"])):
        card = [card for card in page.all("section", cls="card") if card.all("h2") and card.one("h2").text == name]
        assert [figure(count.text) for part in card for count in part.all("dd")] == list(counts.values())
    _findings(page, twin)
    verdict = next((chip.text.split()[0] for chip in verdicts if "aria-current" in chip.attributes), "")
    public_id = page.one("nav", cls="tabs").one("a").attributes["href"].split("/")[2]
    _records(page, get(f"/sessions/{public_id}/records?verdict={verdict}"))


def _findings(page: Element, twin: Any) -> None:
    card = [card for card in page.all("section", cls="card") if card.all("h2") and card.one("h2").text == "Findings"]
    shown = figures(card[0].one(cls="sub").text) if card else [0, 0]
    assert shown == [len(twin["findings"]), twin["findings_total"]]


def _records(page: Element, window: Any) -> None:
    rows = page.all("tr", id=r"r\d+")
    assert rows
    assert len(rows) == window["matching"] or page.all("tr", id="records-more")
    for row, told in zip(rows, window["records"], strict=False):
        cells = row.cells
        numbers = [figure(cells[i]) for i in (0, 1, 4, 5, 7)]
        assert numbers == [told[name] for name in ("number", "line", "offset", "length", "seq")]
        assert cells[2] == told["verdict"]


def record(page: Element, twin: Any, get: Get) -> None:
    place = page.one("p", cls="answer").text
    assert place.startswith(f"Record {twin['number']:,}: {twin['verdict']}")
    assert place.endswith(f"; line {twin['line']:,}, bytes {twin['offset']:,} to {twin['end']:,} of the stream.")
    assert page.one(cls="sub").text == f"{twin['length']:,} bytes, sha-256 {twin['digest']}"


def body(page: Element, twin: Any, get: Get) -> None:
    answer = page.one("p", cls="answer").text
    assert f"A text of {twin['chars']:,} characters" in answer
    assert all(f"{count['tokens']:,} tokens under {count['encoding']}" in answer for count in twin["counts"])
    assert all(f"block {block}" in answer for block in twin["blocks"])
    assert page.one(cls="sub").text.endswith(f"characters {twin['start']:,}–{twin['end']:,} of {twin['chars']:,}")


def jobs(page: Element, twin: Any, get: Get) -> None:
    every, *states = page.one(cls="filters").all("a", cls="chip")
    assert figure(every.text) == twin["total"]
    assert {chip.text.split()[0]: figure(chip.text) for chip in states} == {name: n for name, n in twin["states"].items() if n}
    rows = page.all("tr", id=r"j.+")
    assert [row.attributes["id"][1:] for row in rows] == [job["id"] for job in twin["jobs"]]
    for row, job in zip(rows, twin["jobs"], strict=True):
        assert job["state"] in row.cells[1]
        assert figures(row.cells[4]) == progress(job)
        assert figure(row.cells[7]) == job["attempts"]
    matching, total, shown = figures(page.one(cls="filters").one(cls="grow").text)
    assert (matching, total, shown) == (twin["matching"], twin["total"], len(twin["jobs"]))


def progress(job: Any) -> list[int]:
    """What a job has come to: its outcome once it has one, else how far it is."""
    if job["sessions_found"]:
        return [job["sessions_found"], job["records_read"]]
    if job["state"] == "succeeded":
        return []
    if job["total"]:
        return [job["done"], job["total"]]
    return [job["done"]] if job["done"] else []


def job(page: Element, twin: Any, get: Get) -> None:
    told = facts(page)
    assert told["id"] == twin["id"]
    assert figures(told.get("outcome", told.get("progress", ""))) == progress(twin)
    assert figure(told["starts"]) == twin["attempts"]
    log = next(card for card in page.all("section", cls="card") if card.one("h2").text == "Log")
    assert figure(log.one(cls="sub").text) == len(twin["log"])
    assert twin["state"] in page.one(cls="tools").text
    summary = twin["summary"]
    found = [summary["session"], summary["checkpoint"]] if summary else twin["sessions"]
    assert [link.text for link in page.one("dl", cls="kv").all("a")] == found
    assert not twin["error"] or twin["error"]["message"] in page.one(cls="err").text


def settings(page: Element, twin: Any, get: Get) -> None:
    assert figures(page.one("h1", cls="answer").text)[-3:] == [twin["sessions"], twin["sources"], twin["bodies"]]
    *checks, last = _rows(page, "health")
    assert [cells[0] for cells in checks] == [check["name"] for check in twin["checks"]]
    assert all(cells[2].startswith(check["found"]) for cells, check in zip(checks, twin["checks"], strict=True))
    assert figures(last[2])[-1] == twin["waiting"]
    counted = [(cells[0], figure(cells[1]), figure(cells[2])) for cells in _rows(page, "tokenizers")]
    assert counted == [(each["encoding"], each["texts"], each["in_pieces"]) for each in twin["tokenizers"]]
    assert [(cells[0], figure(cells[1])) for cells in _rows(page, "limits")] == [(each["name"], each["value"]) for each in twin["limits"]]
    access = get("/api/v1/model-access")
    assert [cells[0] for cells in _rows(page, "models")] == [row["label"] for row in access["summarizers"]]
    caps = [row.cells for row in page.one("section", id="models").all("tbody")[1].all("tr")]
    assert [cells[3] for cells in caps] == [cap["variable"] for cap in access["caps"]]
    assert [cells[1] for cells in caps] == [f"${cap['cap'] / 1e9:,.4f}" for cap in access["caps"]]
    folders = [(cells[0], figure(cells[1]), cells[3]) for cells in _rows(page, "folders")]
    assert folders == [(each["name"], each["files"], each["path"]) for each in twin["folders"]]


def _rows(page: Element, card: str) -> list[list[str]]:
    return [row.cells for row in page.one("section", id=card).one("tbody").all("tr")]
