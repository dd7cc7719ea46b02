"""A project's roots, keys and schedule are set by a command, and what cannot be is refused by its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ctxweb.models import Project

pytestmark = pytest.mark.django_db


def test_what_is_given_is_set_and_the_rest_stays(tmp_path: Path, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    call_command("project", "--transcripts", str(tmp_path / "link"), "--artifacts", str(tmp_path), "--manifest-keys", "AB" * 32)
    capsys.readouterr()
    call_command("project", "--verify-minutes", "60")
    shown = json.loads(capsys.readouterr().out)
    assert shown["transcript_roots"] == [str(tmp_path / "real")], "a look follows no link"
    assert (shown["artifact_roots"], shown["manifest_keys"], shown["verify_minutes"]) == ([str(tmp_path)], ["ab" * 32], 60)
    call_command("project", "--transcripts", "--verify-minutes", "0")
    project.refresh_from_db()
    assert (project.transcript_roots, project.artifact_roots, project.verify_minutes) == ([], [str(tmp_path)], None)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--transcripts", "/nowhere/at/all"], "transcript_roots"),
        (["--artifacts", __file__], "artifact_roots"),
        (["--manifest-keys", "abc"], "manifest_keys"),
        (["--verify-minutes", "-1"], "verify_minutes"),
        (["nosuch"], "no project 'nosuch'"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_set(project: Project, arguments: list[str], named: str) -> None:
    with pytest.raises(CommandError, match=named):
        call_command("project", *arguments)
    project.refresh_from_db()
    assert (project.transcript_roots, project.artifact_roots, project.manifest_keys, project.verify_minutes) == ([], [], [], None)
