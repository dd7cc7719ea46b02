"""The resolver: asked first, then a look that no name, link, pipe, size or change can mislead."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compaction.durable.values import DurableContextState
from compaction.errors import SourceSystemError
from compaction.render import render_durable_context
from compaction.sources import files
from compaction.sources.base import Bounds
from compaction.sources.files import FileRules, Root
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolver import Resolver, resolve_durable_sources
from compaction.sources.transcript import Transcripts
from compaction.sources.transcript_index import TranscriptIndex
from tests.compaction.durable_states import evidence, fact, item
from tests.compaction.source_trees import artifact, resolver, sha256, transcript
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.nodb
INDEX = SHARED / "cases" / "index.jsonl"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    transcript(tmp_path, "s1", {"content": "one"}, {"content": "two"}, {"content": "three"})
    artifact(tmp_path, "s1", "r1.txt", b"a result\n")
    return tmp_path


# --- asked first ---


def test_a_denied_pointer_makes_no_call_to_the_system(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two spies: every call of the module that opens files, and every event that the interpreter audits."""
    calls: list[str] = []
    events: list[str] = []
    is_watching = False

    class Spy:
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            return getattr(os, name)

    sys.addaudithook(lambda event, _: events.append(event) if is_watching else None)
    with resolver(tree, authorise=lambda pointer: False) as made:
        monkeypatch.setattr(files, "os", Spy())
        is_watching = True
        answers = [made.resolve(pointer) for pointer in ("transcript:s1:1", "artifact:s1:r1.txt:" + "a" * 12, "transcript:nobody:1")]
        is_watching = False
        monkeypatch.undo()
    assert [(one.status, one.reason, one.evidence_sha256) for one in answers] == [("denied", "policy_denied", None)] * 3
    assert calls == []
    assert [event for event in events if event.startswith(("open", "os.", "socket", "sqlite3"))] == []


@pytest.mark.parametrize("answer", [False, None, 1, "True", [True]])
def test_only_true_allows(tree: Path, answer: Any) -> None:
    with resolver(tree, authorise=lambda pointer: answer) as made:
        assert made.resolve("transcript:s1:1").reason == "policy_denied"


@pytest.mark.parametrize("raised", [PermissionError("no"), ValueError("x"), MemoryError(), RecursionError()])
def test_a_policy_that_raises_denies(tree: Path, raised: Exception) -> None:
    def authorise(pointer: SourcePointer) -> bool:
        raise raised

    with resolver(tree, authorise=authorise) as made:
        assert made.resolve("transcript:s1:1").reason == "policy_denied"


def test_a_policy_that_could_not_ask_its_database_decides_nothing(tree: Path) -> None:
    def authorise(pointer: SourcePointer) -> bool:
        if pointer.session_id == "s1":
            return True
        raise SourceSystemError("the database is away", cause="database")

    with resolver(tree, authorise=authorise) as made:
        resolved = made.resolve_all(["transcript:s1:1", "transcript:s2:1"])
    assert [one.status for one in resolved.resolutions] == ["available"]
    assert [one.pointer for one in resolved.failures] == ["transcript:s2:1"]


def test_a_malformed_pointer_is_corrupt_before_the_policy_is_asked(tree: Path) -> None:
    asked: list[SourcePointer] = []

    def authorise(pointer: SourcePointer) -> bool:
        asked.append(pointer)
        return True

    with resolver(tree, authorise=authorise) as made:
        assert made.resolve("transcript:s1:x").status == "corrupt"
        assert made.resolve("memory:x").status == "unsupported"
    assert asked == []


# --- the shared trees ---


def tree_cases() -> list[dict[str, Any]]:
    lines = INDEX.read_text().splitlines() if INDEX.is_file() else []
    return [case for case in map(json.loads, lines) if case["area"] == "artifacts"]


