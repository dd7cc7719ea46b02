"""The audit over the API: entries, drift, sign-offs, anchors, and a bundle that is checked without this program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from compaction.sources import verify_bundle
from compaction.sources.bundle import bundle_lines
from compaction.sources.chain import Head, Look, append_all
from compaction.sources.verify_bundle import BundleError, check_bundle
from ctxweb.audit_rows import audit_key
from ctxweb.models import AuditEntry, Project, Session
from ctxweb.queries.audit import bundle
from ctxweb.services.audit import sign_off
from tests.ctxweb.durable.looks import DAY, append, found, missing, pointers
from tests.ctxweb.durable.sessions import fact
from tests.evidence.schema import faults

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def get(path: str, status: int = 200) -> Any:
    answer = Client().get(f"/api/v1/audit{path}")
    assert answer.status_code == status, answer.content
    return answer.json()


def post(body: dict[str, Any], status: int) -> Any:
    headers = {"authorization": f"Bearer {settings.API_TOKEN}"}
    answer = Client(enforce_csrf_checks=True).post("/api/v1/audit/sign-offs", body, content_type="application/json", headers=headers)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_entries_come_newest_first_in_pages(project: Project) -> None:
    append(project, *map(found, pointers(5)))
    first = get("?limit=2")
    assert ([one["seq"] for one in first["entries"]], first["next"], first["total"]) == ([5, 4], "4", 5)
    assert [one["seq"] for one in get("?limit=2&after=4")["entries"]] == [3, 2]
    assert first["head"] == f"5:{first['entries'][0]['hash']}"


def test_entries_are_filtered(project: Project) -> None:
    one, other = pointers(2)
    append(project, found(one), missing(other))
    append(project, found(one), actor="Ada")
    assert [entry["seq"] for entry in get(f"?pointer={one}")["entries"]] == [3, 1]
    assert [entry["seq"] for entry in get("?status=missing")["entries"]] == [2]
    assert [entry["seq"] for entry in get("?actor=Ada")["entries"]] == [3]
    get("?project=nosuch", 404)


@pytest.mark.parametrize("odd", ["%00", "%ED%A0%80", "x" * 3000])
def test_any_text_can_be_asked_for(project: Project, odd: str) -> None:
    append(project, *map(found, pointers(1)))
    for name in ("pointer", "status", "actor", "run", "session"):
        assert get(f"?{name}={odd}")["entries"] == []
    get(f"?project={odd}", 404)


def test_the_entries_of_a_session_are_those_of_its_sources_and_its_sign_offs(project: Project, session: Session) -> None:
    append(project, found(fact()["source_pointer"]), missing("transcript:other:1"))
    headers = {"authorization": f"Bearer {settings.API_TOKEN}", "if-match": '"0"'}
    body = {"author": "Ada", "facts": [fact()]}
    Client().put(f"/api/v1/sessions/{session.public_id}/durable", body, content_type="application/json", headers=headers)
    entry = post({"name": "Ada", "note": "Agreed", "session": session.public_id}, 201)
    assert (entry["seq"], entry["status"], entry["note"], entry["reason"]) == (3, "signed_off", "Agreed", "claimed")
    shown = get(f"?session={session.public_id}")
    assert [(one["seq"], one["note"]) for one in shown["entries"]] == [(3, "Agreed"), (1, None)]
    assert shown["statuses"] == {"available": 1, "unchecked": 0}


def test_drift_names_what_changed_between_two_dates(project: Project) -> None:
    same, gone, new, back = pointers(4)
    append(project, found(same), found(gone), missing(back))
    append(project, found(same), missing(gone), missing(new), found(back), at=DAY + timedelta(days=7))
    append(project, missing(same), at=DAY + timedelta(days=14))
    drift = get("/drift?since=2026-10-02T00:00:00Z&until=2026-10-09T00:00:00Z")
    told = {one["pointer"]: (one["before"], one["after"]) for one in drift["rows"]}
    assert told == {gone: ("available", "missing"), new: (None, "missing"), back: ("missing", "available")}
    assert drift["compared"] == 4
    assert [one["pointer"] for one in get("/drift?since=2026-10-09T00:00:00Z")["rows"]] == [same]


@pytest.mark.parametrize("query", ["?since=yesterday", "?since=2026-10-01T09:00:00", ""])
def test_a_drift_needs_a_date_with_its_zone(query: str) -> None:
    assert "since" in get(f"/drift{query}", 422)["error"]["message"]


@pytest.mark.parametrize(
    ("body", "named"), [({"name": ""}, "name"), ({"note": "x"}, "name"), ({"name": "Ada", "note": "x" * 10_001}, "note")]
)
def test_a_sign_off_that_cannot_be_is_refused_with_the_field(body: dict[str, Any], named: str) -> None:
    assert named in post(body, 422)["error"]["message"]
    assert not AuditEntry.objects.exists()


def test_a_sign_off_of_what_is_not_there_is_missing() -> None:
    post({"name": "Ada", "session": "nosuchsession0000"}, 404)
    post({"name": "Ada", "project": "nosuch"}, 404)


def test_the_chain_and_its_anchors_can_be_asked_for(project: Project) -> None:
    end = append(project, *map(found, pointers(3)))
    state = get("/chain")
    assert (state["holds"], state["count"], state["anchored_to"], state["breaks"]) == (True, 3, 3, [])
    assert [one["head"] for one in get("/anchors")["anchors"]] == [f"3:{end.hash}"]
    assert get("/anchors?after=3")["anchors"] == []


def test_answers_have_the_keys_that_the_description_promises(project: Project) -> None:
    append(project, *map(found, pointers(2)))
    post({"name": "Ada"}, 201)
    document = Client().get("/api/v1/openapi.json").json()
    for path in ("", "/drift?since=2026-01-01T00:00:00Z", "/chain", "/anchors"):
        schema = document["paths"][f"/api/v1/audit{path.partition('?')[0]}"]["get"]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]
        assert list(faults(get(path), schema, document)) == [], path


@pytest.fixture
def exported(project: Project, tmp_path: Path) -> Path:
    """A bundle as a reviewer downloads it."""
    append(project, *map(found, pointers(6)))
    append(project, missing(next(iter(pointers(1)))), at=DAY + timedelta(days=1))
    sign_off(project=project, subject="project:local", name="Ada", note="Seen: “one” is missing.")
    answer = Client().get("/api/v1/audit/bundle")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit-local.bundle.jsonl"'
    file = tmp_path / "bundle.jsonl"
    file.write_bytes(answer.content)
    return file


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """The one file, copied to where nothing of this project is, with Python alone."""
    shutil.copy(verify_bundle.__file__, folder / "check.py")
    ended = subprocess.run(
        [sys.executable, "-I", "check.py", *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    return ended.returncode, ended.stdout


def test_a_bundle_verifies_with_the_one_file_alone_and_says_what_is_not_proved(exported: Path) -> None:
    head = get("")["head"]
    code, told = run(exported.parent, "bundle.jsonl")
    assert (code, f"head {head}" in told, "NOT PROVED: who wrote it" in told) == (0, True, True)
    key = exported.parent / "key"
    key.write_bytes(audit_key())
    code, told = run(exported.parent, "bundle.jsonl", "--key", "key", "--anchor", head)
    assert (code, "proved by the key: all 8 entries" in told, "proved by the anchor: entries up to 8" in told) == (0, True, True)


def test_a_bundle_fails_with_a_reason_wherever_one_byte_changes(exported: Path) -> None:
    raw = exported.read_bytes()
    check_bundle(exported)
    for place in range(0, len(raw), 37):
        exported.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(BundleError) as refused:
            check_bundle(exported)
        assert str(refused.value)


def test_a_bundle_that_was_chained_again_holds_as_a_chain_and_fails_against_the_anchor(exported: Path, project: Project) -> None:
    anchor = Head.read(get("")["head"])
    fields = [{name: getattr(row, name) for name in Look.__dataclass_fields__} for row in AuditEntry.objects.order_by("seq")]
    fields[2]["status"], fields[2]["digest"] = "missing", ""
    entries = list(append_all(Head(), (Look(**one) for one in fields), tenant=project.pk))
    forged = exported.parent / "forged.jsonl"
    forged.write_bytes(b"".join(verify_lines(entries, signed(exported))))
    assert check_bundle(forged).chain.count == 8
    with pytest.raises(BundleError, match="rechained at entry 8"):
        check_bundle(forged, anchor=anchor)
    with pytest.raises(BundleError, match="forged at entry 1"):
        check_bundle(forged, key=audit_key())


@pytest.mark.parametrize("forged", [{"note": "Seen: all is there."}, {"name": "Grace"}, {"at": "2026-01-01T00:00:00Z"}, None])
def test_what_a_person_signed_cannot_be_changed_beside_its_chain(exported: Path, forged: dict[str, str] | None) -> None:
    chain = [verify_bundle.AuditEntry(**json.loads(line)) for line in exported.read_bytes().splitlines() if b'"prev_hash"' in line]
    signs = signed(exported)
    for said, holds in ((signs, True), ([signs[0] | forged] if forged else [], False)):
        exported.write_bytes(b"".join(verify_lines(chain, said)))
        if holds:
            assert check_bundle(exported).chain.count == 8
            continue
        with pytest.raises(BundleError, match="the sign-offs are not those of the chain"):
            check_bundle(exported)


def signed(bundle: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bundle.read_bytes().splitlines() if b'"note"' in line]


def verify_lines(entries: list[verify_bundle.AuditEntry], sign_offs: list[dict[str, Any]]) -> list[bytes]:
    made_at = "2026-10-01T00:00:00Z"
    return list(bundle_lines(entries, tenant="local", tool="a forger", made_at=made_at, more={"sign_offs": sign_offs}))


def test_a_bundle_of_the_newest_entries_starts_at_a_known_place(project: Project, tmp_path: Path) -> None:
    append(project, *map(found, pointers(6)))
    file = tmp_path / "part.jsonl"
    file.write_bytes(b"".join(bundle(project=project, now=timezone.now(), after=4)))
    report = check_bundle(file, key=audit_key())
    assert (report.chain.count, report.chain.head.seq) == (2, 6)
    assert "the entries 1 to 4, which are not in this bundle" in report.not_proved
    assert Client().get("/api/v1/audit/bundle?after=99").status_code == 404


def test_a_bundle_holds_the_notes_and_no_excerpt(exported: Path) -> None:
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    assert [line["note"] for line in lines if "note" in line] == ["Seen: “one” is missing."]
    assert "secret" not in exported.read_text()
    assert {part["name"] for part in lines[0]["parts"]} == {"entries", "statuses", "sign_offs"}


def test_an_audit_that_is_empty_makes_a_bundle_too(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_bytes(Client().get("/api/v1/audit/bundle").content)
    assert check_bundle(file).chain.count == 0
