"""The figures of a session's pages against those of their twins: each function holds one page against what `get` gives.

A page shows fewer rows at once than a twin, so its rows are the first of the twin's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.evidence.elements import Element, figure, figures

Get = Callable[[str], Any]
EMPTY = ""


def tabs(page: Element, session: Any) -> None:
    """The answers in the tabs and the figures of the header."""
    answers = {tab.text.removesuffix(tab.one(cls="ans").text): tab.one(cls="ans").text for tab in page.one("nav", cls="tabs").all("a")}
    drops = [session["recorded_compactions"], session["inferred_drops"]]
    odd = sum(count for verdict, count in session["verdicts"].items() if verdict not in ("ok", "blank"))
    assert figures(answers["Overview"]) == [count for count in drops if count]
    assert figures(answers["Messages"]) == [session["messages"]]
    assert figures(answers["Ledger"]) == [count for count in [session["removed_blocks"]] if count]
    assert figures(answers["Import"]) == [session["records"] - odd, session["records"]]
    calls, records, *_ = page.one(cls="meta").all("span")
    assert figure(calls.text) == session["model_calls"]
    assert figure(records.text) == session["records"]
    peak = next(span for span in page.one(cls="meta").all("span") if span.text.startswith("peak"))
    assert figure(peak.text) == session["peak_context"]


def close(shown: str, exact: float | None) -> bool:
    """Whether a share is written with its first decimal."""
    return figure(shown) is None if exact is None else abs(float(shown.replace("−", "-").replace(",", "")) - exact) <= 0.051


def overview(page: Element, twin: Any, get: Get) -> None:
    call, readout = twin["call"], page.one(id="readout")
    assert figure(readout.one(cls="big").text) == call["total"]
    categories = [row.cells for row in readout.all("table")[0].all("tbody")[0].all("tr")]
    assert [figure(tokens) for _, tokens, _ in categories] == [row["tokens"] for row in call["categories"]]
    assert all(close(cells[2], 100 * row["share"]) for cells, row in zip(categories, call["categories"], strict=True))
    assert sum(row["tokens"] for row in call["categories"]) == (call["reported"] or call["total"])
    largest = [row.cells for row in readout.one("table", cls="dense").one("tbody").all("tr")]
    assert [figure(tokens) for _, tokens in largest] == [block["estimate"] for block in call["largest"]]
    legend = [figure(part.text) for all_parts in _card(page, "became-title").all(cls="legend") for part in all_parts.all("b")]
    assert legend == [ending["tokens"] for ending in twin["became"]["endings"]]
    left = [figure(row.cells[1]) for row in _card(page, "became-title").all("tr") if "data-row" in row.attributes]
    assert left == [block["estimate"] for block in twin["became"]["largest"]]
    happened = [item for item in _card(page, "story-title").all("li") if "data-row" in item.attributes]
    assert len(happened) == len(twin["happenings"])


def _card(page: Element, title: str) -> Element:
    """The card whose heading has this id."""
    return next(card for card in page.all("section") if card.attributes.get("aria-labelledby") == title)


def overview_table(page: Element, twin: Any, get: Get) -> None:
    rows = [row.cells for row in page.one("table").one("tbody").all("tr") if "data-row" in row.attributes]
    assert rows
    for cells, call in zip(rows, twin["calls"], strict=False):
        assert (figure(cells[0]), figure(cells[1])) == (call["n"], call["prompt_tokens"])
    assert len(rows) == twin["total"] or page.all("tr", cls="more")


def messages(page: Element, twin: Any, get: Get) -> None:
    rows = page.all("tr", id=r"b\d+\.\d+")
    blocks = [(block, message) for message in twin["messages"] for block in message["blocks"]]
    assert rows
    assert len(rows) == twin["matching"] or page.all("tr", id="messages-more")
    for row, (block, message) in zip(rows, blocks, strict=False):
        _message_row(row, block, message)
    shown, total, *_ = figures(page.one("form", cls="filters").one(cls="grow").text)
    assert (shown, total) == (twin["matching"], twin["total"])


def _message_row(row: Element, block: Any, message: Any) -> None:
    cells, is_first = row.cells, block["block"] == message["blocks"][0]["block"]
    assert cells[0] == block["block"]
    assert figure(cells[4]) == block["tokens"]
    assert ("≈" in cells[4]) is not block["exact"]
    assert close(cells[5], block["share"])
    assert figure(cells[6]) == (message["call"] if is_first else None)
    usage = message["usage"] if is_first else None
    assert cells[7] == (f"{_written(usage['prompt_tokens'])} + {_written(usage['output_tokens'])}" if usage else EMPTY)


def _written(tokens: int | None) -> str:
    return "–" if tokens is None else f"{tokens:,}"


def view(page: Element, twin: Any, get: Get) -> None:
    rows = [row for row in page.all("tr", id=r"b\d+\.\d+") if "maybe" not in row.attributes.get("class", "")]
    assert len(rows) == twin["call"]["blocks"] or page.all("tr", id="view-more")
    for row, block in zip(rows, twin["blocks"], strict=False):
        cells = row.cells
        assert (cells[0], cells[3], figure(cells[4])) == (block["block"], block["state"], block["estimate"])
        assert close(cells[5], block["share"])
        assert figure(cells[6]) == block["from_call"]
        assert cells[7] == block["since"]
    _view_sums(page, twin)
    maybe = [(row.cells[0], figure(row.cells[4])) for row in page.all("tr", cls="maybe")]
    assert maybe == [(attachment["block"], attachment["estimate"]) for attachment in twin["attachments"]]


def _view_sums(page: Element, twin: Any) -> None:
    call, change, hidden = twin["call"], twin["change"], twin["hidden"]
    shown = next(line.text for line in page.all(cls="filters") if "blocks" in line.text)
    assert f"of {call['blocks']:,} blocks" in shown
    if change:
        chips = {chip.text.split()[0]: figure(chip.text) for chip in page.all("span", cls="chip")}
        assert chips.items() >= {name: change[name] for name in ("added", "changed", "unchanged", "left")}.items()
    *categories, total = [row.cells for row in page.one("table", cls="sizes").one("tbody").all("tr")]
    assert sum(figure(cells[-2]) or 0 for cells in categories) == figure(total[-2])
    expected = call["prompt_tokens"] if call["prompt_tokens"] is not None else call["estimate"] + (hidden["before_log"] or 0)
    assert figure(total[-2]) == expected
    unlogged = [figure(row.cells[4]) for row in page.all("tr") if row.cells[:1] == ["–"]]
    assert unlogged == [hidden["before_log"], *(part for part in (hidden["reattached"], hidden["drift"]) if part)]


def ghosts(page: Element, twin: Any, get: Get) -> None:
    rows = [(row.cells[0], figure(row.cells[4])) for row in page.all("tr", cls="ghost")]
    assert rows == [(ghost["block"]["block"], ghost["block"]["estimate"]) for ghost in twin["ghosts"][: len(rows)]]
    assert rows
    assert len(rows) == twin["total"] or page.all("tr", id="ghosts-more")


def ledger(page: Element, twin: Any, get: Get) -> None:
    edits = {edit["ordinal"]: edit for edit in twin["edits"]}
    assert len(edits) == twin["matching"], "give the walk a session whose edits are one window"
    for row in page.all("tr", id=r"e\d+"):
        edit, cells = edits[int(row.attributes["id"][1:])], row.cells
        since = None if edit["never_sent"] and edit["action"] != "spill" else edit["first_call"]  # of a spill the preview was sent
        assert (cells[0], figure(cells[4])) == (edit["block"], since)
        assert (figure(cells[5]), figure(cells[6])) == (edit["tokens_before"], edit["tokens_after"])
        assert (figure(cells[7]) or 0) == edit["tokens_after"] - edit["tokens_before"]
    matching, total, *_ = figures(page.one("form", cls="filters").one(cls="grow").text)
    assert (matching, total) == (twin["matching"], twin["total"])
    _layers(page, twin)
    _groups(page, get(f"/histories/{page.one(cls='tabs').one('a').attributes['href'].split('/')[2]}r")["compactions"], twin)


def _layers(page: Element, twin: Any) -> None:
    """What each layer did in all: edits and the tokens that left."""
    for line in (span for card in page.all("section", cls="layers") for span in card.inside if isinstance(span, Element)):
        name = line.one("b").text.replace(" ", "_")
        own = [edit for edit in twin["edits"] if edit["layer"] == name and edit["action"] == _action(line)]
        assert figures(line.text)[:2] == [len(own), sum(edit["tokens_before"] - edit["tokens_after"] for edit in own)]


def _action(line: Element) -> str:
    """The action of the tag in front of a line."""
    return next(cls.removeprefix("e-") for cls in line.one("span", cls="tag").attributes["class"].split() if cls.startswith("e-"))


def _groups(page: Element, compactions: Any, twin: Any) -> None:
    """Each compaction with its balance; what is listed and what is left to fetch are all its edits."""
    rows = {row["ordinal"]: row for row in compactions}
    shown = [body for body in page.all("tbody") if body.all("tr", cls="group")]
    assert shown
    for body in shown:
        row = rows[int(body.one("tr", cls="group").attributes["id"][1:])]
        matching = [edit for edit in twin["edits"] if edit["compaction"] == row["ordinal"]]
        left = sum(figure(line.text) or 0 for line in body.all("tr", cls="more"))
        assert len(body.all("tr", id=r"e\d+")) + left == len(matching)
        terms = [abs(figure(term.one("b").text) or 0) for term in body.one(cls="balance").all("span", cls="term")]
        sizes = row["reported"]
        if sizes:
            middle = [sizes[name] for name in ("entered", "removed", "added") if sizes[name]]
            assert terms == [sizes["before"], *middle, abs(sizes["change"]), sizes["after"]]
        else:
            assert terms == [row[name] for name in ("estimate_before", "removed", "added", "estimate_after")]


def fate(page: Element, twin: Any, get: Get) -> None:
    block, told = twin["block"], facts(page)
    assert figures(told["tokens"]) == [block["tokens"], block["estimate"]]
    assert figures(told["sent"]) == [twin["sent"], twin["sent_tokens"]]
    assert figure(told["record"]) == twin["line"]
    assert close(told["share of its first call"].rstrip(" %"), block["share"])
    assert told["text, sha-256"] == block["body"]
    events = page.one("ol", cls="story").all("li", id=r"e\d+")
    assert [int(event.attributes["id"][1:]) for event in events] == [edit["ordinal"] for edit in twin["edits"]]
    for event, edit in zip(events, twin["edits"], strict=True):
        tokens = [edit["tokens_after"]] if edit["adds"] else [edit["tokens_before"], edit["tokens_after"]]
        assert all(f"{count:,}" in event.text for count in tokens)
        assert figure(event.text) == edit["before_call"]
    assert len(page.all("tr", id=r"b\d+\.\d+")) >= len(twin["carried_by"]) + len(twin["same_file"]["blocks"][:1])
    if page.all("section", id="file"):
        listed, total, in_all = figures(page.one("section", id="file").one(cls="sub").text.rpartition("·")[2])
        assert (total, in_all) == (twin["same_file"]["total"], twin["same_file"]["tokens"])
        assert listed == len(page.one("section", id="file").all("tr", id=r"b\d+\.\d+"))


def facts(page: Element) -> dict[str, str]:
    """The terms of all definition lists with what stands behind each."""
    found: dict[str, str] = {}
    for listed in page.all("dl", cls="kv"):
        parts = [part for part in listed.inside if isinstance(part, Element)]
        found |= {name.text: value.text for name, value in zip(parts[::2], parts[1::2], strict=True)}
    return found