def built(case: dict[str, Any], folder: Path) -> Path:
    spec = importlib.util.spec_from_file_location("build_case", SHARED / "cases" / "build_case.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(case, folder)
    (folder / "state" / "transcripts").mkdir(parents=True, exist_ok=True)
    return folder / "state"


def fits(expected: Any, status: str) -> bool:
    return status in expected["$any"] if isinstance(expected, dict) else status == expected


@needs_shared
@pytest.mark.parametrize("case", tree_cases(), ids=lambda case: str(case["id"]))
def test_a_shared_tree_has_the_statuses_that_it_says(case: dict[str, Any], tmp_path: Path) -> None:
    if case["kind"] == "permissions" and os.geteuid() == 0:
        pytest.skip("root reads every file")
    if case["kind"] == "race":
        pytest.skip("the race is run in tests/stress/test_source_races.py")

    def raises(pointer: SourcePointer) -> bool:
        raise PermissionError("no")

    folder = built(case, tmp_path)
    authorise: dict[str, Any] = {"authorise": raises} if case.get("authorize") == "raises" else {}
    with resolver(folder, folders=(), **authorise) as made:
        for one in case["resolve"]:
            answer = made.resolve(one["pointer"])
            assert fits(one["status"], answer.status), (one, answer)
            assert answer.evidence_sha256 == one.get("sha256", answer.evidence_sha256)
            assert "outside secret" not in str(answer.excerpt)
            assert str(tmp_path) not in repr(answer)


# --- files ---


def test_a_file_that_is_none_is_corrupt_and_its_reason_says_of_what(tree: Path) -> None:
    (tree / "transcripts" / "dir.jsonl").mkdir()
    os.mkfifo(tree / "transcripts" / "pipe.jsonl")
    with resolver(tree) as made:
        assert made.resolve("transcript:dir:1").reason == "transcript_not_a_file"
        assert made.resolve("transcript:pipe:1").reason == "transcript_not_a_file"


def test_a_second_name_is_denied_unless_the_root_allows_it(tree: Path) -> None:
    os.link(tree / "transcripts" / "s1.jsonl", tree / "transcripts" / "s2.jsonl")
    with resolver(tree) as made:
        assert made.resolve("transcript:s2:1").reason == "hard_link"
    with resolver(tree, rules=FileRules(links=True)) as made:
        assert made.resolve("transcript:s2:1").status == "available"


def test_another_device_is_outside_unless_the_root_allows_it(tree: Path) -> None:
    with resolver(tree) as made:
        assert isinstance(made.schemes[0], Transcripts)
        made.schemes[0].root.device += 1
        assert made.resolve("transcript:s1:1").reason == "ownership_boundary"
    with resolver(tree, rules=FileRules(devices=True)) as made:
        assert isinstance(made.schemes[0], Transcripts)
        made.schemes[0].root.device += 1
        assert made.resolve("transcript:s1:1").status == "available"


@pytest.mark.parametrize(("most", "status"), [(8, "corrupt"), (9, "available"), (10, "available")])
def test_the_size_cap_is_inclusive(tree: Path, most: int, status: str) -> None:
    with resolver(tree, bounds=Bounds(most_source_bytes=most)) as made:
        answer = made.resolve(f"artifact:s1:r1.txt:{sha256(b'a result' + bytes([10]))}")
    assert (answer.status, answer.reason) == (status, "verified_artifact" if status == "available" else "source_too_large")


def test_a_root_that_is_a_link_or_no_folder_is_outside_and_an_absent_one_holds_nothing(tree: Path) -> None:
    (tree / "link").symlink_to(tree / "transcripts")
    expected = {"link": "ownership_boundary", "transcripts/s1.jsonl": "ownership_boundary", "absent": "transcript_missing"}
    for name, reason in expected.items():
        with Root(tree / name) as root:
            made = Resolver(schemes=(Transcripts(root=root),), authorise=lambda _: True)
            assert made.resolve("transcript:s1:1").reason == reason


def test_a_closed_root_is_an_error_and_no_status(tree: Path) -> None:
    with resolver(tree) as made:
        pass
    with pytest.raises(SourceSystemError, match="EBADF"):
        made.resolve("transcript:s1:1")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_name_that_is_no_segment_opens_nothing_even_past_the_grammar(tree: Path, name: str) -> None:
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "s1.jsonl").write_text("{}")
    with Root(tree) as root, pytest.raises(FileNotFoundError), root.opened((name,), "s1.jsonl"):
        pass


def test_no_descriptor_stays_open(tree: Path) -> None:
    pointers = [
        "transcript:s1:1",
        "transcript:s1:9",
        "artifact:s1:r1.txt:" + "0" * 12,
        "artifact:no:r1.txt:" + "0" * 12,
        "artifact:s1:no:" + "0" * 12,
    ]
    os.mkfifo(tree / "transcripts" / "pipe.jsonl")
    with resolver(tree) as made:
        before = len(os.listdir("/proc/self/fd"))
        made.resolve_all([*pointers, "transcript:pipe:1"])
        assert len(os.listdir("/proc/self/fd")) == before


# --- what the system says ---

