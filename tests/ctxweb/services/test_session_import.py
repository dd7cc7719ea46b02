"""What an import makes of a file that is new, known, grown, cut, rewritten or not a session at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F

from ctxweb.home import Home
from ctxweb.jobs import job_claim
from ctxweb.models import Block, Body, History, Job, Message, ModelCall, Record, Revision, Session, Source, Span
from ctxweb.replays.asked import replay_asked
from ctxweb.services.history_replay import history_replay
from ctxweb.services.jobs_run import claimed_run
from ctxweb.services.session_import import ImportResult, import_enqueue, session_import
from ctxweb.storage import blob_names, blob_read
from tests.ctxweb.services.sessions_made import SESSION, entry, lines, session

pytestmark = pytest.mark.django_db(transaction=True)
OTHER = "99999999-2222-4333-8444-555555555555"


def put(folder: Path, data: bytes, name: str = "session.jsonl") -> ImportResult:
    path = folder / name
    path.write_bytes(data)
    return session_import(name=name, path=path)


def only(result: ImportResult) -> dict[str, Any]:
    (told,) = result.objects()
    return told


def raw_of(source: Source) -> bytes:
    """The records' bytes, one after another."""
    with blob_read(sha256=source.sha256) as stream:
        data = stream.read()
    records = Record.objects.filter(source=source).order_by("number")
    for record in records:
        assert hashlib.sha256(data[record.offset : record.offset + record.length]).digest() == bytes(record.digest)
    return b"".join(data[record.offset : record.offset + record.length] for record in records)


def test_a_new_file_is_imported_with_all_that_pages_need(home: Home, tmp_path: Path) -> None:
    told = only(put(tmp_path, session(6)))
    assert (told["status"], told["format"], told["lane"], told["native_id"]) == ("imported", "claude_code", "main", SESSION)
    assert (told["records"], told["verdicts"], told["messages"], told["model_calls"]) == (6, {"ok": 6}, 6, 3)
    assert told["usage"] == {"input_tokens": 15, "cache_write_tokens": 120, "cache_read_tokens": 12000, "output_tokens": 60}
    assert told["peak_context"] == 6045
    found = Session.objects.select_related("current").get(public_id=told["session"])
    assert found.current is not None
    assert (found.message_count, found.block_count, found.call_count) == (6, 6, 3)
    assert History.objects.get(revision=found.current).public_id == f"{found.public_id}r"
    assert list(Block.objects.order_by("seq").values_list("excerpt", flat=True))[:2] == ["question 1 about getUserName 压缩", "answer 2"]
    assert None not in Block.objects.values_list("tokens", flat=True)
    assert raw_of(Source.objects.get()) == session(6)


def test_the_view_of_a_call_is_one_query_over_spans(home: Home, tmp_path: Path) -> None:
    put(tmp_path, session(6))
    seen = Span.objects.filter(from_call__lte=2, to_call__gt=2).order_by("position").values_list("seq", flat=True)
    assert list(seen) == [1, 2, 3]


def test_the_same_bytes_are_unchanged_under_any_name_and_packing(home: Home, tmp_path: Path) -> None:
    first = only(put(tmp_path, session(6)))
    for name, data in (("copy.jsonl", session(6)), ("packed.jsonl.gz", gzip.compress(session(6)))):
        again = only(put(tmp_path, data, name))
        assert {**first, "status": "unchanged", "source": name, "sha256": again["sha256"]} == again
    assert (Source.objects.count(), Session.objects.count(), len(list(blob_names()))) == (1, 1, 1)


def test_the_beginning_of_a_known_source_is_unchanged(home: Home, tmp_path: Path) -> None:
    put(tmp_path, session(6))
    told = only(put(tmp_path, session(4), "earlier.jsonl"))
    assert (told["status"], told["records"]) == ("unchanged", 6)
    assert len(list(blob_names())) == 1


