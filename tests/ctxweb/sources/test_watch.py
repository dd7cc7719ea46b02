"""The watch of an open page: marks first, a look where they differ, and an audit that grows only by what changed."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest
from django.test import Client

from compaction.sources.files import Root
from ctxweb.models import AuditEntry, DurableItem, Project
from ctxweb.services import source_watch as watching
from ctxweb.services.source_watch import Badge, badge_key, source_watch, watches_forget
from tests.ctxweb.sources.made import Artifacts, imported, keep, records, said

pytestmark = pytest.mark.django_db(transaction=True)
SESSION = "s" * 20


@pytest.fixture(autouse=True)
def _every_look_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "WATCH_SECONDS", 0.0)


def look(project: Project) -> dict[str, Badge]:
    return {badge.pointer: badge for badge in source_watch(project=project, session=SESSION)}


def statuses() -> list[str]:
    return list(AuditEntry.objects.order_by("seq").values_list("status", flat=True))


def test_a_source_that_nobody_touched_is_not_read_again(project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    pointer = artifacts.write(SESSION, "a.txt", b"a")
    keep(project, SESSION, [pointer, "junk"])
    first = look(project)
    assert {badge.status for badge in first.values()} == {"available", "unsupported"}
    with monkeypatch.context() as patch:
        patch.setattr("compaction.sources.files.os.pread", lambda *_: pytest.fail("it was read again"))
        assert look(project) == first
    artifacts.path(SESSION, "a.txt").write_bytes(b"b")
    assert look(project)[pointer].status == "corrupt"
    assert statuses() == ["available", "unsupported", "corrupt"]


def test_a_touched_source_that_is_still_the_same_writes_nothing(project: Project, artifacts: Artifacts) -> None:
    pointer = artifacts.write(SESSION, "a.txt", b"a")
    keep(project, SESSION, [pointer])
    before = look(project)[pointer]
    os.utime(artifacts.path(SESSION, "a.txt"), (1, 1))
    assert look(project)[pointer] == before
    watches_forget()  # another process begins
    look(project)
    assert statuses() == ["available"]


def test_the_badge_says_that_a_source_is_another_one_than_at_its_confirmation(project: Project, artifacts: Artifacts) -> None:
    (artifacts.root / "s1.jsonl").write_bytes(b'{"content": "as it is now"}\n')
    project.transcript_roots = [str(artifacts.root)]
    keep(project, SESSION, ["transcript:s1:1"], confirmed="0" * 64)
    badge = look(project)["transcript:s1:1"]
    assert (badge.status, badge.is_changed) == ("available", True)


def test_new_items_are_watched_and_removed_ones_forgotten(project: Project, artifacts: Artifacts) -> None:
    first, second = artifacts.write(SESSION, "a.txt", b"a"), artifacts.write(SESSION, "b.txt", b"b")
    keep(project, SESSION, [first])
    assert set(look(project)) == {first}
    keep(project, SESSION, [second])
    assert set(look(project)) == {first, second}
    DurableItem.objects.filter(pointer=first).delete()
    assert set(look(project)) == {second}


def test_what_the_machine_cannot_look_at_keeps_its_status_and_says_so(
    project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = artifacts.write(SESSION, "a.txt", b"a")
    keep(project, SESSION, [pointer])
    look(project)

    def too_many(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(Root, "opened", too_many)
    badge = look(project)[pointer]
    assert (badge.status, badge.trouble) == ("available", "EMFILE")
    monkeypatch.undo()
    monkeypatch.setattr(watching, "WATCH_SECONDS", 0.0)
    assert look(project)[pointer].trouble == ""
    assert statuses() == ["available"]


def test_a_look_that_takes_too_long_goes_on_in_the_next_one(
    project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(project, SESSION, [artifacts.write(SESSION, f"{number}.txt", b"a") for number in range(5)])
    monkeypatch.setattr(watching, "POINTERS_AT_ONCE", 2)
    monkeypatch.setattr(watching, "LOOK_SECONDS", -1.0)
    assert [len(look(project)) for _ in range(4)] == [2, 4, 5, 5]


def test_readers_within_a_second_share_a_look(project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "WATCH_SECONDS", 1_000.0)
    pointer = artifacts.write(SESSION, "a.txt", b"a")
    keep(project, SESSION, [pointer])
    look(project)
    artifacts.path(SESSION, "a.txt").unlink()
    assert look(project)[pointer].status == "available"


def test_the_answer_has_the_fragment_of_each_badge_with_nothing_of_the_pointer_in_it(project: Project) -> None:
    session = imported(records(said("first")))
    evil = f"artifact:{session.public_id}:<script>alert(1)</script>"
    keep(project, session.public_id, [f"transcript:{session.public_id}:2", evil])
    answer = Client().get(f"/s/{session.public_id}/sources/badges")
    told = {badge["key"]: badge for badge in answer.json()["badges"]}
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json()["worst"] == {"status": "corrupt", "count": 1}
    assert told[badge_key(evil)]["status"] == "corrupt"
    assert "script" not in told[badge_key(evil)]["html"]
    assert f'data-source="{badge_key(evil)}"' in told[badge_key(evil)]["html"]
