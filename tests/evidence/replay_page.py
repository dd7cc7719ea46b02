"""The replay page against its twin: every figure of the layers, the balances, what fired and what was left."""

from __future__ import annotations

from typing import Any

from tests.evidence.elements import Element, figure, figures
from tests.evidence.session_pages import Get


def replay(page: Element, twin: Any, get: Get) -> None:
    """One replay: its balance holds in both units, and the page shows the figures of the twin."""
    _balance(twin)
    card = page.one("section", id="by-layer")
    for row, layer in zip(card.one("table").one("tbody").all("tr"), twin["layers"], strict=True):
        cells = row.cells
        assert [figure(cell) or 0 for cell in cells[2:6]] == [layer["ran"], layer["edits"], layer["own"], layer["exact"]], layer["layer"]
    for balance, unit in zip(card.all("div", cls="balance"), ("own", "exact") if twin["unit"] != "exact" else ("own",), strict=True):
        shown = [figure(term.one("b").text) for term in balance.all("span", cls="term")]
        taken = [abs(layer[unit]) for layer in twin["layers"] if layer["edits"]]
        assert shown == [twin["arrived"][unit], *taken, twin["last"][unit]]
    rows = page.one("section", id="firings").one("tbody").all("tr") if twin["told"] else []
    for row, told in zip(rows, twin["told"], strict=True):
        sizes = [told["before"]["own"], told["after"]["own"], told["before"]["exact"], told["after"]["exact"]]
        assert [figure(cell) for cell in row.cells[2:]] == sizes
        assert figure(row.cells[0]) == told["call"]
    left = page.one("section", id="artifacts").one("tbody").all("tr") if twin["artifacts"] else []
    assert [row.one("code").attributes["title"] for row in left] == [each["pointer"] for each in twin["artifacts"]]
    fired = figures(page.one("p", cls="answer").one("b").text.partition(" ")[2])
    assert (twin["firings"] == 0) or fired[0] == twin["firings"]


def _balance(twin: Any) -> None:
    """What arrived − what each layer took = the view of the last call; and within each layer of each firing."""
    for unit in ("own", "exact"):
        assert twin["arrived"][unit] - sum(layer[unit] for layer in twin["layers"]) == twin["last"][unit]
        for told in twin["told"]:
            steps = [run[f"{unit}_before"] - run[f"{unit}_after"] for run in told["runs"]]
            assert told["before"][unit] - sum(steps) == told["after"][unit]
