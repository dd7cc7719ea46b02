"""The figures of the pages of checkpoints against those of their twins."""

from __future__ import annotations

from typing import Any

from tests.evidence.elements import Element, figure, figures
from tests.evidence.session_pages import Get, close, facts


def checkpoints(page: Element, twin: Any, get: Get) -> None:
    rows = page.all("tr", id=r"cm?\d+")
    assert len(rows) == len(twin["checkpoints"]) == twin["total"]
    if not rows:
        assert page.one("section", cls="state").one("h3").text == "Nothing was summarised"
    for row, one in zip(rows, twin["checkpoints"], strict=True):
        cells, kept = row.cells, one["retention"]
        assert cells[0] == one["key"]
        assert cells[2].startswith(_calls(one) if one["blocks"] else "not in this file")
        assert figure(cells[7]) == (one["blocks"] or None)
        assert figure(cells[8]) == (one["range_tokens"] if one["range_tokens"] is not None else (kept or {}).get("range_tokens"))
        assert figure(cells[9]) == one["tokens"]
        assert figures(cells[11]) == [size for size in (one["size_before"], one["size_after"]) if size is not None]
        if kept is not None:
            sums = {outcome: sum(count[outcome] for count in kept["counts"].values()) for outcome in ("kept", "changed", "lost")}
            assert figures(cells[3]) == [sums["kept"], sum(sums.values())]
            assert [figure(cells[5]), figure(cells[6])] == [sums["changed"], sums["lost"]]
            assert close(cells[10], 100 * one["tokens"] / figure(cells[8])) if one["tokens"] and figure(cells[8]) else True
    chain = twin["chain"]
    assert bool(page.all("section", id="chain")) is (chain is not None)
    if chain is not None:
        _chain(page.one("section", id="chain"), chain)


def _calls(one: Any) -> str:
    first, last = one["from_call"], one["to_call"]
    return f"call {last:,}" if first == last else f"calls {first:,}–{last:,}"


def _chain(card: Element, chain: Any) -> None:
    total, lost = figures(card.one(cls="sub").text)[:1] + figures(card.one(cls="sub").text)[-1:]
    assert total == chain["total"]
    if len(chain["items"]) == chain["total"]:
        assert lost == sum(item["cells"][-1] == "lost" for item in chain["items"])
    assert [figures(cell) for cell in card.one("tr", cls="sub").cells[2:-1]] == [[one["kept"], one["said"]] for one in chain["kept"]]
    rows = [row.cells for row in card.one("tbody").all("tr") if "data-row" in row.attributes]
    assert len(rows) == min(chain["total"], len(rows))
    for cells, item in zip(rows, chain["items"], strict=False):
        assert cells[2:-1] == [cell or "–" for cell in item["cells"]]


def checkpoint(page: Element, twin: Any, get: Get) -> None:
    told = facts(page)
    assert figure(told["tokens of the checkpoint"]) == twin["tokens"]
    if twin["blocks"]:
        assert told["range"] == f"{_calls(twin)}, {twin['blocks']:,} block{'' if twin['blocks'] == 1 else 's'}"
    text = page.one("section", id="text")
    lines, chars = figures(text.one(cls="sub").text)[-2:] if twin["chars"] else (0, 0)
    assert (lines, chars) == ((twin["text"].count("\n") + 1, twin["chars"]) if twin["chars"] else (0, 0))
    kept = twin["retention"]
    if kept and twin["total"]:
        _retention(page, twin, kept)
    for name, card in (("objections", "objections"), ("claims", "claims"), ("doubts", "doubts")):
        shown = [item for found in page.all("section", id=card) for item in found.all("li")]
        assert len(shown) == min(len(twin[name]), 30)
    contradictions = [item for found in page.all("section", id="contradictions") for item in found.all("li")]
    assert len(contradictions) == len(twin["durable"]["contradictions"])
    assert [row.cells[0] for found in page.all("section", id="canaries") for row in found.one("tbody").all("tr")] == [
        canary["outcome"] for canary in twin["canaries"]
    ]
    shares = [chip.text for found in page.all("div", id="canary-shares") for chip in found.all(cls="chip")]
    assert shares == [f"{kind} {share * 100:.0f} %" for kind, share in twin["canary_shares"].items()]


def _retention(page: Element, twin: Any, kept: Any) -> None:
    kinds = [row.cells for row in page.one("table", cls="kinds").one("tbody").all("tr")]
    assert [[figure(cell) for cell in cells[1:5]] for cells in kinds] == [
        [sum(count.values()), count["kept"], count["changed"], count["lost"]] for count in kept["counts"].values()
    ]
    rows = [row.cells for row in page.one("section", id="items").all("tr") if "data-row" in row.attributes]
    assert len(rows) == twin["matching"] or (rows and page.all("tr", id="items-more"))
    for cells, item in zip(rows, twin["items"], strict=False):
        assert (cells[0], cells[3], figure(cells[4]), figure(cells[5])) == (item["outcome"], item["how"], item["uses"], item["call"])
        assert figure(cells[6]) == item["line"]


def checkpoint_range(page: Element, twin: Any, get: Get) -> None:
    counts = twin["counts"]
    told = counts["quoted"] + counts["reworded"]
    assert figures(page.one(cls="answer").text) == [told, told + counts["own"], int(twin["checkpoint"].rpartition("-")[2]),
                                                    len(twin["carried"]), twin["blocks"]]  # fmt: skip
    assert [figure(link.text) for link in page.one(cls="seg").all("a")] == [sum(counts.values()), *counts.values()]
    rows = [row.cells for row in page.one("table", cls="traced").all("tr", id=r"l\d+")]
    assert len(rows) == len(twin["lines"]) or page.all("tr", id="range-more")
    for cells, line in zip(rows, twin["lines"], strict=False):
        assert figure(cells[0]) == line["number"]
        assert " ".join(line["text"].split()) == cells[1]
        assert line["source"] in cells[2]


def checkpoint_diff(page: Element, twin: Any, get: Get) -> None:
    said = page.one(cls="answer").text
    if twin["changed"] or twin["removed"] or twin["added"]:
        counts = [twin[name] for name in ("same", "changed", "removed", "added", "moved") if name != "moved" or twin["moved"]]
        assert figures(said.partition(":")[2])[: len(counts)] == counts
    sizes = [f"{_or_dash(section['old_tokens'])} → {_or_dash(section['new_tokens'])} tokens" for section in twin["sections"]]
    shown = [row.all("span", cls="quiet")[-1].text for row in page.all("tr", cls="sec")]
    assert shown == sizes[: len(shown)]
    begun = [row.attributes["id"] for row in page.all("tr", id=r"h-\w+(-\d+)?")]
    assert begun == [hunk["id"] for hunk in twin["hunks"]][: len(begun)]
    assert len(begun) == len(twin["hunks"]) or page.all("tr", id="diff-more")
    lives = twin["lives"]
    if lives is not None:
        paragraph = next(part.text for part in page.all("p", cls="pad") if "in both" in part.text)
        new = twin["new"]["key"]
        assert figures(paragraph.replace(f"only in {new}", "only")) == [lives[name] for name in ("still", "gone", "come", "lost")]


def _or_dash(tokens: int | None) -> str:
    return "–" if tokens is None else f"{tokens:,}"
