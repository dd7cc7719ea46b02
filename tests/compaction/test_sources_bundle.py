"""A bundle is checked by one file that needs nothing else, and any byte that changes is seen."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compaction.errors import AuditError
from compaction.sources import verify_bundle
from compaction.sources.bundle import bundle_lines
from compaction.sources.chain import AuditEntry, Head
from compaction.sources.verify_bundle import BundleError, canonical, check_bundle, main
from tests.compaction.test_sources_chain import CHAIN, HEAD, KEY, rechained

pytestmark = pytest.mark.nodb


def bundle(path: Path, entries: Sequence[AuditEntry] = CHAIN, *, key: bytes | None = KEY, **named: Any) -> Path:
    given = {"tenant": "p", "tool": "ctxweb 0.1.0", "made_at": "2026-11-30T10:00:00Z", **named}
    path.write_bytes(b"".join(bundle_lines(entries, key=key, **given)))
    return path


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return bundle(tmp_path / "audit.bundle", more={"remarks": [{"by": "alice", "note": "looked at"}]})


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    (tmp_path / "key").write_bytes(KEY + b"\n")
    return tmp_path / "key"


def test_a_bundle_holds_and_says_its_head_and_what_is_not_proved(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(exported)]) == 0
    said = capsys.readouterr().out
    assert f"head {HEAD}" in said
    assert "NOT PROVED: who wrote it" in said
    assert "ctxweb 0.1.0" in said


def test_the_key_proves_who_wrote_it_and_the_anchor_up_to_where(exported: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(exported), "--key", str(key_file)]) == 0
    assert "who wrote it" not in capsys.readouterr().out
    assert main([str(exported), "--anchor", f"12:{CHAIN[11].hash}"]) == 0
    assert "NOT PROVED: who wrote the entries after 12" in capsys.readouterr().out
    assert main([str(exported), "--anchor", str(HEAD)]) == 0
    assert "who wrote" not in capsys.readouterr().out


def test_every_byte_that_changes_is_seen(exported: Path, tmp_path: Path) -> None:
    raw = exported.read_bytes()
    chance = random.Random(7)
    changed = tmp_path / "changed"
    for place in [*chance.sample(range(len(raw)), 400), *range(len(raw) - 80, len(raw))]:
        changed.write_bytes(raw[:place] + bytes([raw[place] ^ (1 << chance.randrange(8))]) + raw[place + 1 :])
        assert main([str(changed)]) == 1, place


@pytest.mark.parametrize("cut", [0, 1, 100, 5000, -1])
def test_a_bundle_that_was_cut_or_has_more_does_not_hold(exported: Path, tmp_path: Path, cut: int) -> None:
    changed = tmp_path / "changed"
    for raw in (exported.read_bytes()[:cut], exported.read_bytes() + b"\n"):
        changed.write_bytes(raw)
        assert main([str(changed)]) == 1


def test_a_bundle_written_again_holds_as_a_chain_and_fails_against_the_anchor(
    tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = bundle(tmp_path / "again", rechained(CHAIN, 9, status="missing"), key=None)
    assert main([str(again)]) == 0
    assert "NOT PROVED: who wrote it" in capsys.readouterr().out
    assert main([str(again), "--anchor", str(HEAD)]) == 1
    assert "another entry than the anchor says" in capsys.readouterr().out
    assert main([str(again), "--key", str(key_file)]) == 1
    assert "forged at entry 10" in capsys.readouterr().out


def summed(lines: Sequence[bytes], path: Path) -> Path:
    """The lines with a right sum: what somebody makes who knows the format."""
    raw = b"".join(lines)
    path.write_bytes(raw + canonical({"sha256": hashlib.sha256(raw).hexdigest()}))
    return path


def manifest_changed(exported: Path, path: Path, **changes: Any) -> Path:
    first, *rest = exported.read_bytes().splitlines(keepends=True)[:-1]
    return summed([canonical({**json.loads(first), **changes}), *rest], path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "other"}, "no bundle of the format"),
        ({"tenant": 7}, "no tenant"),
        ({"tenant": "q"}, "another tenant"),
        ({"head": None}, "no head"),
        ({"start": "x"}, "no start"),
        ({"parts": []}, "lines that the manifest does not name"),
        ({"parts": [{"name": "entries"}]}, "does not name its parts"),
        ({"parts": None}, "does not name its parts"),
        ({"head": str(Head(31, "0" * 64))}, "cut at entry 31"),
        ({"start": str(Head(2, "0" * 64))}, "entry"),
    ],
)
def test_a_manifest_that_does_not_fit_is_said(exported: Path, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BundleError, match=words):
        check_bundle(manifest_changed(exported, tmp_path / "changed", **changes))


def test_a_manifest_of_another_tool_is_seen_by_the_key(exported: Path, tmp_path: Path) -> None:
    changed = manifest_changed(exported, tmp_path / "changed", tool="other")
    check_bundle(changed)
    with pytest.raises(BundleError, match="manifest was not written with this key"):
        check_bundle(changed, key=KEY)


def test_statuses_that_are_not_those_of_the_entries_are_said(exported: Path, tmp_path: Path) -> None:
    lines = exported.read_bytes().splitlines(keepends=True)[:-1]
    manifest = json.loads(lines[0])
    place = 1 + len(CHAIN)
    lines[place] = canonical({**json.loads(lines[place]), "status": "missing"})
    manifest["parts"][1]["sha256"] = hashlib.sha256(b"".join(lines[place : place + len(CHAIN)])).hexdigest()
    with pytest.raises(BundleError, match="statuses are not those"):
        check_bundle(summed([canonical(manifest), *lines[1:]], tmp_path / "changed"))


@pytest.mark.parametrize("line", [b"[]\n", b"{}\n", b"{\n", b"\xff\n", b"[" * 9999 + b"\n"])
def test_an_entry_that_is_none_is_said(exported: Path, tmp_path: Path, line: bytes) -> None:
    lines = exported.read_bytes().splitlines(keepends=True)[:-1]
    manifest = json.loads(lines[0])
    lines[3] = line
    manifest["parts"][0]["sha256"] = hashlib.sha256(b"".join(lines[1 : 1 + len(CHAIN)])).hexdigest()
    with pytest.raises(BundleError, match="an entry"):
        check_bundle(summed([canonical(manifest), *lines[1:]], tmp_path / "changed"))


def test_a_segment_says_what_is_before_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundle(tmp_path / "segment", CHAIN[10:], start=Head(10, CHAIN[9].hash))
    assert main([str(path)]) == 0
    assert "NOT PROVED: the entries 1 to 10" in capsys.readouterr().out
    with pytest.raises(BundleError, match="lies before this segment"):
        check_bundle(path, anchor=Head(3, CHAIN[2].hash))


def test_an_empty_chain_has_a_bundle(tmp_path: Path) -> None:
    assert check_bundle(bundle(tmp_path / "empty", [])).chain.count == 0


def test_a_part_cannot_take_the_name_of_another(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="entries"):
        bundle(tmp_path / "x", more={"entries": []})


def test_what_cannot_be_read_is_not_called_wrong(tmp_path: Path, exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").write_bytes(b" \n")
    assert main([str(tmp_path / "absent")]) == 2
    assert main([str(exported), "--anchor", "x"]) == 2
    assert main([str(exported), "--key", str(tmp_path / "none")]) == 2
    assert "the key file is empty" in capsys.readouterr().out


def test_nothing_in_a_bundle_can_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(bundle(tmp_path / "x", [], tenant="\x1b[2J", tool="\u202e\x07"))]) == 0
    said = capsys.readouterr().out
    assert said.isascii()
    assert all(character.isprintable() or character == "\n" for character in said)


def test_the_file_alone_checks_a_bundle_where_nothing_is_installed(exported: Path, tmp_path: Path) -> None:
    alone = tmp_path / "elsewhere"
    alone.mkdir()
    shutil.copy(verify_bundle.__file__, alone / "verify.py")
    command = [sys.executable, "-I", "-S", str(alone / "verify.py"), str(exported)]
    good = subprocess.run(command, cwd=alone, env={}, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    exported.write_bytes(exported.read_bytes().replace(b"available", b"missing!!", 1))
    bad = subprocess.run(command, cwd=alone, env={}, capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert bad.stdout.startswith("FAILED: ")


def test_the_module_runs_without_a_word_of_warning(exported: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "compaction.sources.verify_bundle", str(exported)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
