"""The figures of the pages of checkpoints against those of their twins."""

from __future__ import annotations

from typing import Any

from tests.evidence.elements import Element, figure, figures
from tests.evidence.session_pages import Get, close


def checkpoints(page: Element, twin: Any, get: Get) -> None:
    rows = page.all("tr", id=r"cm?\d+")
    assert len(rows) == len(twin["checkpoints"]) == twin["total"]
    if not rows:
        assert page.one("section", cls="state").one("h3").text == "Nothing was summarised"
    for row, one in zip(rows, twin["checkpoints"], strict=True):
        cells, kept = row.cells, one["retention"]
        assert cells[0] == one["key"]
        assert figures(cells[2])[:2] == ([one["from_call"], one["to_call"]] if one["blocks"] else [])
        assert figure(cells[3]) == (one["blocks"] or None)
        assert figure(cells[4]) == (one["range_tokens"] if one["range_tokens"] is not None else (kept or {}).get("range_tokens"))
        assert figure(cells[5]) == one["tokens"]
        assert figures(cells[7]) == [size for size in (one["size_before"], one["size_after"]) if size is not None]
        if kept is not None:
            sums = {outcome: sum(count[outcome] for count in kept["counts"].values()) for outcome in ("kept", "changed", "lost")}
            assert figures(cells[8]) == [sums["kept"], sum(sums.values())]
            assert [figure(cells[10]), figure(cells[11])] == [sums["changed"], sums["lost"]]
            assert close(cells[6], 100 * one["tokens"] / figure(cells[4])) if one["tokens"] and figure(cells[4]) else True
