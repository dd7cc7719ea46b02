"""A page is open while somebody deletes, alters, moves and locks its sources: its badges follow, and the audit keeps each change.

How soon is counted in looks, of which there is one a second: a change shows in the look after it, or in the one after that.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ctxweb.services.source_watch import WATCH_SECONDS, badge_key
from tests.ctxweb.sources.made import Artifacts, records, said
from tests.ctxweb.sources.served import CAN_BE_DENIED, audited, prepared, served
from tests.program import Program

TEXT = b"evidence\n"
MOST_LOOKS = 2
TALK = records(said("first"), said("second"))


class Sources:
    """What a page's session points at: two files and a record."""

    def __init__(self, program: Program, folder: Path) -> None:
        folder.mkdir()
        files = Artifacts(root=folder)
        pointers = [files.write("SESSION", name, TEXT) for name in ("a.txt", "b.txt")]
        self.session = prepared(program, session=TALK, root=folder, pointers=[*pointers, "transcript:SESSION:2", "mail:x"])
        (folder / "SESSION").rename(folder / self.session)
        self.pointers = [pointer.replace("SESSION", self.session) for pointer in (*pointers, "transcript:SESSION:2")]
        self.keys = [badge_key(pointer) for pointer in self.pointers]
        self.file = files.path(self.session, "a.txt")
        self.address = f"/s/{self.session}/sources"


@pytest.fixture
def sources(program: Program, tmp_path: Path) -> Sources:
    return Sources(program, tmp_path / "artifacts")


def test_badges_follow_each_change_and_the_audit_keeps_it(program: Program, sources: Sources) -> None:
    file, key = sources.file, sources.keys[0]
    aside = file.with_name("aside")
    steps: list[tuple[str, Callable[[], object]]] = [
        ("missing", lambda: file.unlink()),
        ("available", lambda: file.write_bytes(TEXT)),
        ("corrupt", lambda: file.write_bytes(b"altered\n")),
        ("available", lambda: file.write_bytes(TEXT)),
        ("missing", lambda: file.parent.rename(aside.parent.with_name("moved"))),
        ("available", lambda: aside.parent.with_name("moved").rename(file.parent)),
    ]
    if CAN_BE_DENIED:
        steps += [("denied", lambda: file.chmod(0)), ("available", lambda: file.chmod(0o644))]
    with served(program) as server, server.stream(f"{sources.address}/events") as stream:
        stream.next_look()
        assert [stream.badges[one]["status"] for one in sources.keys] == ["available"] * 3
        assert stream.worst == {"status": "unsupported", "count": 1}
        for status, change in steps:
            change()
            assert stream.looks_until(key, status) <= MOST_LOOKS
        for _ in range(3):  # nothing happens, and nothing is written
            stream.next_look()
        assert 'data-source="' + key in stream.badges[key]["html"]
    found = audited(program)
    of_file = [status for pointer, status, _, _ in found if pointer == sources.pointers[0]]
    moved = [status for pointer, status, _, _ in found if pointer == sources.pointers[1]]
    assert of_file == ["available", *(status for status, _ in steps)]
    assert moved == ["available", "missing", "available"]
    assert len(found) == len(of_file) + len(moved) + 2  # each of the others once
    assert {actor for *_, actor in found} == {"watch"}


def test_readers_of_one_session_share_the_looks_and_a_stop_ends_their_streams(program: Program, sources: Sources) -> None:
    events = f"{sources.address}/events"
    with served(program) as server, server.stream(events) as first, server.stream(events) as second:
        for stream in (first, second):
            stream.next_look()
        sources.file.unlink()
        for stream in (first, second):
            assert stream.looks_until(sources.keys[0], "missing") <= MOST_LOOKS + 1
        assert server.ask("/healthz")[0] == 200
        os.kill(server.process.pid, signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
    assert [status for pointer, status, *_ in audited(program) if pointer == sources.pointers[0]] == ["available", "missing"]


def test_where_there_is_no_stream_a_page_asks_again_and_again(program: Program, sources: Sources) -> None:
    """No streams are wanted, the server has none, or it has too many."""
    for how in (Serving(extra={"CTXWEB_EVENTS": "0"}), Serving(interface="wsgi"), Serving(extra={"CTXWEB_WATCHERS": "1"})):
        sources.file.write_bytes(TEXT)
        with served(program, interface=how.interface, extra=how.extra) as server, ExitStack() as others:
            if "CTXWEB_WATCHERS" in how.extra:
                others.enter_context(server.stream(f"{sources.address}/events")).next_look()
            assert server.ask(f"{sources.address}/events")[0] == 204
            assert polled(server.ask(f"{sources.address}/badges"), sources.keys[0]) == "available"
            sources.file.unlink()
            time.sleep(WATCH_SECONDS)
            assert polled(server.ask(f"{sources.address}/badges"), sources.keys[0]) == "missing"
            assert [server.ask(f"/s/nothere/sources/{what}")[0] for what in ("events", "badges")] == [404, 404]


@dataclass(frozen=True, kw_only=True)
class Serving:
    interface: str = "asginl"
    extra: dict[str, str] = field(default_factory=dict)


def polled(answer: tuple[int, bytes], key: str) -> str:
    status, body = answer
    assert status == 200
    return str(next(badge["status"] for badge in json.loads(body)["badges"] if badge["key"] == key))