@pytest.mark.parametrize("cut", [0, 1, 30], ids=["whole", "no newline", "torn tail"])
def test_a_grown_file_keeps_its_records_and_its_ids(home: Home, tmp_path: Path, cut: int) -> None:
    before = session(4)
    first = only(put(tmp_path, before[: len(before) - cut]))
    kept = list(Record.objects.filter(number__lte=3).order_by("number").values_list("pk", "number"))
    told = only(put(tmp_path, session(8)))
    assert (told["status"], told["session"], told["records"], told["verdicts"]) == ("updated", first["session"], 8, {"ok": 8})
    source = Source.objects.get()
    assert list(Record.objects.filter(number__lte=3).order_by("number").values_list("pk", "number")) == kept
    assert raw_of(source) == session(8)
    assert list(blob_names()) == [source.sha256]
    assert Revision.objects.count() == 1
    assert list(Message.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, 9))


def test_growing_in_steps_gives_what_one_import_gives(home: Home, tmp_path: Path) -> None:
    for count in (2, 3, 7):
        stepwise = only(put(tmp_path, session(count)))
    rows = list(Block.objects.order_by("seq").values_list("seq", "kind", "tokens", "estimate", "first_call", "last_call", "end"))
    Session.objects.all().delete()
    Source.objects.all().delete()
    at_once = only(put(tmp_path, session(7)))
    assert {**stepwise, "status": "imported"} == at_once
    assert list(Block.objects.order_by("seq").values_list("seq", "kind", "tokens", "estimate", "first_call", "last_call", "end")) == rows


def test_a_folder_may_hold_earlier_states_of_a_session_beside_the_last(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, count in (("a", 2), ("b", 7), ("c", 4)):
        (folder / f"{name}.jsonl").write_bytes(session(count))
    out = io.StringIO()
    call_command("import_sessions", str(folder), "--json", stdout=out)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(each["status"], each["records"]) for each in told] == [("imported", 2), ("updated", 7), ("unchanged", 7)]


def test_a_rewritten_file_is_a_revision_and_the_old_bytes_stay(home: Home, tmp_path: Path) -> None:
    old = session(6)
    new = old.replace(b"question 1", b"question X")
    first = only(put(tmp_path, old))
    told = only(put(tmp_path, new))
    assert (told["status"], told["session"]) == ("updated", first["session"])
    found = Session.objects.select_related("current__source").get()
    assert found.current is not None
    assert raw_of(found.current.source) == new
    kept = Source.objects.get(superseded_by=found.current.source)
    assert raw_of(kept) == old
    assert Revision.objects.get(source=kept).state == "superseded"


def test_a_less_full_reading_never_takes_the_place_of_a_fuller_one(home: Home, tmp_path: Path) -> None:
    full = session(6)
    less = full.replace(b'"question 3 about', b'"question 3\xff about').replace(b'{"parentUuid": null', b'{ "parentUuid": null')
    for order in ((full, less), (less, full)):
        for data in order:
            put(tmp_path, data)
        found = Session.objects.select_related("current__source").get()
        assert found.current is not None
        assert raw_of(found.current.source) == full
        assert found.verdicts == {"ok": 6}
        Session.objects.all().delete()
        Source.objects.all().delete()


def forked() -> bytes:
    """A copy of the first four records under a new session id, which goes on with calls of its own."""
    copied = []
    for number in range(1, 5):
        record = entry(number, session=OTHER)
        if number % 2 == 0:
            record["message"]["id"] = entry(number)["message"]["id"]
        copied.append(record)
    return lines(copied) + session(8, session=OTHER, start=5)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_copied_call_counts_once_whatever_the_order(home: Home, tmp_path: Path, order: tuple[str, str]) -> None:
    files = {"a": session(4), "b": forked()}
    results = {name: put(tmp_path, files[name], f"{name}.jsonl") for name in order}
    original, copy = (only(results[name]) for name in ("a", "b"))
    assert (original["model_calls"], copy["model_calls"]) == (2, 2)
    assert original["usage"]["cache_read_tokens"] + copy["usage"]["cache_read_tokens"] == 2000 + 4000 + 6000 + 8000
    inherited = Message.objects.filter(revision__session__public_id=copy["session"], inherited=True)
    assert list(inherited.order_by("seq").values_list("seq", flat=True)) == [1, 2, 3, 4]
    assert ModelCall.objects.filter(copied=True).count() == 2


