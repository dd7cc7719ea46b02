"""The audit is a chain that only grows; whoever changes it is told of, with the place."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, connections, transaction
from django.test.utils import override_settings
from django.utils import timezone

from compaction.sources.chain import Head, Look, append_all
from ctxweb.append_only import APPEND_ONLY, triggers, triggers_create, triggers_drop, triggers_found
from ctxweb.audit_anchors import anchors_file, anchors_read
from ctxweb.audit_rows import COLUMNS, audit_key, entry_row
from ctxweb.checks import audit_key_is_private
from ctxweb.home import Home
from ctxweb.models import AuditEntry, AuditHead, Project, SignOff
from ctxweb.queries.audit_chain import audit_chain
from ctxweb.services.audit import SignOffRefused, resolutions_append, sign_off
from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.importing.tables import rows_insert
from ctxweb.services.jobs_run import jobs_sweep
from ctxweb.synced import synced
from tests.ctxweb.durable.looks import DAY, append, found, missing, pointers

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
in_real_transactions = pytest.mark.django_db(transaction=True)


@contextmanager
def without_triggers() -> Any:
    """What an insider who can write the database does first."""
    if connection.vendor != "sqlite":
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
    triggers_drop(connection)
    yield
    triggers_create(connection)


def kinds(project: Project) -> list[tuple[str, int, int]]:
    return [(one.kind, one.first, one.last) for one in audit_chain(project_id=project.pk).breaks]


def test_entries_are_numbered_without_gaps_and_each_names_the_one_before(project: Project) -> None:
    end = append(project, *map(found, pointers(3)))
    end = append(project, missing("artifact:a:b:000000000000"), actor="Ada", at=DAY + timedelta(days=1))
    rows = list(AuditEntry.objects.order_by("seq"))
    assert [row.seq for row in rows] == [1, 2, 3, 4]
    assert [row.prev_hash for row in rows[1:]] == [row.hash for row in rows[:-1]]
    assert (end.seq, end.hash, end.written) == (4, rows[-1].hash, 1)
    assert (rows[-1].actor, rows[-1].status, rows[-1].digest, rows[-1].finished_at) == ("Ada", "missing", "", "2026-10-02T09:00:01.000000Z")
    state = audit_chain(project_id=project.pk)
    assert state.holds
    assert (state.count, state.head) == (4, f"4:{end.hash}")


def test_an_excerpt_is_never_written(project: Project) -> None:
    append(project, *map(found, pointers(2)))
    assert "secret" not in json.dumps(list(AuditEntry.objects.values()))


def test_the_watch_writes_what_changed_and_a_scheduled_check_writes_always(project: Project) -> None:
    one, other = pointers(2)
    append(project, found(one), found(other))
    assert append(project, found(one), missing(other), watch=True).written == 1
    assert append(project, found(one), missing(other), watch=True).written == 0
    assert append(project, found(one), missing(other)).written == 2


@pytest.mark.parametrize("pointer", ["", "\0", "\ud800", "x" * 601, "🦊" * 600, "x" * 100_000, "transcript:a:1\n"])
def test_any_text_can_be_the_pointer_of_an_entry(project: Project, pointer: str) -> None:
    append(project, found(pointer, "corrupt", "malformed_pointer"))
    assert append(project, found(pointer, "corrupt", "malformed_pointer"), watch=True).written == 0
    assert audit_chain(project_id=project.pk).holds


def test_the_database_refuses_to_change_or_remove_an_entry(project: Project) -> None:
    append(project, *map(found, pointers(2)))
    sign_off(project=project, subject="project:local", name="Ada", note="")
    changes: tuple[Callable[[], object], ...] = (
        lambda: AuditEntry.objects.update(status="available"),
        lambda: AuditEntry.objects.filter(seq=1)._raw_delete("default"),
        lambda: SignOff.objects.update(note="x"),
        lambda: SignOff.objects.all()._raw_delete("default"),
        lambda: AuditHead.objects.all()._raw_delete("default"),
    )
    for change in changes:
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            change()
    assert audit_chain(project_id=project.pk).holds


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite's own way round a delete")
def test_sqlite_refuses_to_replace_an_entry(project: Project) -> None:
    append(project, *map(found, pointers(2)))
    with connection.cursor() as cursor, pytest.raises(IntegrityError, match="REPLACE"):
        cursor.execute("INSERT OR REPLACE INTO ctxweb_auditentry SELECT * FROM ctxweb_auditentry WHERE seq = 1")


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has no TRUNCATE")
@pytest.mark.parametrize("table", APPEND_ONLY)
def test_postgresql_refuses_to_truncate(project: Project, table: str) -> None:
    with connection.cursor() as cursor, pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        cursor.execute(f"TRUNCATE {table} CASCADE")


def test_every_table_that_only_grows_has_its_triggers(project: Project) -> None:
    assert set(triggers(connection.vendor)) <= triggers_found(connection)


def edit(project: Project) -> None:
    AuditEntry.objects.filter(seq=5).update(status="available", reason="verified_artifact")


def edit_with_hash(project: Project) -> None:
    """Edited, and hashed again without the key."""
    row = AuditEntry.objects.get(seq=5)
    look = Look(**{name: getattr(row, name) for name in Look.__dataclass_fields__} | {"status": "available"})
    (entry,) = append_all(Head(4, row.prev_hash), iter([look]), tenant=project.pk)
    AuditEntry.objects.filter(seq=5).update(status="available", hash=entry.hash)
    AuditEntry.objects.filter(seq=6).update(prev_hash=entry.hash)


def delete_in_the_middle(project: Project) -> None:
    AuditEntry.objects.filter(seq__in=(5, 6))._raw_delete("default")


def delete_at_the_end(project: Project) -> None:
    AuditEntry.objects.filter(seq__gt=8)._raw_delete("default")


def delete_at_the_end_with_head(project: Project) -> None:
    delete_at_the_end(project)
    last = AuditEntry.objects.get(seq=8)
    AuditHead.objects.update(seq=8, hash=last.hash)


def delete_all(project: Project) -> None:
    AuditEntry.objects.all()._raw_delete("default")


def delete_all_with_head(project: Project) -> None:
    delete_all(project)
    AuditHead.objects.all()._raw_delete("default")


def reorder(project: Project) -> None:
    values = list(AuditEntry.objects.filter(seq__in=(4, 7)).order_by("seq").values())
    AuditEntry.objects.filter(seq__in=(4, 7))._raw_delete("default")
    for row, other in zip(values, reversed(values), strict=True):
        AuditEntry.objects.create(**{**row, "id": other["id"]})


def insert(project: Project) -> None:
    row = AuditEntry.objects.values().get(seq=5)
    AuditEntry.objects.create(**{**row, "id": None, "seq": 11, "pointer": "artifact:made:up.txt:000000000000"})


def rechain_without_the_key(project: Project) -> None:
    """All entries written again with one changed, every hash right, the head too; the key is not in the database."""
    looks = [
        Look(**{name: getattr(row, name) for name in Look.__dataclass_fields__} | ({"status": "available"} if row.seq == 5 else {}))
        for row in AuditEntry.objects.order_by("seq")
    ]
    _write_again(project, looks, b"a guess")


def rechain_with_the_key(project: Project) -> None:
    looks = [
        Look(**{name: getattr(row, name) for name in Look.__dataclass_fields__} | ({"status": "available"} if row.seq == 5 else {}))
        for row in AuditEntry.objects.order_by("seq")
    ]
    _write_again(project, looks, audit_key())


def _write_again(project: Project, looks: list[Look], key: bytes) -> None:
    entries = list(append_all(Head(), iter(looks), tenant=project.pk, key=key))
    AuditEntry.objects.all()._raw_delete("default")
    rows_insert(AuditEntry, COLUMNS, map(entry_row, entries))
    AuditHead.objects.update(seq=entries[-1].seq, hash=entries[-1].hash)


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (edit, ("edited", 5, 5)),
        (edit_with_hash, ("forged", 5, 5)),
        (delete_in_the_middle, ("deleted", 5, 6)),
        (delete_at_the_end, ("cut", 9, 10)),
        (delete_at_the_end_with_head, ("cut", 9, 10)),
        (delete_all, ("emptied", 1, 10)),
        (delete_all_with_head, ("emptied", 1, 10)),
        (reorder, ("reordered", 5, 5)),
        (insert, ("inserted", 11, 11)),
        (rechain_without_the_key, ("forged", 1, 1)),
        (rechain_with_the_key, ("rechained", 10, 10)),
    ],
)
def test_each_way_to_tamper_is_told_of_with_its_place(
    project: Project, tamper: Callable[[Project], None], expected: tuple[str, int, int]
) -> None:
    append(project, *map(missing, pointers(10)))
    assert [anchor.head.seq for anchor in anchors_read(project_id=project.pk)] == [10]
    with without_triggers():
        tamper(project)
    assert expected in kinds(project)


def test_what_was_written_again_with_the_key_after_the_last_anchor_is_not_seen_and_the_report_says_up_to_where_it_is(
    project: Project,
) -> None:
    append(project, *map(missing, pointers(2)))
    append(project, *map(missing, pointers(8)))
    anchors = list(anchors_read(project_id=project.pk))
    assert [anchor.head.seq for anchor in anchors] == [2]
    state = audit_chain(project_id=project.pk)
    assert (state.holds, state.anchored_to, state.count) == (True, 2, 10)


def test_an_anchor_is_written_at_once_then_after_64_entries(project: Project, home: Home) -> None:
    for size in (1, 63, 1, 64, 500):
        append(project, *map(found, pointers(size)))
    assert [anchor.head.seq for anchor in anchors_read(project_id=project.pk)] == [1, 65, 129, 629]
    assert anchors_file(project_id=project.pk).stat().st_mode & 0o777 == 0o600


def test_the_sweep_writes_the_anchor_of_the_last_entries_after_ten_minutes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    append(project, *map(found, pointers(1)))
    append(project, *map(found, pointers(2)))
    jobs_sweep()
    assert [anchor.head.seq for anchor in anchors_read(project_id=project.pk)] == [1]
    later = timezone.now() + timedelta(minutes=10)
    monkeypatch.setattr(timezone, "now", lambda: later)
    jobs_sweep()
    assert [anchor.head.seq for anchor in anchors_read(project_id=project.pk)] == [1, 3]


def test_an_anchor_that_a_crash_cut_short_is_passed_over(project: Project) -> None:
    append(project, *map(found, pointers(1)))
    with anchors_file(project_id=project.pk).open("a") as file:
        file.write('{"at": "2026-')
    append(project, *map(found, pointers(64)))
    assert [anchor.head.seq for anchor in anchors_read(project_id=project.pk)] == [1, 65]
    assert audit_chain(project_id=project.pk).holds


@in_real_transactions
def test_a_rolled_back_append_leaves_neither_entry_nor_anchor(project: Project) -> None:
    with transaction.atomic():
        resolutions_append(
            project=project, resolutions=[missing("artifact:a:b:000000000000")], actor="a", run="", started_at=DAY, finished_at=DAY
        )
        transaction.set_rollback(True)
    assert not AuditEntry.objects.exists()
    assert list(anchors_read(project_id=project.pk)) == []


@in_real_transactions
def test_writers_at_once_do_not_fork_the_chain(project: Project) -> None:
    def write() -> None:
        for _ in range(5):
            append(project, *map(found, pointers(7)))
        connections.close_all()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = audit_chain(project_id=project.pk)
    assert (state.holds, state.count) == (True, 140)


def test_a_sign_off_is_part_of_the_chain_with_its_note(project: Project) -> None:
    append(project, *map(missing, pointers(2)))
    made = sign_off(project=project, subject="session:abc", name="  Ada  Lovelace ", note="Seen, and\nagreed.")
    assert (made.seq, made.name, made.note) == (3, "Ada Lovelace", "Seen, and\nagreed.")
    entry = AuditEntry.objects.get(seq=3)
    assert (entry.status, entry.reason, entry.actor, entry.pointer) == ("signed_off", "claimed", "Ada Lovelace", "session:abc")
    assert audit_chain(project_id=project.pk).holds
    with without_triggers():
        SignOff.objects.update(note="Not agreed.")
    assert kinds(project) == [("sign_off", 3, 3)]
    with without_triggers():
        SignOff.objects.all()._raw_delete("default")
    assert kinds(project) == [("sign_off", 3, 3)]


@pytest.mark.parametrize(("name", "note", "field"), [(" ", "", "name"), ("x" * 201, "", "name"), ("Ada", "x" * 10_001, "note")])
def test_a_sign_off_without_a_name_is_refused_with_the_field(project: Project, name: str, note: str, field: str) -> None:
    with pytest.raises(SignOffRefused) as refused:
        sign_off(project=project, subject="project:local", name=name, note=note)
    assert refused.value.field == field
    assert not AuditEntry.objects.exists()


def test_another_key_than_the_one_that_wrote_is_told_of(project: Project) -> None:
    append(project, *map(found, pointers(2)))
    with override_settings(AUDIT_KEY="another"):
        assert kinds(project) == [("forged", 1, 1), ("forged", 2, 2)]


def test_the_command_says_where_the_audit_does_not_hold(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    append(project, *map(missing, pointers(10)))
    call_command("verify_audit")
    assert "local: the audit holds: 10 entries, head 10:" in capsys.readouterr().out
    with without_triggers():
        delete_in_the_middle(project)
    with pytest.raises(SystemExit) as ended:
        call_command("verify_audit", "--json")
    assert ended.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert told["breaks"][0] | {"says": ""} == {"kind": "deleted", "first": 5, "last": 6, "says": ""}


def test_a_start_puts_triggers_back_that_are_gone_and_says_so(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    append(project, *map(found, pointers(2)))
    triggers_drop(connection)
    with caplog.at_level("WARNING", logger="ctxweb"):
        database_prepare()
    assert "run `manage.py verify_audit`" in caplog.text
    assert set(triggers(connection.vendor)) <= triggers_found(connection)


def test_a_key_that_others_can_read_stops_the_start(home: Home) -> None:
    home.secret(home.audit_key)
    assert audit_key_is_private() == []
    home.audit_key.chmod(0o640)
    (error,) = audit_key_is_private()
    assert "chmod 600" in (error.hint or "")


@in_real_transactions
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL syncs every commit")
def test_what_goes_to_the_audit_is_on_the_disk_when_it_is_committed() -> None:
    def mode() -> int:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous")
            return int(cursor.fetchone()[0])

    usual = mode()
    with synced():
        assert mode() == 2, "FULL"
        with synced():
            assert mode() == 2
    assert mode() == usual
