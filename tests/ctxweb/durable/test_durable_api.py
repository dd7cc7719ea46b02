"""The durable state over the API: versions with a check, one error form, and nothing that is overwritten."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.test import Client, override_settings

from compaction.durable.canonical import state_digest, state_from_json
from ctxweb.append_only import triggers_create, triggers_drop
from ctxweb.models import LOCAL, DurableItem, DurableVersion, Project, Record, Session
from ctxweb.queries.durable_chain import VersionsState, versions_state
from ctxweb.services import source_confirm
from ctxweb.services.durable_versions import durable_reindex
from tests.ctxweb.durable.looks import append, found, missing
from tests.ctxweb.durable.sessions import fact, hit, pending
from tests.evidence.schema import faults

pytestmark = pytest.mark.django_db


class Api:
    """Requests about one session, as a script of this machine sends them."""

    def __init__(self, session: Session) -> None:
        self.root = f"/api/v1/sessions/{session.public_id}/durable"

    def send(self, method: str, path: str = "", body: Any = None, *, version: int | str | None = None, status: int = 200) -> Any:
        headers = {"authorization": f"Bearer {settings.API_TOKEN}"}
        if version is not None:
            headers["if-match"] = f'"{version}"' if isinstance(version, int) else version
        given = json.dumps(body).encode()
        answer = Client(enforce_csrf_checks=True).generic(method, self.root + path, given, content_type="application/json", headers=headers)
        assert answer.status_code == status, answer.content
        self.tag = answer.headers.get("ETag")
        return answer.json()

    def put(self, version: int | str | None, status: int = 200, **body: Any) -> Any:
        return self.send("PUT", body={"author": "Ada", **body}, version=version, status=status)

    def patch(self, version: int | str | None, status: int = 200, **body: Any) -> Any:
        return self.send("PATCH", body={"author": "Ada", **body}, version=version, status=status)

    def get(self, path: str = "", status: int = 200) -> Any:
        return self.send("GET", path, status=status)


@pytest.fixture
def api(session: Session) -> Api:
    return Api(session)


def test_before_the_first_version_the_state_is_empty_and_at_zero(api: Api) -> None:
    twin = api.get()
    assert (twin["version"], twin["last"], twin["facts"], twin["worst"], api.tag) == (0, None, [], None, '"0"')


def test_put_makes_a_version_and_its_canonical_json_has_the_digest_that_is_said(api: Api, session: Session) -> None:
    twin = api.put(0, facts=[fact()], pending_items=[pending()], reason="As agreed")
    assert (twin["version"], api.tag) == (1, '"1"')
    assert twin["last"] | {"at": ""} == {
        "number": 1, "parent": None, "sha256": twin["last"]["sha256"], "author": "Ada", "reason": "As agreed", "origin": "api", "at": "",
    }  # fmt: skip
    version = api.get("/versions/1")
    assert hashlib.sha256(version["state"].encode()).hexdigest() == version["sha256"] == twin["last"]["sha256"]
    assert state_digest(state_from_json(version["state"])) == version["sha256"]
    assert [one["fact_id"] for one in twin["facts"]] == ["port"]


@pytest.mark.parametrize(
    ("version", "status", "code"),
    [
        (None, 428, "if_match_required"),
        (1, 412, "version_moved"),
        ("0", 400, "if_match_invalid"),
        ('W/"0"', 400, "if_match_invalid"),
        ("*", 400, "if_match_invalid"),
    ],
)
def test_a_change_says_which_version_it_is_made_for(api: Api, version: Any, status: int, code: str) -> None:
    for method in ("PUT", "PATCH"):
        answer = api.send(method, body={"author": "Ada", "facts": [fact()]}, version=version, status=status)
        assert answer["error"]["code"] == code
    assert not DurableVersion.objects.exists()


def test_who_is_late_is_told_at_which_version_the_state_is(api: Api) -> None:
    api.put(0, facts=[fact()])
    answer = api.put(0, status=412, facts=[fact(content="Another")])
    assert "at version 1" in answer["error"]["message"]
    assert api.get()["facts"][0]["content"] == "The port is 5433."


def test_a_change_that_changes_nothing_makes_no_version(api: Api) -> None:
    api.put(0, facts=[fact()])
    assert api.put(1, facts=[fact()])["version"] == 1
    assert api.patch(1, facts=[fact()])["version"] == 1


def test_patch_replaces_adds_moves_and_removes_items(api: Api) -> None:
    api.put(0, facts=[fact(), fact("host", "db.internal")], pending_items=[pending()])
    twin = api.patch(1, facts=[fact(content="The port is 6543."), fact("user", "ctx")])
    assert [one["content"] for one in twin["facts"]] == ["The port is 6543.", "db.internal", "ctx"]
    move = {
        "item_id": "tests",
        "status": "blocked",
        "last_confirmed_at": "2026-10-01T10:00:00Z",
        "source_pointer": "transcript:session:2",
        "reason": "No access",
    }
    twin = api.patch(2, moves=[move])
    assert (twin["pending_items"][0]["status"], twin["pending_items"][0]["reason"]) == ("blocked", "No access")
    assert api.patch(3, status=422, remove={"facts": ["user"]})["error"]["code"] == "removal_without_reason"
    twin = api.patch(3, remove={"facts": ["user"]}, reason="A mistake")
    assert [one["fact_id"] for one in twin["facts"]] == ["port", "host"]
    difference = api.get("/versions/4/difference")
    assert [(one["domain"], one["id"], one["change"]) for one in difference["changes"]] == [("facts", "user", "removed")]
    assert [(one["id"], one["change"]) for one in api.get("/versions/4/difference?against=1")["changes"]] == [
        ("port", "changed"),
        ("tests", "changed"),
    ]
    assert [one["number"] for one in api.get("/versions")["versions"]] == [4, 3, 2, 1]
    first = api.get("/versions?limit=2")
    assert [one["number"] for one in api.get(f"/versions?limit=2&after={first['next']}")["versions"]] == [2, 1]


REFUSED = [
    ({"facts": [fact(source_pointer="")]}, "empty_field", "facts.0"),
    ({"facts": [fact(), fact("b", last_confirmed_at="2026-10-01T09:00:00")]}, "naive_timestamp", "facts.1"),
    ({"facts": [fact(), fact()]}, "duplicate_id", "facts"),
    ({"pending_items": [pending(status="finished")]}, "unknown_pending_status", "status"),
    ({"facts": [{**fact(), "extra": 1}]}, "unknown_field", "facts.0"),
    ({"facts": [{key: value for key, value in fact().items() if key != "source_pointer"}]}, "empty_field", "source_pointer"),
    ({"author": " "}, "empty_field", "author"),
    ({"author": "x" * 201}, "too_long", "author"),
]


@pytest.mark.parametrize(("body", "code", "named"), REFUSED)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_what_cannot_be_is_refused_with_the_field(api: Api, method: str, body: dict[str, Any], code: str, named: str) -> None:
    answer = api.send(method, body={"author": "Ada", **body}, version=0, status=422)
    assert answer["error"]["code"] == code
    assert named in answer["error"]["message"]
    assert not DurableVersion.objects.exists()


@pytest.mark.parametrize(
    ("after", "code"),
    [
        ({"pending_items": [pending(status="done", description="Other words")]}, "done_item_changed"),
        ({"pending_items": []}, "done_item_removed"),
        ({"pending_items": [pending(status="open", last_confirmed_at="2026-10-09T09:00:00Z")]}, "done_item_changed"),
    ],
)
def test_a_done_item_neither_changes_nor_vanishes(api: Api, after: dict[str, Any], code: str) -> None:
    api.put(0, pending_items=[pending(status="done")])
    answer = api.put(1, status=422, reason="All done", **after)
    assert answer["error"]["code"] == code
    assert "tests" in answer["error"]["message"]


def test_a_move_that_is_not_legal_is_refused_in_a_whole_state_too(api: Api) -> None:
    api.put(0, pending_items=[pending(status="blocked", reason="No access")])
    late = {"last_confirmed_at": "2026-10-01T07:00:00Z"}  # the same instant
    assert api.put(1, status=422, pending_items=[pending(status="done", **late)])["error"]["code"] == "confirmation_not_later"
    twin = api.put(1, pending_items=[pending(status="done", last_confirmed_at="2026-10-01T07:00:01Z")])
    assert twin["version"] == 2


@pytest.mark.parametrize("field", ["remove", "moves", "hits"])
def test_a_change_of_the_wrong_shape_is_refused(api: Api, field: str) -> None:
    assert api.patch(0, status=422, **{field: [{"x": 1}] if field != "remove" else {"things": ["a"]}})["error"]["code"]


def test_lists_are_refused_one_item_above_their_limit(api: Api) -> None:
    with override_settings(CTXWEB_DURABLE_ITEMS=2):
        assert api.put(0, status=422, facts=[fact(str(n)) for n in range(3)])["error"]["code"] == "too_many_items"
        api.put(0, facts=[fact(str(n)) for n in range(2)])
        assert api.patch(1, status=422, facts=[fact("x")])["error"]["code"] == "too_many_items"
        assert api.patch(1, facts=[fact("1", "changed")])["version"] == 2


def test_a_retrieval_is_captured_with_its_query_and_decisions_beside_its_evidence(api: Api) -> None:
    trace = {
        "trace_id": "t1", "query": "which port?", "captured_at": "2026-10-01T09:00:00Z",
        "decisions": [{"memory_id": "m1", "decision": "selected", "reason": "newest", "score": 0.75, "source_rank": 1},
                      {"memory_id": "m2", "decision": "dropped", "reason": "older than m1"}],
    }  # fmt: skip
    twin = api.patch(0, hits=[hit()], retrieval_traces=[trace])
    (evidence,) = twin["retrieval_evidence"]
    assert (evidence["score"], evidence["source_rank"], evidence["traces"]) == (0.75, 1, ["t1"])
    assert evidence["source"]["status"] is None
    assert [one["decision"] for one in twin["retrieval_traces"][0]["decisions"]] == ["selected", "dropped"]
    assert DurableItem.objects.get(domain="retrieval_evidence").pointer == evidence["source_id"], "jobs verify it"


@pytest.mark.parametrize("pointer", ["object:evidence:local/r.txt:" + "1" * 12, "file+git:repo:" + "a" * 40 + ":notes.md"])
def test_evidence_in_a_store_or_a_repository_is_verified_by_jobs_too(api: Api, pointer: str) -> None:
    found = hit()
    api.patch(0, hits=[{**found, "provenance": {**found["provenance"], "source_id": pointer}}])
    assert DurableItem.objects.get(domain="retrieval_evidence").pointer == pointer


def test_what_was_decided_about_proposals_can_be_read(api: Api) -> None:
    for number in range(3):
        api.send("POST", "/candidates", {"author": "rules", "domain": "facts", "item": fact(f"f{number}")}, status=201)
    api.send("POST", "/proposals/2/decision", {"author": "Ada", "accepted": True, "reason": "Seen"}, version=0)
    window = api.get("/proposals?limit=2")
    assert (window["total"], [row["proposal"]["number"] for row in window["proposals"]], window["next"]) == (3, [3, 2], "2")
    waiting, decided = (row["decision"] for row in window["proposals"])
    assert waiting is None
    assert (decided["accepted"], decided["version"], decided["author"]) == (True, 1, "Ada")
    assert [row["proposal"]["number"] for row in api.get("/proposals?after=2")["proposals"]] == [1]


def test_each_item_has_what_the_audit_last_said_of_its_source(api: Api, session: Session) -> None:
    project, pointer = Project.objects.get(pk=LOCAL), f"transcript:{session.public_id}:2"
    twin = api.put(0, facts=[fact(source_pointer=pointer)], pending_items=[pending()])
    source = twin["facts"][0]["source"]
    assert (source["status"], len(source["confirmed_digest"]), source["changed"]) == (None, 64, None)
    assert twin["pending_items"][0]["source"]["confirmed_digest"] is None, "its source is not available"
    append(project, replace(found(pointer), evidence_sha256=source["confirmed_digest"]))
    twin = api.get()
    assert (twin["facts"][0]["source"]["status"], twin["facts"][0]["source"]["changed"], twin["worst"]) == ("available", False, "available")
    assert twin["sources"] == {"corrupt": 0, "denied": 0, "missing": 0, "unsupported": 0, "available": 1, "unchecked": 1}
    append(project, missing(pointer))
    assert (api.get()["worst"], api.get()["facts"][0]["source"]["entry"]) == ("missing", 2)
    append(project, found(pointer))
    assert api.get()["facts"][0]["source"]["changed"] is True, "changed since confirmed"


def test_the_digest_at_confirmation_stays_until_the_item_is_confirmed_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"of": "ab" * 32}
    monkeypatch.setattr(source_confirm, "sources_check", lambda pointers, **_: SimpleNamespace(
        resolutions=[replace(found(pointer), evidence_sha256=now["of"]) for pointer in pointers]
    ))  # fmt: skip
    api.put(0, facts=[fact()])
    now["of"] = "cd" * 32

    def confirmed(version: int, **more: Any) -> str:
        return str(api.patch(version, facts=[fact(**more)])["facts"][0]["source"]["confirmed_digest"])[:2]

    assert api.patch(1, facts=[fact("host", "h", source_pointer="transcript:a:1")])["facts"][0]["source"]["confirmed_digest"] == "ab" * 32
    assert confirmed(2, content="Corrected") == "ab"
    assert confirmed(3, last_confirmed_at="2026-10-02T09:00:00Z") == "cd"


def test_a_message_is_kept_as_a_fact_with_its_record_as_the_source(api: Api, session: Session) -> None:
    twin = api.send("POST", "/facts", {"author": "Ada", "seq": 1, "content": "The port is 5433."}, version=0)
    (kept,) = twin["facts"]
    record = Record.objects.get(source=session.current.source, number=2)  # type: ignore[union-attr]
    assert kept["source_pointer"] == f"transcript:{session.public_id}:{record.number}"
    line = json.dumps({"type": "message", "role": "user", "content": "The port is 5433."}).encode()
    assert kept["source"]["confirmed_digest"] == hashlib.sha256(line).hexdigest()
    again = {"author": "Ada", "seq": 1, "content": "x", "fact_id": kept["fact_id"]}
    assert api.send("POST", "/facts", again, version=1, status=422)["error"]["code"] == "duplicate_id"
    assert api.send("POST", "/facts", {**again, "seq": 99}, version=1, status=422)["error"]["code"] == "message_unknown"


def test_a_candidate_is_no_part_of_the_state_until_a_person_accepts_it(api: Api) -> None:
    made = api.send("POST", "/candidates", {"author": "a rule", "domain": "facts", "item": fact()}, status=201)
    twin = api.get()
    assert (twin["version"], twin["facts"], [one["number"] for one in twin["candidates"]]) == (0, [], [made["number"]])
    again = api.send("POST", "/candidates", {"author": "a rule", "domain": "facts", "item": fact()}, status=201)
    assert again["number"] == made["number"], "the same one is kept once"
    path = f"/proposals/{made['number']}/decision"
    assert api.send("POST", path, {"author": "Ada", "accepted": True}, status=428)
    twin = api.send("POST", path, {"author": "Ada", "accepted": True}, version=0)
    assert (twin["version"], twin["candidates"], twin["last"]["author"]) == (1, [], "Ada")
    assert twin["facts"][0]["last_confirmed_at"] > fact()["last_confirmed_at"], "it is confirmed now"
    assert api.send("POST", path, {"author": "Ada", "accepted": False}, version=1, status=409)["error"]["code"] == "decided"


def test_a_candidate_that_is_turned_down_is_kept_and_not_raised_again(api: Api) -> None:
    body = {"author": "a rule", "domain": "facts", "item": fact()}
    made = api.send("POST", "/candidates", body, status=201)
    twin = api.send("POST", f"/proposals/{made['number']}/decision", {"author": "Ada", "accepted": False, "reason": "No"}, version=0)
    assert (twin["version"], twin["candidates"]) == (0, [])
    api.send("POST", "/candidates", body, status=201)
    assert api.get()["candidates"] == []


@pytest.mark.parametrize("body", [{"domain": "things", "item": {}}, {"domain": "facts", "item": fact(content="")}])
def test_a_candidate_that_cannot_be_is_refused(api: Api, body: dict[str, Any]) -> None:
    assert api.send("POST", "/candidates", {"author": "a rule", **body}, status=422)["error"]["code"] in ("unknown_field", "empty_field")


@pytest.mark.parametrize("text", ["NUL \0 and \ud800 alone", "\u2028 line", "🦊" * 300, "x" * 3000])
def test_any_text_survives_exactly_in_the_canonical_json(api: Api, text: str) -> None:
    twin = api.put(0, facts=[fact(text, text, source_pointer=text)])
    assert state_from_json(api.get("/versions/1")["state"]).facts[0].content == " ".join(text.split())
    assert len(twin["facts"]) == 1
    assert api.put(1, facts=[fact(text, text, source_pointer=text)])["version"] == 1


def test_versions_are_refused_to_change_by_the_database(api: Api) -> None:
    api.put(0, facts=[fact()])
    for change in (lambda: DurableVersion.objects.update(state="{}"), lambda: DurableVersion.objects.all()._raw_delete("default")):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            change()  # type: ignore[no-untyped-call]


def test_the_index_can_be_made_again_from_the_versions(api: Api) -> None:
    api.put(0, facts=[fact(), fact("b", source_pointer="x y")], pending_items=[pending()], reason="r")
    api.patch(1, remove={"facts": ["b"]}, reason="r")
    columns = ("session", "version", "domain", "ordinal", "item_id", "pointer", "status", "confirmed_at", "confirmed_sha256")
    before = list(DurableItem.objects.order_by("domain", "ordinal").values_list(*columns))
    DurableItem.objects.all().delete()
    durable_reindex()
    assert list(DurableItem.objects.order_by("domain", "ordinal").values_list(*columns)) == before


def test_a_session_or_version_that_is_not_there_is_missing(api: Api, session: Session) -> None:
    for path in ("/versions/1", "/versions/1/difference"):
        api.get(path, status=404)
    api.send("POST", "/proposals/9/decision", {"author": "Ada", "accepted": True}, version=0, status=404)
    api.root = "/api/v1/sessions/nosuchsession0000/durable"
    api.get(status=404)
    api.put(0, status=404)


def test_answers_have_the_keys_that_the_description_promises(api: Api) -> None:
    api.put(0, facts=[fact()], pending_items=[pending()], reason="r")
    api.patch(
        1,
        hits=[hit()],
        retrieval_traces=[
            {
                "trace_id": "t",
                "query": "q",
                "captured_at": "2026-10-01T09:00:00Z",
                "decisions": [{"memory_id": "m1", "decision": "selected"}],
            }
        ],
    )
    api.send("POST", "/candidates", {"author": "a rule", "domain": "facts", "item": fact("c")}, status=201)
    document = Client().get("/api/v1/openapi.json").json()
    root = "/api/v1/sessions/{session_id}/durable"
    for path, route in {
        "": "",
        "/versions": "/versions",
        "/versions/2": "/versions/{number}",
        "/versions/2/difference": "/versions/{number}/difference",
    }.items():
        schema = document["paths"][root + route]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert list(faults(api.get(path), schema, document)) == [], path


def test_the_number_of_queries_does_not_grow_with_the_items(api: Api, django_assert_max_num_queries: Any) -> None:
    api.put(0, facts=[fact(str(n), source_pointer=f"transcript:session:{n + 1}") for n in range(300)])
    with django_assert_max_num_queries(8):
        assert len(api.get()["facts"]) == 300


def altered(**changes: Any) -> list[tuple[int, str]]:
    """What is found once an insider has changed version 2."""
    triggers_drop(connection)
    DurableVersion.objects.filter(number=2).update(**changes)
    found = versions_state(project_id=LOCAL)
    triggers_create(connection)
    return [(one.number, one.says) for one in found.breaks]


@pytest.mark.parametrize(
    ("changes", "number", "says"),
    [
        ({"state": "{}"}, 2, "its state is not the one that its digest is of"),
        ({"parent": None}, 2, "it says that it grew out of another version than the one before it"),
        ({"session": "elsewhere"}, 3, "1 versions before it are gone"),
    ],
    ids=["edited", "other parent", "moved away"],
)
def test_a_version_that_somebody_changed_is_told_of(api: Api, changes: dict[str, Any], number: int, says: str) -> None:
    for version in range(3):
        api.put(version, facts=[fact(f"f{version}")], reason="Seen")
    assert versions_state(project_id=LOCAL) == VersionsState(count=3, breaks=())
    if connection.vendor != "sqlite":
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
    told = altered(**changes)
    assert (number, says) in told
