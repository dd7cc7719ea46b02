"""The worked example of docs/adding.md: a source scheme is one file and one line. And the pages name each that there is."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ctxweb.sources.resolving
from ctxweb.models import Project
from ctxweb.services.source_watch import source_watch
from ctxweb.sources import SCHEMES
from tests.ctxweb.sources.made import imported, keep, look, records, resolve, said
from tests.shared import REPO

SECTION = (REPO / "docs" / "adding.md").read_text(encoding="utf-8").partition("## A source scheme")[2].partition("\n## ")[0]
SCHEME, SCHEME_LINE = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
MODULE = "ctxweb.sources.logged_messages"


@pytest.fixture
def _registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "logged_messages.py"
    path.write_text(SCHEME, encoding="utf-8")
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    exec(compile(SCHEME, str(path), "exec"), module.__dict__)
    monkeypatch.setattr(ctxweb.sources.resolving, "SCHEMES", (*SCHEMES, vars(module)[SCHEME_LINE.strip(" ,\n")]))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_registered")
def test_the_scheme_of_the_page_is_resolved_refused_and_watched_like_the_others(project: Project) -> None:
    session = imported(records(said("The port is 5433.")))
    pointer = f"message:{session.public_id}:1"
    found = resolve(project, pointer)
    assert (found.status, found.excerpt) == ("available", "The port is 5433.")
    assert found.evidence_sha256 == hashlib.sha256(b"The port is 5433.").hexdigest()
    assert look(project, f"message:{session.public_id}:9") == ("missing", "message_missing")
    assert look(project, "message:x") == ("corrupt", "malformed_pointer")
    other = Project.objects.create(id="other", name="Other")
    assert look(other, pointer) == ("denied", "policy_denied")
    keep(project, session.public_id, [pointer])
    assert [badge.status for badge in source_watch(project=project, session=session.public_id)] == ["available"]


@pytest.mark.nodb
def test_the_file_keeps_the_line_length_of_the_house() -> None:
    assert max(map(len, SCHEME.splitlines())) <= 140


@pytest.mark.nodb
def test_operations_tells_how_pointers_of_every_scheme_are_written() -> None:
    page = (REPO / "docs" / "operations.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `([a-z+]+):[A-Z]", page, re.MULTILINE)
    assert told == ["transcript", "artifact", "object", "file+git"]
    assert len(SCHEMES) == len(told)
