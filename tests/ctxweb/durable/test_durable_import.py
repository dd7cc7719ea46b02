"""Durable state comes in with a session, and nothing that is there is overwritten by it."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db import connections, transaction

from compaction.durable.canonical import state_from
from compaction.durable.values import DurableContextState
from ctxweb.durable_merge import merged
from ctxweb.durable_rows import last_version, state_of
from ctxweb.jobs import job_claim
from ctxweb.models import AuditEntry, DurableItem, DurableProposal, DurableVersion, Job, Project, Session
from ctxweb.queries.audit_chain import audit_chain
from ctxweb.services.durable_changes import durable_change
from ctxweb.services.durable_import import durable_import
from ctxweb.services.durable_proposals import proposal_decide
from ctxweb.services.durable_versions import Author
from ctxweb.services.folder_import import folder_enqueue
from ctxweb.services.jobs_run import claimed_run
from ctxweb.services.rebuild import rebuild
from ctxweb.services.session_export import session_export
from ctxweb.services.session_import import ImportResult, import_finish, session_import
from tests.ctxweb.durable.looks import append, found
from tests.ctxweb.durable.sessions import fact, imported, message_list, pending

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]
ADA = Author(name="Ada", origin="page", reason="Checked")


def write(folder: Path, name: str, state: Any) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_bytes(state if isinstance(state, bytes) else json.dumps(state).encode())
    return file


def import_file(path: Path) -> ImportResult:
    return session_import(name=str(path), path=path)


def only_session() -> Session:
    return Session.objects.select_related("project", "current").get()


def contents(session: Session) -> list[str]:
    return [one.content for one in state_of(last_version(session=session.public_id)).facts]


@pytest.mark.parametrize("name", ["durable.json", "talk.durable.json"])
def test_durable_json_beside_a_session_comes_in_with_it(tmp_path: Path, name: str) -> None:
    write(tmp_path / "s", name, {"facts": [fact()], "pending_items": [pending()]})
    result = import_file(write(tmp_path / "s", "talk.jsonl", message_list()))
    assert (result.failed, result.durable_error) == (False, None)
    version = last_version(session=only_session().public_id)
    assert version is not None
    assert (version.number, version.author, version.origin, version.reason) == (1, "import", "import", f"Imported from {name}")
    assert contents(only_session()) == ["The port is 5433."]


def test_the_same_import_again_changes_nothing_and_a_grown_file_adds_to_it(tmp_path: Path) -> None:
    path = write(tmp_path / "s", "talk.jsonl", message_list())
    write(tmp_path / "s", "durable.json", {"facts": [fact()]})
    for _ in range(2):
        assert not import_file(path).failed
    assert DurableVersion.objects.count() == 1
    write(tmp_path / "s", "durable.json", {"facts": [fact(), fact("host", "db")]})
    assert not import_file(path).failed
    assert contents(only_session()) == ["The port is 5433.", "db"]


def test_two_confirmations_of_one_fact_are_kept_until_a_person_decides(tmp_path: Path) -> None:
    path = write(tmp_path / "s", "talk.jsonl", message_list())
    write(tmp_path / "s", "durable.json", {"facts": [fact()]})
    import_file(path)
    write(tmp_path / "s", "durable.json", {"facts": [fact(content="The port is 1.", last_confirmed_at="2026-10-05T09:00:00Z")]})
    for _ in range(2):
        import_file(path)
    session = only_session()
    (conflict,) = DurableProposal.objects.all()
    assert (conflict.kind, conflict.item_id, contents(session)) == ("conflict", "port", ["The port is 5433."])
    proposal_decide(project=session.project, proposal=conflict, accepted=True, expected=1, author=ADA)
    assert contents(session) == ["The port is 1."]
    import_file(path)
    assert (DurableVersion.objects.count(), DurableProposal.objects.count()) == (2, 1)


def test_what_a_person_changed_or_removed_does_not_come_back_with_the_same_file(tmp_path: Path) -> None:
    path = write(tmp_path / "s", "talk.jsonl", message_list())
    write(tmp_path / "s", "durable.json", {"facts": [fact(), fact("host", "db")]})
    import_file(path)
    session = only_session()
    changes = {"remove": {"facts": ["host"]}, "facts": [fact(content="Corrected")]}
    durable_change(project=session.project, session=session.public_id, expected=1, author=ADA, changes=changes)
    import_file(path)
    assert contents(session) == ["Corrected"]
    assert (DurableVersion.objects.count(), DurableProposal.objects.count()) == (2, 0)


@pytest.mark.parametrize(
    ("state", "named"),
    [
        ({"facts": [fact(last_confirmed_at="2026-10-01T09:00:00")]}, "facts.0: last_confirmed_at has no time zone"),
        ({"facts": [fact(), fact()]}, "two of facts have one id"),
        (b"[1]", "durable.json is no JSON object"),
        (b"{", "durable.json is no JSON object"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_field_and_the_session_is_imported(tmp_path: Path, state: Any, named: str) -> None:
    write(tmp_path / "s", "durable.json", state)
    result = import_file(write(tmp_path / "s", "talk.jsonl", message_list()))
    told = result.objects()
    assert (result.failed, [one["status"] for one in told]) == (True, ["imported", "failed"])
    assert named in told[1]["error"]["message"]
    assert not DurableVersion.objects.exists()


def test_durable_json_beside_several_sessions_has_to_name_its_own(tmp_path: Path) -> None:
    one = write(tmp_path / "s", "talk.jsonl", message_list())
    other = write(tmp_path / "s", "other.jsonl", message_list().replace(b"5433", b"6543"))
    write(tmp_path / "s", "durable.json", {"facts": [fact()]})
    for path in (one, other):
        assert not import_file(path).failed
    assert not DurableVersion.objects.exists()
    named = Session.objects.order_by("pk")[0].public_id
    write(tmp_path / "s", "durable.json", {"session": named, "facts": [fact()]})
    for path in (one, other):
        import_file(path)
    assert DurableVersion.objects.get().session == named


def archive(**files: bytes) -> io.BytesIO:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    made.seek(0)
    return made


@pytest.mark.parametrize("name", ["a/durable.json", "a/talk.durable.json"])
def test_durable_json_in_an_archive_belongs_to_the_session_of_its_folder(name: str) -> None:
    state = json.dumps({"facts": [fact()]}).encode()
    other = message_list().replace(b"5433", b"6543")
    result = session_import(name="all.zip", stream=archive(**{"a/talk.jsonl": message_list(), "b/talk.jsonl": other, name: state}))
    assert (result.failed, result.durable_error, len(result.outcomes)) == (False, None, 2)
    (version,) = DurableVersion.objects.all()
    source = Session.objects.get(public_id=version.session).current.source  # type: ignore[union-attr]  # it was imported
    assert source.member == "a/talk.jsonl"


def test_a_broken_durable_json_in_an_archive_is_told_with_its_name() -> None:
    result = session_import(name="all.zip", stream=archive(**{"talk.jsonl": message_list(), "durable.json": b"[1"}))
    assert len(result.outcomes) == 1
    assert "durable.json is no JSON object" in str(result.durable_error)


def test_an_upload_reads_nothing_beside_the_path_that_it_names(tmp_path: Path) -> None:
    write(tmp_path / "s", "durable.json", {"facts": [fact()]})
    session_import(name=str(tmp_path / "s" / "talk.jsonl"), stream=io.BytesIO(message_list()))
    assert not DurableVersion.objects.exists()


def test_a_folder_that_the_workers_import_brings_the_durable_state_too(tmp_path: Path) -> None:
    write(tmp_path / "s", "talk.jsonl", message_list())
    write(tmp_path / "s", "durable.json", {"facts": [fact()]})
    with transaction.atomic():
        job = folder_enqueue(path=str(tmp_path / "s"))
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    claimed_run(job=claimed)
    (of_file,) = Job.objects.filter(kind="import")
    assert import_finish(job=of_file).state == Job.State.SUCCEEDED
    assert contents(only_session()) == ["The port is 5433."]


def test_a_record_of_a_message_list_holds_durable_state() -> None:
    session = imported(message_list({"type": "durable", "state": {"facts": [fact()]}}))
    assert contents(session) == ["The port is 5433."]


def test_a_message_list_of_one_object_holds_it_too() -> None:
    header, *records = (json.loads(line) for line in message_list({"type": "durable", "state": {"facts": [fact()]}}).splitlines())
    assert contents(imported(json.dumps({**header, "records": records}).encode())) == ["The port is 5433."]


def test_durable_state_of_a_message_list_that_cannot_be_ends_its_import_with_line_and_field() -> None:
    data = message_list({"type": "durable", "state": {"facts": [fact(content="")]}})
    (told,) = session_import(name="x", stream=io.BytesIO(data)).objects()
    assert "Line 5, field state: facts.0: content is empty" in told["error"]["message"]


def test_an_exported_session_brings_its_durable_state_along() -> None:
    session = imported()
    changes = {"facts": [fact(content="lone \ud800 and NUL \0")], "pending_items": [pending(status="done")]}
    durable_change(project=session.project, session=session.public_id, expected=0, author=ADA, changes=changes)
    out = io.StringIO()
    session_export(session=session, out=out)
    other = imported(out.getvalue().replace('"title":"A fix"', '"title":"A fix","key":"copy"').replace('"key":"', '"key":"x', 1).encode())
    assert other.public_id != session.public_id
    states = [state_of(last_version(session=one.public_id)) for one in (session, other)]
    assert states[0] == states[1] != DurableContextState()


def test_rebuild_and_another_import_keep_durable_state_and_audit(tmp_path: Path, project: Project) -> None:
    path = write(tmp_path / "s", "talk.jsonl", message_list({"type": "durable", "state": {"facts": [fact()]}}))
    import_file(path)
    session = only_session()
    durable_change(project=project, session=session.public_id, expected=1, author=ADA, changes={"facts": [fact("host", "db")]})
    append(project, found(fact()["source_pointer"]))
    before = [list(table.objects.order_by("pk").values()) for table in (DurableVersion, AuditEntry)]
    index = set(DurableItem.objects.values_list("domain", "item_id", "pointer"))
    assert rebuild(progress=lambda line: None).failed == ()
    import_file(path)
    assert [list(table.objects.order_by("pk").values()) for table in (DurableVersion, AuditEntry)] == before
    assert set(DurableItem.objects.values_list("domain", "item_id", "pointer")) == index
    assert audit_chain(project_id=project.pk).holds
    assert only_session().public_id == session.public_id


def test_writers_at_once_lose_nothing_and_make_no_number_twice() -> None:
    session = imported()
    failed: list[Exception] = []

    def write_facts(name: str) -> None:
        try:
            for n in range(4):
                durable_import(session=session, given={"facts": [fact(f"{name}{n}")]}, author=ADA)
        except Exception as error:
            failed.append(error)
        connections.close_all()

    threads = [threading.Thread(target=write_facts, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    versions = list(DurableVersion.objects.order_by("number").values_list("number", "parent"))
    assert versions == [(n, n - 1 or None) for n in range(1, 13)]
    assert len(contents(session)) == 12


MERGES = [
    ("a new item is added", fact("new", "x"), ["port", "new"], 0),
    ("the same is the same", fact(), ["port"], 0),
    ("a later confirmation of the same words takes its place", fact(last_confirmed_at="2026-10-02T09:00:00Z"), ["port"], 0),
    ("an older confirmation of the same words is old news", fact(last_confirmed_at="2026-09-02T09:00:00Z"), ["port"], 0),
    ("other words are a conflict, whenever they were confirmed", fact(content="x", last_confirmed_at="2026-10-02T09:00:00Z"), ["port"], 1),
]


@pytest.mark.parametrize(("says", "given", "ids", "conflicts"), MERGES, ids=[case[0] for case in MERGES])
def test_what_a_fact_from_outside_does(says: str, given: dict[str, Any], ids: list[str], conflicts: int) -> None:
    result = merged(state_from({"facts": [fact()]}), state_from({"facts": [given]}), known=lambda item: False)
    assert ([one.fact_id for one in result.state.facts], len(result.conflicts)) == (ids, conflicts)
    assert result.state.facts[0].content == "The port is 5433."


@pytest.mark.parametrize(
    ("before", "given", "status", "conflicts"),
    [
        ("open", pending(status="done", last_confirmed_at="2026-10-02T09:00:00Z"), "done", 0),
        ("open", pending(status="done"), "open", 0),
        ("done", pending(status="open", last_confirmed_at="2026-10-02T09:00:00Z"), "done", 1),
        ("done", pending(status="open", last_confirmed_at="2026-09-02T09:00:00Z"), "done", 0),
        ("open", pending(description="Other work", last_confirmed_at="2026-10-02T09:00:00Z"), "open", 1),
    ],
)
def test_what_a_pending_item_from_outside_does(before: str, given: dict[str, Any], status: str, conflicts: int) -> None:
    state = state_from({"pending_items": [pending(status=before)]})
    result = merged(state, state_from({"pending_items": [given]}), known=lambda item: False)
    assert (result.state.pending_items[0].status, len(result.conflicts)) == (status, conflicts)
