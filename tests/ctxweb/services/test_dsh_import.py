"""What an import makes of dsh logs: files that grow by frames, sessions that hang on others, pages that say what was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.test import Client

from ctxweb.home import Home
from ctxweb.models import Compaction, Session
from ctxweb.services.session_import import session_import
from tests.ctxweb.importers.dsh_events import HEADER, compaction, event, header, log, said, usage, user

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = [
    user("a"),
    header("One", [{"name": "bash"}]),
    said("b", usage=usage(900)),
    header("Two", [{"name": "bash"}]),
    user("c"),
    said("d", usage=usage(950)),
    *compaction(0, 2, [0, 2], "What was done", at=6),
    said("e", usage=usage(400)),
]


def put(folder: Path, data: bytes, name: str = "session.jsonl") -> dict[str, Any]:
    path = folder / name
    path.write_bytes(data)
    (told,) = session_import(name=name, path=path).objects()
    return told


def frames(lines: list[bytes]) -> list[bytes]:
    return [zstandard.ZstdCompressor(write_checksum=True).compress(line) for line in lines]


def test_a_chain_of_frames_grows_and_a_cut_last_one_is_a_cut_tail(home: Home, tmp_path: Path) -> None:
    packed = frames(log(*EVENTS).splitlines(keepends=True))
    cut = put(tmp_path, b"".join(packed[:6]) + packed[6][:-3], "session.jsonl.zstd")
    assert (cut["status"], cut["records"], cut["verdicts"]) == ("imported", 7, {"ok": 6, "truncated_tail": 1})
    grown = put(tmp_path, b"".join(packed), "session.jsonl.zstd")
    assert (grown["status"], grown["session"], grown["verdicts"]) == ("updated", cut["session"], {"ok": 12})
    assert put(tmp_path, log(*EVENTS), "plain.jsonl")["status"] == "unchanged"
    assert put(tmp_path, b"".join(packed[:6]) + packed[6][:-3], "session.jsonl.zstd")["status"] == "unchanged"


def test_a_cut_frame_alone_is_damage(home: Home, tmp_path: Path) -> None:
    (packed,) = frames([log(*EVENTS)])
    told = put(tmp_path, packed[:-4], "session.jsonl.zstd")
    assert (told["status"], told["error"]["code"]) == ("failed", "bad_archive")


def test_a_new_request_header_is_in_the_ledger_and_counts_as_no_compaction(home: Home, tmp_path: Path) -> None:
    told = put(tmp_path, log(*EVENTS))
    assert [each["mechanism"] for each in told["compactions"] if each["origin"] == "recorded"] == ["summary"]
    assert [row.index for row in Compaction.objects.filter(mechanism="request_header")] == [None]
    session = Session.objects.get()
    assert (session.recorded_compactions, session.removed_blocks) == (1, 2)
    client = Client()
    assert "Request header" in client.get(f"/s/{session.public_id}/ledger").content.decode()
    view = client.get(f"/s/{session.public_id}/view/2").content.decode()
    assert "exact" in view
    assert "bash" in view


def test_a_subagent_hangs_on_its_parent_whichever_comes_first(home: Home, tmp_path: Path) -> None:
    child = put(tmp_path, log(user("x"), said("y"), head={**HEADER, "id": "s-2", "parentSession": "s-1", "origin": "subagent"}), "b.jsonl")
    parent = put(tmp_path, log(*EVENTS), "a.jsonl")
    assert child["lane"] == "subagent"
    found = Session.objects.get(public_id=child["session"]).parent
    assert found is not None
    assert found.public_id == parent["session"]


def test_another_version_is_refused_with_its_reason(home: Home, tmp_path: Path) -> None:
    told = put(tmp_path, log(user("a"), head={**HEADER, "version": 3}))
    assert (told["status"], told["error"]["code"]) == ("failed", "unsupported_version")
    assert "version 3" in told["error"]["message"]


def test_an_event_that_only_says_so_is_left_out_without_harm(home: Home, tmp_path: Path) -> None:
    told = put(tmp_path, log(user("a"), event("zz/note", ignorable=True), said("b")))
    assert told["verdicts"] == {"ok": 3, "unknown_type": 1}
    assert Session.objects.get().findings == 0
