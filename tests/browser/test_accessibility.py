"""An automatic accessibility check (WCAG 2.0 to 2.2, A and AA) of every page, in light and in dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from ctxweb.models import Block, Job, Session
from ctxweb.replays.asked import replay_asked
from ctxweb.services.history_replay import history_replay
from tests.browser.conftest import Watched
from tests.evidence.made_checkpoints import ended_job, make_job

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def addresses(session: Session) -> Iterator[str]:
    assert session.current is not None
    block = Block.objects.filter(revision=session.current_id, first_call__isnull=False).order_by("-estimate")[0]
    own = f"/s/{session.public_id}"
    yield from ("/", "/?import=1", "/?q=nothingholdsthis", "/search", "/search?q=the", "/jobs", f"/jobs/{Job.objects.all()[0].public_id}")
    yield from ("/settings", f"{own}/", f"{own}/?stack=kind", f"{own}/?as=table", f"{own}/messages", f"{own}/view/3?against=2")
    yield from (f"{own}/ledger", f"{own}/b/{block.seq}.{block.i}", f"{own}/import")
    yield from (f"{own}/replay?trigger=6000&hard_limit=200000", f"{own}/replay?policy=learn-claude-code-s08", f"{own}/units")
    yield from (
        f"{own}/summarise?with=anthropic&against=extractive",
        f"{own}/checkpoints",
        f"{own}/checkpoints/1",
        f"{own}/checkpoints/1/range",
    )
    extract, trial = make_job(session, to_call=4), make_job(session, to_call=4, canaries=6)
    yield from (f"{own}/summarise/{extract}..{trial}", f"{own}/checkpoints/m2", f"/jobs/{trial}", f"/jobs/{ended_job(session, calls=2)}")
    kept = history_replay(session=session, revision=session.current, asked=replay_asked(limits={"trigger": 6_000})).history
    yield from (f"{own}/ledger?h={kept}", f"{own}/view/3?h={kept}", f"{own}/b/{block.seq}.{block.i}?h={kept}")


def faults(page: Page) -> list[str]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{each['id']}: {node['target']} {node['html'][:160]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 1024)])
def test_every_page_passes(watched: Watched, long_session: Session, scheme: str, width: int) -> None:
    page = watched.page
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    found = []
    for address in addresses(long_session):
        watched.go(address)
        found += [f"{address}: {fault}" for fault in faults(page)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{address}: scrolls sideways at {width} px")
    assert not found, "\n".join(found)