@pytest.mark.parametrize("order", [("main", "agent"), ("agent", "main")])
def test_a_subagent_finds_its_parent_whatever_the_order(home: Home, tmp_path: Path, order: tuple[str, str]) -> None:
    parents = {1: None, 2: "side-1"}
    agent = lines([entry(n, isSidechain=True, agentId="a1", uuid=f"side-{n}", parentUuid=parent) for n, parent in parents.items()])
    agent = agent.replace(b"msg_1111_2", b"msg_side_2")
    files = {"main": session(4), "agent": agent}
    results = {name: put(tmp_path, files[name], f"{name}.jsonl") for name in order}
    assert only(results["agent"])["parent"] == only(results["main"])["session"]
    assert only(results["main"])["parent"] is None


@pytest.mark.parametrize("data", [b"", b" \n\n", b"# A text\n", b'{"a": 1}', b"\x00\x01\x1b[31m"])
def test_what_is_no_session_fails_with_a_reason_and_leaves_nothing(home: Home, tmp_path: Path, data: bytes) -> None:
    told = only(put(tmp_path, data))
    assert told["status"] == "failed"
    assert told["error"]["code"] in ("empty", "unsupported_format")
    assert told["error"]["message"].isprintable()
    assert (Session.objects.count(), Source.objects.count(), Record.objects.count(), list(blob_names())) == (0, 0, 0, [])


def test_an_unknown_format_names_the_known_ones_and_what_was_seen(home: Home, tmp_path: Path) -> None:
    message = only(put(tmp_path, b"# A \xffnote\n"))["error"]["message"]
    assert "claude_code, codex" in message
    assert r"# A \xffnote" in message


def test_a_missing_file_fails_with_its_name(home: Home, tmp_path: Path) -> None:
    told = only(session_import(name="gone.jsonl", path=tmp_path / "gone.jsonl"))
    assert (told["status"], told["error"]["code"]) == ("failed", "unreadable")
    assert "gone.jsonl" in told["error"]["message"]


def test_a_text_is_one_body_counted_once_and_found_by_its_words(home: Home, tmp_path: Path) -> None:
    from django.db import connection

    put(tmp_path, session(4))
    put(tmp_path, session(4, session=OTHER), "other.jsonl")
    assert Body.objects.count() == 4
    if connection.vendor == "sqlite":
        query, phrase = "SELECT rowid FROM ctxweb_body_words WHERE words MATCH %s", '"get" + "user" + "na" * "压缩"'
    else:
        query, phrase = "SELECT body_id FROM ctxweb_body_words WHERE words @@ to_tsquery('simple', %s)", "get <-> user <-> na:* & 压缩"
    with connection.cursor() as cursor:
        cursor.execute(query, [phrase])
        found = {row[0] for row in cursor.fetchall()}
    assert set(Body.objects.filter(id__in=found).values_list("text", flat=True)) == {
        "question 1 about getUserName 压缩",
        "question 3 about getUserName 压缩",
    }


def test_a_nul_in_a_text_is_shown_as_its_picture_on_both_databases(home: Home, tmp_path: Path) -> None:
    put(tmp_path, session(2).replace(b"answer 2", b"ans\\u0000wer"))
    assert Body.objects.filter(text="ans␀wer").exists()


def test_an_upload_is_stored_before_its_job_is_there(home: Home) -> None:
    job = import_enqueue(name="up.jsonl", stream=io.BytesIO(session(2)))
    assert job.state == Job.State.QUEUED
    assert list(blob_names()) == [hashlib.sha256(session(2)).hexdigest()]
    assert Session.objects.count() == 0


def test_replays_that_were_kept_are_made_again_over_a_session_that_has_grown(home: Home, tmp_path: Path) -> None:
    told = only(put(tmp_path, session(8)))
    lane = Session.objects.select_related("current").get(public_id=told["session"])
    assert lane.current is not None
    kept = history_replay(session=lane, revision=lane.current, asked=replay_asked(limits={"trigger": 50, "hard_limit": 90}))
    History.objects.filter(public_id=kept.history).update(pinned=True)
    put(tmp_path, session(20))
    (job,) = Job.objects.filter(kind="replay")
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    claimed_run(job=claimed)
    (history,) = History.objects.filter(origin="replayed", revision__session__current=F("revision"))
    assert (history.public_id, history.pinned) == (kept.history, True)
