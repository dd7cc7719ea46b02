"""The dry run of a summary and two jobs side by side, against their twins."""

from __future__ import annotations

from typing import Any

from tests.evidence.elements import Element, figure, figures
from tests.evidence.session_pages import Get


def plan(page: Element, twin: Any, get: Get) -> None:
    """What would be replaced, and what it would cost."""
    told = {term.text: value for term, value in zip(page.all("dt"), page.all("dd"), strict=True)}
    replaced = [len(twin["blocks"]), twin["messages"], twin["range_tokens"]]
    assert figures(told["would replace"].text) == replaced
    assert figures(told["calls"].text)[:2] == [twin["from_call"], twin["to_call"]]
    assert [code.text for code in told["records"].all("code")] == [twin["first_pointer"], twin["last_pointer"]]
    assert figures(page.one("p", cls="answer").text)[2:5] == [len(twin["blocks"]), twin["range_tokens"], twin["view_tokens"]]
    assert len(page.all("p", cls="problem")) == len(twin["problems"])


def comparison(page: Element, twin: Any, get: Get) -> None:
    """Each figure of both sides."""
    rows = {row.cells[0]: row.cells[1:] for row in page.one("tbody").all("tr")}
    for side, each in enumerate(twin):
        shown = [figure(rows[name][side]) for name in ("exact tokens", "of the range", "items kept", "changed", "lost")]
        assert shown == [each[name] for name in ("tokens", "range_tokens", "kept", "changed", "lost")]
        assert figure(rows["calls of a model"][side]) == len(each["job"]["summary"]["calls"])
