"""A rebuild makes kept replays again: what was asked for is in no source."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test.utils import override_settings

from ctxweb.home import Home
from ctxweb.models import History, Session, Span
from ctxweb.replays.asked import replay_asked
from ctxweb.services.history_replay import history_pin, history_replay
from ctxweb.services.rebuild import rebuild
from tests.evidence.homes import demo_file, imported


def spans_of(history: History) -> list[tuple[int, ...]]:
    rows = Span.objects.filter(history=history).order_by("seq", "i", "from_call")
    return list(rows.values_list("seq", "i", "from_call", "to_call"))


@pytest.mark.django_db(transaction=True)
def test_a_replay_has_its_id_its_spans_and_its_pin_after_a_rebuild(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home")
    with override_settings(HOME=home):
        home.prepare()
        session = imported(name="demo-long.jsonl", data=demo_file("long"))
        assert session.current is not None
        kept = history_replay(session=session, revision=session.current, asked=replay_asked(limits={"trigger": 9_000}))
        history = History.objects.get(public_id=kept.history)
        history_pin(history=history, pinned=True)
        before = list(
            Span.objects.filter(history=history).order_by("seq", "i", "from_call").values_list("seq", "i", "from_call", "to_call")
        )
        assert rebuild(progress=lambda line: None).failed == ()
        again = History.objects.get(public_id=kept.history)
        assert again.pk != history.pk
        assert again.pinned
        assert Session.objects.get(public_id=session.public_id).current_id == again.revision_id
        assert spans_of(again) == before
