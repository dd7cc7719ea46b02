"""What cannot be replayed: bodies, parameters and files that are refused with their place and nothing of their content."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client

from compaction.policies import policy_named
from ctxweb.models import History, Session
from ctxweb.policy_files import file_of_policy

pytestmark = pytest.mark.django_db
DEEP = b"[" * 100_000


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"null", b"7", b"{", b"\xff", DEEP, b'{"limits": {"trigger": ' + b"9" * 5_000 + b"}}"])
def test_a_body_that_is_no_object_is_refused_in_words(session: Session, body: bytes) -> None:
    answer = _post(session, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_body")
    assert "must be one JSON object" in answer.json()["error"]["message"]


def test_a_body_that_ends_early_is_refused_with_the_line(session: Session) -> None:
    assert _post(session, b'{"policy":\n  x}').json()["error"]["message"].startswith("Line 2, column 3: ")


def test_a_misspelt_name_of_a_body_keeps_nothing(session: Session) -> None:
    answer = _post(session, b'{"polcy": "codex-auto"}')
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith("given.polcy: ")
    assert not History.objects.filter(origin="replayed").exists()


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1e300", "NaN", "1e999"])
def test_a_number_that_cannot_be_drawn_is_refused_by_its_name(session: Session, value: str) -> None:
    answer = _post(session, b'{"limits": {"window": %s}}' % value.encode())
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("window: ")


@pytest.mark.parametrize("name", ["triger", "no_layer.keep", "truncate_results.keep", "k" * 2_000])
def test_a_parameter_of_the_twin_that_is_no_limit_is_refused(session: Session, name: str) -> None:
    answer = Client().get(f"/api/v1/sessions/{session.public_id}/replay", {name: "5"})
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert message.startswith(f"{name[:80]}: ")
    assert len(message) < 1_000


def test_limits_that_are_held_to_each_other_are_taken_together(session: Session) -> None:
    limits = {"trigger": "130000", "hard_limit": "150000"}
    for address in (f"/api/v1/sessions/{session.public_id}/replay", f"/s/{session.public_id}/replay"):
        assert Client().get(address, limits).status_code == 200


def test_a_change_that_nobody_knows_changes_no_kept_replay(session: Session) -> None:
    kept = _post(session, b'{"policy": "pi"}').json()["id"]
    for change, pinned in (("bogus", False), ("pin", True), ("", True), ("unpin", False)):
        answer = Client().post(f"/s/{session.public_id}/replay/{kept}", {"change": change})
        assert (answer.status_code, History.objects.get(public_id=kept).pinned) == (302, pinned)


@pytest.mark.parametrize("ending", ["yaml", "yml", "json"])
def test_the_command_reads_a_policy_from_a_file(session: Session, tmp_path: Path, ending: str) -> None:
    path, out = tmp_path / f"mine.{ending}", StringIO()
    path.write_text(file_of_policy(policy_named("pi")), encoding="utf-8")
    call_command("replay", session.public_id, policy=str(path), json=True, stdout=out)
    assert json.loads(out.getvalue())["policy"]["id"] == "pi"


FILES = {
    # content of a policy file: what the refusal says of it
    b"a: &x [*x]\n": "line 1",
    b"id: x\n": "title",
    b"": "must be a mapping",
    b"\xff\xfe\x00": "UTF-8",
    b"[" * 100_000: "line 1",
    b'{"id": "x", "window": 1e999}': "line 1",
    b"window: " + b"9" * 6_000 + b"\nid: x\n": "",
    b"".join(b"  " * n + b"a:\n" for n in range(40)): "deep",
}


@pytest.mark.parametrize(("content", "said"), FILES.items(), ids=range(len(FILES)))
def test_a_file_that_holds_no_policy_is_refused_with_its_place(session: Session, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(CommandError) as refused:
        call_command("replay", session.public_id, policy=str(path))
    assert said in str(refused.value)
    assert len(str(refused.value)) < 1_000


def _post(session: Session, body: bytes):  # type: ignore[no-untyped-def]  # the answer of a test client
    headers = {"Authorization": f"Bearer {settings.API_TOKEN}"}
    return Client().post(f"/api/v1/sessions/{session.public_id}/replays", body, content_type="application/json", headers=headers)


def test_the_page_refuses_a_limit_that_the_policy_does_not_have(session: Session) -> None:
    answer = Client().get(f"/s/{session.public_id}/replay?policy=pi&triger=9000")
    assert answer.status_code == 400
    assert "<code>triger</code>" in answer.content.decode()


def test_the_page_offers_the_variants_of_a_policy_by_name(session: Session) -> None:
    address = f"/s/{session.public_id}/replay"
    assert "Planning preset" in Client().get(address, {"policy": "openhands-default"}).content.decode()
    planning: dict[str, str | int] = {
        "policy": "openhands-default",
        "trigger": 100,
        "summarise_keep_recent.keep_first": 6,
        "summarise_keep_recent.keep_messages": 43,
    }
    chosen = Client().get(address, planning)
    assert re.search(r'aria-current="true">Planning preset', chosen.content.decode())
