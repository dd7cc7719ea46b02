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


def units(page: Element, twin: Any, get: Get) -> None:
    """Every ratio by kind of text, the prompt in every unit, and each breach of a provider's rules."""
    groups = [cell.text.split()[0] for cell in page.one("section", id="deviation").one("thead").all("th")[1:]]
    shown = {}
    for row in page.one("section", id="deviation").one("tbody").all("tr"):
        title, *cells = (cell.text for cell in row.all("td"))
        shown.update({(title.strip(), group): cell.split()[0] for group, cell in zip(groups, cells, strict=True)})
    told = {(each["title"], each["group"]): f"{each['median']:.2f}" for each in twin["deviations"]}
    assert {ratio for ratio in shown.values() if ratio != "–"} == set(told.values())
    for (title, group), ratio in told.items():
        assert ratio in [found for (name, of), found in shown.items() if of == group and name.startswith(title)]
    for row, unit in zip(page.one("section", id="meter").one("tbody").all("tr"), twin["measured"], strict=True):
        assert figure(row.cells[1]) == unit["messages"]
    for rules in twin["rules"]:
        section = page.one("section", id=f"rules-{rules['rules']}")
        rows = section.one("tbody").all("tr") if rules["told"] else []
        assert [figure(row.cells[0]) for row in rows] == [each["call"] for each in rules["told"]]
