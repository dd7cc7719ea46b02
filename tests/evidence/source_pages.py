"""The figures of the pages of sources and of the audit against those of their twins."""

from __future__ import annotations

from typing import Any

from tests.evidence.elements import Element, figure, figures
from tests.evidence.session_pages import Get

WORDS = {"not checked": "unchecked", "changed since confirmed": "changed"}
CARDS = {
    "Facts": ("facts", "content"),
    "Pending": ("pending_items", "description"),
    "Retrieval evidence": ("retrieval_evidence", "source_title"),
}


def sources(page: Element, twin: Any, get: Get) -> None:
    if not twin["version"]:
        assert page.one("section", cls="state").one("h3").text == "No fact is kept for this session"
        return
    shown = _statuses(page)
    assert {name: count for name, count in shown.items() if name != "changed"} == {name: n for name, n in twin["sources"].items() if n}
    assert figures(page.one(cls="answer").text)[:2] == [twin["sources"]["available"], sum(twin["sources"].values())]
    assert figure(page.one(cls="grow").all("a")[0].text) == twin["version"]
    told = {item["source"]["pointer"]: item["source"] for name in ("facts", "pending_items") for item in twin[name]}
    assert shown.get("changed", 0) == sum(source["changed"] is True and source["status"] == "available" for source in told.values())
    for card in page.all("section", cls="card"):
        title = card.one("h2").text if card.all("h2") else ""
        if title in CARDS:
            _items(card, twin[CARDS[title][0]], CARDS[title][1])
    waiting = [
        figure(card.one(cls="sub").text)
        for card in page.all("section")
        if card.all("h2") and card.one("h2").text in ("Candidates", "Conflicts")
    ]
    assert waiting == [len(twin[name]) for name in ("conflicts", "candidates") if twin[name]]


def _items(card: Element, told: Any, text: str) -> None:
    assert figures(card.one(cls="sub").text)[-1] == len(told)
    for row in (row for row in card.one("tbody").all("tr") if "data-row" in row.attributes):
        cells = row.cells
        item = told[(figure(cells[0]) or 0) - 1]
        assert item[text] in cells[2]
        source = item["source"]
        assert (source["status"] or "not looked at yet" if source else "not a pointer") in cells[1]
        assert cells[4] == ((source and source["digest"]) or "–")[:8]


def _statuses(page: Element) -> dict[str, int | None]:
    links = page.one(cls="filters").all("a", cls="status-link")
    return {WORDS.get(link.one(cls="tag").text, link.one(cls="tag").text): figure(link.one("b").text) for link in links}


def form(page: Element, twin: Any, get: Get) -> None:
    (version,) = [field for field in page.all("input") if field.attributes.get("name") == "version"]
    assert int(version.attributes["value"]) == twin["version"]
    assert figure(page.one("form", cls="card").one(cls="acts").text.split("version after")[-1]) == twin["version"]


def preview(page: Element, twin: Any, get: Get) -> None:
    assert figures(page.one("p", cls="answer").text)[0] == twin["tokens"]
    assert twin["chars"] in figures(page.one("p", cls="answer").text)
    shown = {mark.one(cls="tag").text: figure(mark.one("b").text) for mark in page.one(cls="filters").all(cls="status-link")}
    assert shown == twin["statuses"]
    assert page.one("pre").text == " ".join(twin["text"].split())


def versions(page: Element, twin: Any, get: Get) -> None:
    rows = [row.cells for row in page.one("tbody").all("tr")]
    told = [[f"{each['number']}", each["author"], each["origin"], each["sha256"][:12]] for each in twin["versions"]]
    assert [[cells[0], cells[2], cells[3], cells[5]] for cells in rows] == told


def version(page: Element, twin: Any, get: Get) -> None:
    answer = page.one("p", cls="answer").text
    counts = [sum(one["change"] == word for one in twin["changes"]) for word in ("added", "changed", "removed")]
    assert figures(answer.split("against")[1].split(".")[0])[1 if twin["before"] else 0 :] == [count for count in counts if count]
    rows = [row.cells for row in page.one("tbody").all("tr") if "data-row" in row.attributes]
    assert rows
    for cells, one in zip(rows, twin["changes"], strict=False):
        assert cells[0] == one["change"]
        assert one["id"] in cells[1]


def audit(page: Element, twin: Any, get: Get) -> None:
    shown = _statuses(page)
    assert shown == {name: count for name, count in (twin["statuses"] | {"changed": twin["changed"]}).items() if count}
    assert figures(page.one("h1").text)[:2] == [twin["statuses"]["available"], twin["total"]]
    assert figure(page.one("section", id="sources").one(cls="sub").text) == twin["matching"]
    rows = [row for row in page.one("section", id="sources").one("tbody").all("tr") if "data-row" in row.attributes]
    for row, source in zip(rows, twin["sources"], strict=False):
        cells = row.cells
        assert source["status"].replace("unchecked", "not checked") in cells[0]
        assert ("changed" in cells[0]) == source["changed"]
        assert row.one("a").attributes["title"] == source["pointer"]
        assert (cells[3], cells[4]) == ((source["digest"] or "–")[:8], source["actor"] or "")
    chain = get("/audit/chain")
    assert figure(page.one("section", id="chain").one(cls="tag").text) == chain["count"]
    signed = get("/audit?status=signed_off")["entries"]
    assert [item.one("b").text for item in page.one("ol", cls="signed").all("li")] == [entry["actor"] for entry in signed]


def entries(page: Element, twin: Any, get: Get) -> None:
    assert figure(page.one("h1").text) == twin["total"]
    rows = [row.cells for row in page.one("tbody").all("tr") if "data-row" in row.attributes]
    assert rows
    for cells, entry in zip(rows, twin["entries"], strict=False):
        assert figure(cells[0]) == entry["seq"]
        assert entry["status"].replace("_", " ") in cells[2]
        assert (cells[5], cells[6], cells[7]) == (entry["digest"][:8], entry["actor"], entry["hash"][:8])
        assert not entry["note"] or entry["note"] in cells[3]


def drift(page: Element, twin: Any, get: Get) -> None:
    assert figures(page.one("h1").text)[-1] == twin["compared"]
    assert figure(page.one(cls="grow").text) == len(twin["rows"])
    shown = {figure(row.cells[6]) for row in page.one("tbody").all("tr") if "data-row" in row.attributes}
    assert shown <= {row["entry"] for row in twin["rows"]}
    assert shown
