"""SIGKILL at any moment of an import: nothing lost, nothing doubled, nothing half seen, and it goes on (campaign K1).

Each attempt is a forked child that imports in the foreground; it tells its stage over a pipe, and is killed a random time
after it has told of a randomly chosen one. When an attempt gets through, the rows must equal those of an import that
nobody disturbed.
"""

from __future__ import annotations

import hashlib
import os
import random
import select
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from ctxweb.home import Home
from ctxweb.models import (
    Block,
    Body,
    Compaction,
    Finding,
    History,
    Job,
    LedgerEntry,
    Message,
    ModelCall,
    Record,
    Revision,
    Session,
    Source,
    Span,
    TokenCount,
)
from ctxweb.services.importing import counting, parsing, publishing, tables
from ctxweb.services.importing.removing import source_remove
from ctxweb.services.session_import import session_import
from ctxweb.storage import blob_names, blob_read
from tests.ctxweb.services.sessions_made import session

pytestmark = pytest.mark.django_db(transaction=True)
FULL = os.environ.get("CTXWEB_STRESS") == "full"
KILLS = 3_000 if FULL else 300
IMPORTS = 300 if FULL else 30
STAGES = ("storing", "parsing", "counting", "publishing")
LONGEST_DELAY = 0.05
COMPARED = (Record, Message, Block, ModelCall, Finding, Compaction, LedgerEntry, Span)
_KEYS = {"id", "source_id", "revision_id", "history_id", "compaction_id", "body_id"}


@pytest.fixture
def home(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home of its own, and batches so small that there are many places to die at."""
    made = Home(root=tmp_path / "home")
    made.prepare()
    settings.HOME = made
    monkeypatch.setattr(parsing, "BATCH_ROWS", 9)
    monkeypatch.setattr(publishing, "BATCH_BLOCKS", 9)
    monkeypatch.setattr(counting, "BATCH_CHARS", 300)
    monkeypatch.setattr(tables.batches, "__defaults__", (9,))
    return made


def rows() -> dict[str, list[str]]:
    """All rows that an import makes, without the keys that the database gives."""
    told = {}
    for model in COMPARED:
        names = [field.attname for field in model._meta.concrete_fields if field.attname not in _KEYS]
        told[model.__name__] = sorted(map(repr, model.objects.values_list(*names)))
    return told


def clear() -> None:
    """An empty database, by the services' own removal."""
    from django.db import transaction

    Session.objects.update(current=None)
    Source.objects.update(superseded_by=None)
    for source in Source.objects.all():
        source_remove(source=source, commit=transaction.atomic)
    for model in (Session, Job, TokenCount, Body):
        model.objects.all().delete()


def attempt(path: Path, write: int) -> None:
    """The child: import, telling each stage by its number; never returns."""
    connections.close_all()
    status = 1

    def tell(job: Job) -> None:
        os.write(write, b"%d" % STAGES.index(job.stage or "parsing"))

    try:
        os.write(write, b"0")
        result = session_import(name=path.name, path=path, progress=tell)
        status = 0 if not result.failed else 2
    finally:
        os._exit(status)


def run_and_kill(path: Path, chance: random.Random, wanted: int | None) -> tuple[int, int]:
    """Start an attempt and kill it soon after it told the `wanted` stage (None: let it end); the last stage and the status."""
    connections.close_all()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        attempt(path, write)
    os.close(write)
    stage, told = 0, 0
    skip = chance.choice((0, chance.randrange(6)))  # batches of the stage that it lives through: some stages have one
    while select.select([read], [], [], 120)[0] and (news := os.read(read, 4096)):
        stage = int(news[-1:])
        told += stage == wanted
        if wanted is not None and (stage > wanted or told > skip):
            time.sleep(chance.random() * LONGEST_DELAY)
            os.kill(child, signal.SIGKILL)
            break
    _, status = os.waitpid(child, 0)
    os.close(read)
    return stage, status


def check_nothing_half(complete: set[int]) -> None:
    """What a reader could see right after a kill: a whole session or none."""
    for found in Session.objects.select_related("current"):
        assert found.current is not None
        assert found.record_count in complete
        assert Message.objects.filter(revision=found.current).count() == found.message_count
    for source in Source.objects.filter(state="ready"):
        assert Record.objects.filter(source=source, number__lte=source.record_count).count() == source.record_count
    for source in Source.objects.all():
        numbers = list(Record.objects.filter(source=source).order_by("number").values_list("number", flat=True))
        assert not numbers or numbers == list(range(numbers[0], numbers[-1] + 1))


def check_lossless(data: bytes) -> None:
    source = Source.objects.get()
    assert hashlib.sha256(data).hexdigest() == source.sha256
    with blob_read(sha256=source.sha256) as stream:
        stored = stream.read()
    places = Record.objects.order_by("number").values_list("offset", "length", "digest")
    assert b"".join(stored[offset : offset + length] for offset, length, _ in places) == data
    assert all(hashlib.sha256(stored[offset : offset + length]).digest() == bytes(digest) for offset, length, digest in places)
    assert list(blob_names()) == [source.sha256]
    assert list(Revision.objects.values_list("state", flat=True)) == ["ready"]
    assert History.objects.count() == 1


@pytest.mark.parametrize("grows", [False, True], ids=["new", "grown"])
def test_an_import_that_is_killed_again_and_again_ends_as_if_it_never_was(home: Home, tmp_path: Path, grows: bool) -> None:
    chance = random.Random(7 + grows)
    path = tmp_path / "session.jsonl"
    before, data = session(24), session(60)
    killed: Counter[str] = Counter()
    path.write_bytes(data)
    assert not session_import(name=path.name, path=path).failed
    undisturbed = rows()
    imports = 0
    while imports < IMPORTS // 2 or killed.total() < KILLS // 2:
        imports += 1
        clear()
        if grows:
            path.write_bytes(before)
            assert not session_import(name=path.name, path=path).failed
        path.write_bytes(data)
        for _ in range(KILLS // IMPORTS):
            stage, status = run_and_kill(path, chance, chance.randrange(len(STAGES)))
            killed[STAGES[stage]] += os.WIFSIGNALED(status)
            check_nothing_half({24, 60})
            if status == 0:
                break
        while run_and_kill(path, chance, None)[1] != 0:
            pass
        check_lossless(data)
        assert rows() == undisturbed
    assert all(killed[stage] >= IMPORTS // 10 for stage in STAGES), killed
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check")
            assert cursor.fetchone() == ("ok",)
