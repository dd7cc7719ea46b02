"""The corpus imported in two orders gives the same sessions and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxweb.home import Home
from ctxweb.models import Compaction, Session, Source
from ctxweb.services.session_import import session_import
from tests.shared import SHARED, needs_shared
from tests.stress.test_import_kills import clear

pytestmark = [pytest.mark.django_db(transaction=True), needs_shared]
NOT_COMPARED = ("id", "current_id", "parent_id", "imported_at")


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Home:
    made = Home(root=tmp_path / "home")
    made.prepare()
    settings.HOME = made
    return made


def told() -> list[Any]:
    names = [field.attname for field in Session._meta.concrete_fields if field.attname not in NOT_COMPARED]
    sessions = sorted(map(repr, Session.objects.values_list("parent__public_id", *names)))
    columns = ("history__public_id", "index", "line", "origin", "tokens_before", "tokens_after", "removed", "edits")
    current = Compaction.objects.filter(history__revision__state="ready")
    return [sessions, sorted(map(repr, current.values_list(*columns)))]


def test_two_orders_of_a_folder_give_the_same_sessions_and_figures(home: Home) -> None:
    files = sorted((SHARED / "corpus" / "claude_code").iterdir())
    pictures = []
    for order in (files, files[::-1]):
        clear()
        for file in order:
            assert not session_import(name=file.name, path=file).failed
        pictures.append(told())
    assert pictures[0][0] == pictures[1][0]
    assert pictures[0][1] == pictures[1][1]
    assert Source.objects.exclude(state="ready").count() == 0