STATUS_OF_ERRORS = [
    (errno.ENOENT, "missing", "transcript_missing"),
    (errno.ESTALE, "missing", "source_disappeared"),
    (errno.ELOOP, "denied", "ownership_boundary"),
    (errno.ENOTDIR, "denied", "ownership_boundary"),
    (errno.EACCES, "denied", "filesystem_denied"),
    (errno.EPERM, "denied", "filesystem_denied"),
    (errno.ENXIO, "corrupt", "transcript_not_a_file"),
    (errno.EIO, "corrupt", "source_read_failed"),
]
ERRORS = [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN, errno.ETIMEDOUT, errno.EINVAL, errno.EBUSY]


def failing(call: str, error: BaseException, times: int = 99) -> Any:
    """The module `os` in which one call fails the first few times."""
    left = times

    def fail(*given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            raise error
        return getattr(os, call)(*given, **named)

    class Failing:
        def __getattr__(self, name: str) -> Any:
            return fail if name == call else getattr(os, name)

    return Failing()


@pytest.mark.parametrize(("number", "status", "reason"), STATUS_OF_ERRORS)
@pytest.mark.parametrize("call", ["open", "pread"])
def test_an_error_about_the_source_is_a_status(
    tree: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, status: str, reason: str
) -> None:
    with resolver(tree) as made:
        monkeypatch.setattr(files, "os", failing(call, OSError(number, f"/secret/{number}")))
        answer = made.resolve("transcript:s1:1")
    assert (answer.status, answer.reason) == (status, reason)
    assert answer.is_alarming == (number == errno.EIO)
    assert "secret" not in repr(answer)


@pytest.mark.parametrize("number", ERRORS)
@pytest.mark.parametrize("call", ["open", "pread", "fstat"])
@pytest.mark.parametrize("pointer", ["transcript:s1:1", "artifact:s1:r1.txt:" + "0" * 12])
def test_an_error_of_the_machine_is_raised_and_never_a_status(
    tree: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, pointer: str
) -> None:
    with resolver(tree) as made:
        monkeypatch.setattr(files, "os", failing(call, OSError(number, "/secret")))
        with pytest.raises(SourceSystemError) as raised:
            made.resolve(pointer)
    assert raised.value.cause == errno.errorcode[number]
    assert "secret" not in str(raised.value)


def test_too_many_open_files_for_real_is_an_error_and_is_over_afterwards(tree: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with resolver(tree) as made:
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, limits[1]))
        try:
            raised = made.resolve_all(["transcript:s1:1"]).failures
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert [one.error.cause for one in raised] == ["EMFILE"]
        assert made.resolve("transcript:s1:1").status == "available"


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "x"), MemoryError()])
def test_a_look_that_the_machine_refused_once_is_made_again(tree: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    with resolver(tree) as made:
        monkeypatch.setattr(files, "os", failing("open", error, times=1))
        assert made.resolve("transcript:s1:1").status == "available"
    monkeypatch.undo()
    with resolver(tree, tries=1) as made:
        monkeypatch.setattr(files, "os", failing("open", error, times=1))
        with pytest.raises(SourceSystemError):
            made.resolve("transcript:s1:1")


# --- changes ---


def changing(path: Path, change: Callable[[Path, int], None], times: int) -> Any:
    """The module `os` in which a file changes at each read, the first few times."""
    reads = 0

    def read(descriptor: int, count: int, offset: int) -> bytes:
        nonlocal reads
        reads += 1
        piece = os.pread(descriptor, count, offset)
        if reads <= times:
            change(path, reads)
        return piece

    class Changing:
        def __getattr__(self, name: str) -> Any:
            return read if name == "pread" else getattr(os, name)

    return Changing()


def touch(path: Path, count: int) -> None:
    os.utime(path, ns=(count, count))


def grow(path: Path, count: int) -> None:
    with path.open("ab") as file:
        file.write(b'{"content": "later"}\n')


def overwrite(path: Path, count: int) -> None:
    path.write_bytes(b'{"content": "%d"}\n' % count * 3)


def replace(path: Path, count: int) -> None:
    path.with_name("new").write_bytes(path.read_bytes())
    path.with_name("new").replace(path)


def delete(path: Path, count: int) -> None:
    path.unlink()


def status_while(tree: Path, path: Path, pointer: str, change: Any, times: int, monkeypatch: pytest.MonkeyPatch) -> str:
    with resolver(tree) as made:
        monkeypatch.setattr(files, "os", changing(path, change, times))
        answer = made.resolve(pointer).reason
        monkeypatch.undo()
    return answer


@pytest.mark.parametrize("change", [touch, replace, grow])
def test_an_artifact_that_changed_is_read_once_more_and_then_corrupt(tree: Path, monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    path = tree / "artifacts" / "s1" / "tool-results" / "r1.txt"
    pointer = f"artifact:s1:r1.txt:{sha256(path.read_bytes())}"
    once = status_while(tree, path, pointer, change, 1, monkeypatch)
    assert once == ("artifact_digest_mismatch" if change is grow else "verified_artifact")
    assert status_while(tree, path, pointer, change, 9, monkeypatch) == "changed_during_read"


def test_a_source_that_vanished_while_it_was_read_has_disappeared(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree / "artifacts" / "s1" / "tool-results" / "r1.txt"
    assert status_while(tree, path, "artifact:s1:r1.txt:" + "0" * 12, delete, 1, monkeypatch) == "source_disappeared"
    assert status_while(tree, tree / "transcripts" / "s1.jsonl", "transcript:s1:1", delete, 1, monkeypatch) == "source_disappeared"


def test_a_transcript_that_grows_all_the_time_is_still_verified(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree / "transcripts" / "s1.jsonl"
    assert status_while(tree, path, "transcript:s1:3", grow, 9, monkeypatch) == "verified_transcript_event"


def test_a_transcript_whose_line_changes_all_the_time_is_corrupt(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree / "transcripts" / "s1.jsonl"
    assert status_while(tree, path, "transcript:s1:1", overwrite, 9, monkeypatch) == "changed_during_read"


def test_a_file_without_a_name_has_disappeared_even_where_links_are_allowed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unlinking:
        def __getattr__(self, name: str) -> Any:
            if name == "fstat":
                (tree / "transcripts" / "s1.jsonl").unlink(missing_ok=True)
            return getattr(os, name)

    with resolver(tree, rules=FileRules(links=True)) as made:
        monkeypatch.setattr(files, "os", Unlinking())
        assert made.resolve("transcript:s1:1").reason == "source_disappeared"


# --- transcripts ---


def test_many_pointers_of_one_transcript_are_one_pass(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    class Spy:
        def __getattr__(self, name: str) -> Any:
            if name == "open":
                opened.append(name)
            return getattr(os, name)

    with resolver(tree) as made:
        monkeypatch.setattr(files, "os", Spy())
        pointers = [f"transcript:s1:{number}" for number in (3, 1, 9, 2)]
        resolved = made.resolve_all([*pointers, pointers[0]]).resolutions
    assert [one.pointer for one in resolved] == pointers
    assert [one.excerpt for one in resolved] == ["three", "one", None, "two"]
    assert len(opened) == 1


def test_a_bad_line_makes_what_is_wanted_from_it_on_corrupt_and_nothing_before(tmp_path: Path) -> None:
    transcript(tmp_path, "s", {"content": "a"}, b"{bad", {"content": "c"})
    (tmp_path / "artifacts").mkdir()
    with resolver(tmp_path) as made:
        answers = made.resolve_all([f"transcript:s:{number}" for number in (1, 2, 3, 4)]).resolutions
        alone = made.resolve("transcript:s:1")
    assert [one.reason for one in answers] == ["verified_transcript_event", *["transcript_invalid_json"] * 3]
    assert alone.status == "available"


LINES = [
    (b'{"sequence": 1, "session_id": "s", "event_id": "transcript:s:1"}', "verified_transcript_event"),
    (b'{"sequence": 1.0}', "transcript_sequence_mismatch"),
    (b'{"sequence": null}', "transcript_sequence_mismatch"),
    (b'{"session_id": null}', "transcript_session_mismatch"),
    (b'{"event_id": ["transcript:s:1"]}', "transcript_event_id_mismatch"),
    (b'{"content": "\xed\xa0\x80"}', "source_not_utf8"),
    (b'\xef\xbb\xbf{"content": 1}', "transcript_invalid_json"),
    (b'{"a": ' + b"9" * 5000 + b"}", "transcript_invalid_json"),
    (b'{"a": ' + b"[" * 40_000 + b"]" * 40_000 + b"}", "transcript_invalid_json"),
    (b'{"content": "' + b"h" * (99_999 - 15) + b'"}', "verified_transcript_event"),
    (b'{"content": "' + b"h" * (100_000 - 15) + b'"}', "transcript_record_too_large"),
    (b"x" * 3_000_000, "transcript_record_too_large"),
    (b'{"content": "\\ud800"}', "verified_transcript_event"),
    (b"", "transcript_invalid_json"),
]


@pytest.mark.parametrize(("line", "reason"), LINES, ids=range(len(LINES)))
def test_a_line_is_an_event_or_says_what_it_is_not(tmp_path: Path, line: bytes, reason: str) -> None:
    transcript(tmp_path, "s", line)
    (tmp_path / "artifacts").mkdir()
    with resolver(tmp_path) as made:
        answer = made.resolve("transcript:s:1")
    assert answer.reason == reason
    assert answer.evidence_sha256 == (sha256(line) if answer.status == "available" else None)


def test_lines_that_cross_pieces_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = transcript(tmp_path, "s", *({"content": "é" * length} for length in range(40)))
    (tmp_path / "artifacts").mkdir()
    monkeypatch.setattr(files, "PIECE_BYTES", 7)
    with resolver(tmp_path) as made:
        answers = made.resolve_all([f"transcript:s:{number}" for number in range(1, 41)]).resolutions
    assert [one.evidence_sha256 for one in answers] == [sha256(line) for line in written]


def reads_of(tree: Path, made: Resolver, pointers: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int]:
    """The reasons, and how many bytes were read for them."""
    count = 0

    def read(descriptor: int, length: int, offset: int) -> bytes:
        nonlocal count
        piece = os.pread(descriptor, length, offset)
        count += len(piece)
        return piece

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return read if name == "pread" else getattr(os, name)

    monkeypatch.setattr(files, "os", Counting())
    reasons = [one.reason for one in made.resolve_all(pointers).resolutions]
    monkeypatch.undo()
    return reasons, count


def test_with_an_index_a_transcript_that_has_not_changed_is_read_by_the_lines_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = transcript(tmp_path, "s", *({"content": f"line {number}" * number} for number in range(1, 301)), b"{bad")
    pointers = [f"transcript:s:{number}" for number in (200, 3, 301, 999)]
    with Root(tmp_path / "transcripts") as root:
        made = Resolver(schemes=(Transcripts(root=root, index=TranscriptIndex()),), authorise=lambda _: True)
        fresh = Resolver(schemes=(Transcripts(root=root),), authorise=lambda _: True)
        first = made.resolve_all(pointers)
        assert first == fresh.resolve_all(pointers)
        reasons, count = reads_of(tmp_path, made, pointers, monkeypatch)
        assert made.resolve_all(pointers) == first
        assert count == len(lines[199]) + len(lines[2]) + 2
        (tmp_path / "transcripts" / "s.jsonl").write_bytes(b"{}\n")
        assert made.resolve_all(pointers) == fresh.resolve_all(pointers)
    assert reasons == ["verified_transcript_event"] * 2 + ["transcript_invalid_json"] * 2


def test_an_index_goes_on_where_it_ended_and_forgets_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = transcript(tmp_path, "s", *({"content": str(number)} for number in range(10)))
    transcript(tmp_path, "t", {})
    monkeypatch.setattr(files, "PIECE_BYTES", 16)
    with Root(tmp_path / "transcripts") as root:
        made = Resolver(schemes=(Transcripts(root=root, index=TranscriptIndex(most_sessions=1)),), authorise=lambda _: True)
        made.resolve("transcript:s:5")
        assert reads_of(tmp_path, made, ["transcript:s:10"], monkeypatch) == (["verified_transcript_event"], sum(map(len, lines[5:])) + 5)
        assert reads_of(tmp_path, made, ["transcript:s:11"], monkeypatch) == (["transcript_event_missing"], 0)
        assert reads_of(tmp_path, made, ["transcript:s:12"], monkeypatch) == (["transcript_event_missing"], 0)
        made.resolve("transcript:t:1")
        assert reads_of(tmp_path, made, ["transcript:s:10"], monkeypatch)[1] == sum(map(len, lines)) + 10


# --- artifacts ---


def test_an_artifact_in_small_pieces_has_its_digest_its_utf8_and_its_excerpt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "aé证😀" * 500
    pointers = [artifact(tmp_path, "s", "good", text.encode()), artifact(tmp_path, "s", "cut", text.encode()[:-1])]
    pointers.append(artifact(tmp_path, "s", "late", b"a" * 5000 + b"\xff"))
    (tmp_path / "transcripts").mkdir()
    for size in (1, 2, 3, 1000, 2**20):
        monkeypatch.setattr(files, "PIECE_BYTES", size)
        with resolver(tmp_path, bounds=Bounds(excerpt_chars=7)) as made:
            answers = made.resolve_all(pointers).resolutions
        assert [one.reason for one in answers] == ["verified_artifact", "artifact_not_utf8", "artifact_not_utf8"]
        assert answers[0].excerpt == text[:7]


def test_a_short_digest_is_checked_and_the_full_one_recorded(tree: Path) -> None:
    full = sha256(b"a result\n")
    with resolver(tree) as made:
        assert made.resolve(f"artifact:s1:r1.txt:{full[:12].upper()}").evidence_sha256 == full


# --- bounds ---


def test_the_byte_budget_of_a_run_is_an_error_and_no_status(tree: Path) -> None:
    with resolver(tree, bounds=Bounds(bytes_left=10)) as made:
        resolved = made.resolve_all([f"artifact:s1:r1.txt:{sha256(b'a result' + bytes([10]))}", "transcript:s1:1"])
    assert [one.status for one in resolved.resolutions] == ["available"]
    assert [(one.pointer, one.error.cause) for one in resolved.failures] == [("transcript:s1:1", "byte_budget")]


def test_the_deadline_of_a_pointer_is_an_error_and_no_status(tree: Path) -> None:
    ticks: Iterator[int] = iter(range(0, 1000, 3))
    with resolver(tree, bounds=Bounds(seconds=2, clock=lambda: next(ticks))) as made, pytest.raises(SourceSystemError) as raised:
        made.resolve("transcript:s1:1")
    assert raised.value.cause == "deadline"


def test_a_look_that_ran_out_of_time_is_not_made_again_in_its_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: Iterator[int] = iter(range(0, 1000, 3))
    with resolver(tree, bounds=Bounds(seconds=2, clock=lambda: next(ticks)), tries=9) as made:
        assert made.resolve_all(["transcript:s1:1"]).failures
    assert next(ticks) == 6


def test_a_sparse_file_below_the_cap_stops_at_the_byte_budget(tree: Path) -> None:
    path = tree / "artifacts" / "s1" / "tool-results" / "big"
    with path.open("wb") as file:
        file.truncate(2**31)
    with resolver(tree, bounds=Bounds(bytes_left=2**22)) as made, pytest.raises(SourceSystemError):
        made.resolve("artifact:s1:big:" + "0" * 12)


# --- durable state ---


def test_a_state_is_resolved_in_its_order_and_rendered_with_the_round(tree: Path) -> None:
    state = DurableContextState(
        facts=(fact("a", source_pointer="transcript:s1:2"), fact("b", source_pointer="transcript:s1:9")),
        pending_items=(item("c", source_pointer="transcript:s1:2"), item("d", source_pointer="memory:x")),
        retrieval_evidence=(evidence(source_id="transcript:s1:1"),),
    )
    with resolver(tree) as made:
        found = resolve_durable_sources(state, made, run="round 7")
    assert [(one.pointer, one.status, one.run) for one in found] == [
        ("transcript:s1:2", "available", "round 7"),
        ("transcript:s1:9", "missing", "round 7"),
        ("memory:x", "unsupported", "round 7"),
    ]
    text = render_durable_context(state, found, run="round 7")
    assert found[0].excerpt == "two"
    assert "two" not in text


def test_a_round_with_a_gap_binds_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resolver(tree) as made:
        monkeypatch.setattr(files, "os", failing("open", OSError(errno.EMFILE, "x")))
        with pytest.raises(SourceSystemError):
            resolve_durable_sources(DurableContextState(facts=(fact(source_pointer="transcript:s1:1"),)), made)


def test_an_excerpt_is_in_no_repr(tree: Path) -> None:
    with resolver(tree) as made:
        answer = made.resolve("transcript:s1:1")
    assert answer.excerpt == "one"
    assert "excerpt" not in repr(answer)


@contextlib.contextmanager
def somebody_else() -> Iterator[None]:
    """As a user who is not root, where the test runs as root."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(own)


@pytest.mark.parametrize("name", ["s1.jsonl", "."])
def test_what_may_not_be_read_is_denied_and_not_missing(tree: Path, name: str) -> None:
    path = tree / "transcripts" / name
    with resolver(tree) as made:
        path.chmod(0)
        with somebody_else():
            answers = made.resolve_all(["transcript:s1:1", "transcript:absent:1"]).resolutions
        path.chmod(0o700)
    denied = ("denied", "filesystem_denied")
    assert (answers[0].status, answers[0].reason) == denied
    assert answers[1].status == ("missing" if name == "s1.jsonl" else "denied")
