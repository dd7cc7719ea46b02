"""The pages of every checkpoint that a real session of the corpus recorded: small, equal to their twins, and the same at each look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle, pairwise
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from compaction.retention.retained import retention_of
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Findings
from ctxweb.checkpoints.ranges import checkpoint_range, checkpoint_text
from ctxweb.checkpoints.rows import checkpoints_of
from ctxweb.models import CheckpointAnalysis, Session
from ctxweb.queries.readable import readable_lane
from ctxweb.services.checkpoint_analysis import checkpoint_findings
from ctxweb.services.session_import import session_import
from tests.corpus_checkpoints import CORPUS, corpus_checkpoints
from tests.evidence import checkpoint_pages
from tests.evidence.elements import Element, page_of
from tests.evidence.homes import shared_home
from tests.shared import needs_shared

pytestmark = [needs_shared, pytest.mark.nodb, pytest.mark.django_db]

BYTES, NODES = 100_000, 5_000


@pytest.fixture(scope="module")
def sessions(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Session]]:
    """All sessions that recorded a checkpoint, imported; of two files of one session the fuller."""
    stems = {one.id.partition("/")[0] for one in corpus_checkpoints()}
    rows = [json.loads(line) for line in (CORPUS / "index.jsonl").read_text().splitlines()]
    files = sorted(CORPUS / row["file"] for row in rows)
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("checkpoints")):
        with django_db_blocker.unblock():
            for file in files:
                if file.stem in stems:
                    session_import(name=file.name, path=file)
            found = list(Session.objects.select_related("current").order_by("pk"))
        yield found


def every(sessions: list[Session]) -> Iterator[Checkpoint]:
    for session in sessions:
        assert session.current is not None
        yield from checkpoints_of(session=session, revision=session.current)


def found_in(checkpoint: Checkpoint) -> Findings | None:
    return checkpoint_findings(history=readable_lane(public_id=checkpoint.session).history, checkpoint=checkpoint)


def seen(address: str, check: Any) -> Element:
    """The page at an address, small and with the figures of its twin."""
    response = Client().get(address)
    assert response.status_code == 200, address
    assert len(response.content) < BYTES, (address, len(response.content))
    page = page_of(response.content.decode())
    assert sum(1 for _ in page.walk()) < NODES, address
    twin = next(link.attributes["href"] for link in page.one("header", cls="topbar").all("a") if link.text == "JSON")
    check(page, Client().get(twin).json(), None)
    return page


def test_all_that_the_corpus_holds_is_listed_with_its_range(sessions: list[Session]) -> None:
    by_text = {checkpoint_text(one): one for one in every(sessions)}
    readable = [one for one in corpus_checkpoints() if "trimmed" not in one.summary]
    assert len(readable) == 15
    for one in readable:
        stored = by_text[one.summary]
        pieces = checkpoint_range(history=readable_lane(public_id=stored.session).history, checkpoint=stored).pieces
        assert stored.blocks == len(one.pieces)
        assert [piece.block.id for piece in pieces] == [piece.block.id for piece in one.pieces]


def test_each_grew_out_of_an_earlier_one(sessions: list[Session]) -> None:
    parents = {one.id: one.parent for one in every(sessions)}
    assert all(not parent or int(parent) < int(key.rpartition("-")[2]) for key, parent in parents.items())
    assert sum(bool(parent) for parent in parents.values()) >= 7


def test_what_is_found_is_what_the_library_finds(sessions: list[Session]) -> None:
    for one in every(sessions):
        found = found_in(one)
        if found is not None:
            pieces = checkpoint_range(history=readable_lane(public_id=one.session).history, checkpoint=one).pieces
            expected = retention_of(pieces, checkpoint_text(one))
            assert {(item.id, item.outcome, item.line) for item in found.items} == {
                (each.item.id, each.outcome, each.line) for each in expected.items
            }
            lost = [item.id for item in found.items if item.outcome == "lost"]
            assert lost[: len(expected.missed_first)] == [each.item.id for each in expected.missed_first]


def test_what_was_kept_is_read_back_as_it_was_found(sessions: list[Session]) -> None:
    CheckpointAnalysis.objects.all().delete()
    for one in every(sessions):
        first = found_in(one)
        assert found_in(one) == first
        if first is not None:
            assert CheckpointAnalysis.objects.filter(session=one.session, subject=one.key).count() == 2


def test_every_list_has_the_figures_of_its_twin(sessions: list[Session]) -> None:
    for session in sessions:
        Client().get(f"/s/{session.public_id}/checkpoints")  # what takes long is done in several looks
        seen(f"/s/{session.public_id}/checkpoints", checkpoint_pages.checkpoints)


def test_every_checkpoint_and_its_range_have_the_figures_of_their_twins(sessions: list[Session]) -> None:
    for one, parameters in zip(every(sessions), cycle(("", "?text=all", "?outcome=lost")), strict=False):
        address = f"/s/{one.session}/checkpoints/{one.key}"
        seen(address + parameters, checkpoint_pages.checkpoint)
        if one.has_range and one.is_readable:
            seen(f"{address}/range", checkpoint_pages.checkpoint_range)


def test_every_pair_of_a_chain_is_compared_in_both_forms(sessions: list[Session]) -> None:
    compared = 0
    for session in sessions:
        for old, new in pairwise(every([session])):
            form = ("", "?as=side", "?lines=all")[compared % 3]
            seen(f"/s/{session.public_id}/checkpoints/{old.key}..{new.key}{form}", checkpoint_pages.checkpoint_diff)
            compared += 1
    assert compared >= 7


def test_each_item_leads_to_the_block_where_it_was_said(sessions: list[Session]) -> None:
    session = next(session for session in sessions if session.call_count > 150)
    page = page_of(Client().get(f"/s/{session.public_id}/checkpoints/1?outcome=lost").content.decode())
    for row in page.one("section", id="items").one("tbody").all("tr", id=r"i\w+")[:20]:
        address = row.one("td", cls="ex").one("a").attributes["href"]
        window = page_of(Client().get(address.partition("#")[0]).content.decode())
        assert window.all("tr", id=address.partition("#")[2].replace(".", r"\.")), address


def test_a_second_look_costs_the_same_number_of_queries_for_one_checkpoint_and_for_several(sessions: list[Session]) -> None:
    counts = set()
    for session in sorted(sessions, key=lambda one: one.recorded_compactions):
        chain = list(every([session]))
        if len(chain) > 1 and all(one.is_readable for one in chain):
            address = f"/s/{session.public_id}/checkpoints"
            Client().get(address)
            with CaptureQueriesContext(connection) as captured:
                Client().get(address)
            counts.add(len(captured))
    assert len(counts) == 1


def test_what_was_too_much_to_be_read_is_told(sessions: list[Session]) -> None:
    one = next(one for one in every(sessions) if one.blocks > 200)
    CheckpointAnalysis.objects.all().delete()
    assert settings.CTXWEB_CHECKPOINT_CHARS > 1_000_000
    with override_settings(CTXWEB_CHECKPOINT_CHARS=50_000):
        page = page_of(Client().get(f"/s/{one.session}/checkpoints/{one.key}").content.decode())
        twin = Client().get(f"/api/v1/checkpoints/{one.id}").json()
    assert 0 < twin["blocks_left_out"] < one.blocks
    assert f"{twin['blocks_left_out']:,} blocks of the range" in page.one(cls="note").text
