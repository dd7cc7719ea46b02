"""Every real session of the corpus that recorded compactions: recorded and replayed side by side, with balances that hold exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from ctxweb.models import Session
from ctxweb.services.session_import import session_import
from tests.evidence.elements import page_of
from tests.evidence.homes import shared_home
from tests.evidence.replay_page import replay
from tests.shared import SHARED, needs_shared

pytestmark = [needs_shared, pytest.mark.django_db]
INDEX = SHARED / "corpus" / "index.jsonl"
POLICIES = ("workbuddy-s14", "learn-claude-code-s08", "dsh-basic", "claude-code-auto")


def files() -> list[Path]:
    """The files of the corpus in formats that can be read."""
    if not INDEX.is_file():
        return []
    entries = [json.loads(line) for line in INDEX.read_text(encoding="utf-8").splitlines() if line.strip()]
    names = {str(entry.get("file") or entry.get("path") or "") for entry in entries}
    found = sorted(path for path in (SHARED / "corpus" / name for name in names) if path.is_file())
    return [path for path in found if path.parent.name in ("claude_code", "codex", "dsh", "openai_messages")]


@pytest.fixture(scope="module")
def sessions(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Session]]:
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("real")):
        with django_db_blocker.unblock():
            for path in files():
                session_import(name=path.name, path=path)
            found = list(Session.objects.filter(recorded_compactions__gt=0, call_count__gt=0).order_by("public_id"))
        yield found


def test_recorded_and_replayed_stand_side_by_side_and_every_balance_holds(sessions: list[Session]) -> None:
    assert sessions, "the corpus has sessions with recorded compactions"
    for session in sessions:
        for policy in POLICIES:
            address = f"/s/{session.public_id}/replay?policy={policy}"
            answer = Client().get(address)
            assert answer.status_code == 200, address
            assert len(answer.content) < 100_000, address
            shown = page_of(answer.content.decode())
            twin = Client().get(answer.context["frame"].json)
            assert twin.status_code == 200, address
            replay(shown, twin.json(), lambda path: None)
            assert shown.all("div", id="plot-recorded"), address
            assert shown.all("div", id="plot-replayed"), address
            assert twin.json()["recorded"] or session.removed_blocks == 0, address
