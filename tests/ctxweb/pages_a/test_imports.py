"""Import from the page and by the API; a worker is played by running its task at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from ctxweb.celery import app
from ctxweb.models import Job, Session
from ctxweb.queries.discovery import found_folders
from ctxweb.queries.imports import imports_page

pytestmark = pytest.mark.django_db(transaction=True)


def lines(name: str, texts: tuple[str, ...] = ("hello", "again")) -> bytes:
    """A tiny Claude Code session of one turn for each text."""
    records: list[dict[str, Any]] = []
    for n, text in enumerate(texts):
        parent = f"{name}-a{n - 1}" if n else None
        records.append(record(name, "user", f"{name}-u{n}", parent, {"role": "user", "content": text}))
        records.append(record(name, "assistant", f"{name}-a{n}", f"{name}-u{n}", answer(f"msg_{name}{n}", cached=100 * n)))
    return "".join(json.dumps(each) + "\n" for each in records).encode()


def record(name: str, kind: str, uuid: str, parent: str | None, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": f"{name}-0000",
        "cwd": "/home/me/x",
        "version": "2.1.7",
        "isSidechain": False,
        "timestamp": "2026-11-02T09:00:00.000Z",
        "message": message,
    }


def answer(id: str, *, cached: int) -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": "Yes."}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 5, "output_tokens": 3},
    }


def upload(content: bytes, name: str = "a.jsonl") -> BytesIO:
    file = BytesIO(content)
    file.name = name
    return file


@pytest.fixture
def worker() -> Iterator[None]:
    """Tasks run at once, in the process that sends them."""
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody hears the bell, and nobody waits for it."""
    monkeypatch.setattr("ctxweb.jobs._send", lambda job_id: None)
    monkeypatch.setattr("ctxweb.uploads.READY_SECONDS", 0.0)


@pytest.mark.usefixtures("worker")
def test_a_file_that_is_ready_leads_to_its_session(client: Client) -> None:
    answer = client.post("/import", {"file": upload(lines("one"))})
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/s/{Session.objects.get().public_id}/"
    assert client.get(answer.headers["Location"]).status_code == 200


@pytest.mark.usefixtures("worker")
def test_several_files_lead_to_the_list(client: Client) -> None:
    answer = client.post("/import", {"file": [upload(lines("one")), upload(lines("two"), "b.jsonl")]})
    assert answer.headers["Location"] == "/"
    assert Session.objects.count() == 2


@pytest.mark.usefixtures("worker")
def test_a_script_gets_words_about_what_it_sent(client: Client) -> None:
    def send(content: bytes) -> Any:
        return client.post("/import", {"file": upload(content)}, headers={"Accept": "application/json"})

    assert send(lines("one")).json()["message"] == "imported"
    assert send(lines("one")).json()["message"] == "already imported"
    refused = send(b"no session at all\n")
    assert refused.status_code == 422
    assert refused.json()["error"]["code"]


@pytest.mark.usefixtures("no_worker")
def test_an_import_that_takes_longer_shows_its_progress(client: Client) -> None:
    assert client.post("/import", {"file": upload(lines("one"))}).headers["Location"] == "/"
    job = Job.objects.get()
    page = client.get("/").content.decode()
    assert "a.jsonl" in page
    assert "waiting" in page
    version = imports_page().version
    assert f'hx-get="/import?version={version}"' in page
    assert client.get(f"/import?version={version}", headers={"HX-Request": "true"}).status_code == 204
    Job.objects.update(state=Job.State.LEASED, stage="parsing", done=50, total=200, version=job.version + 1)
    rows = client.get(f"/import?version={version}", headers={"HX-Request": "true"}).content.decode()
    assert '<progress max="200" value="50"' in rows
    assert "parsing" in rows
    assert f'href="/jobs/{job.public_id}"' in rows


@pytest.mark.usefixtures("no_worker")
def test_the_page_is_loaded_again_when_the_last_import_has_ended(client: Client) -> None:
    client.post("/import", {"file": upload(lines("one"))})
    version = imports_page().version
    Job.objects.update(state=Job.State.SUCCEEDED)
    answer = client.get(f"/import?version={version}", headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"


@pytest.mark.usefixtures("worker")
def test_a_failed_import_stays_in_sight_with_its_reason(client: Client) -> None:
    client.post("/import", {"file": upload(b"\x00\x01 nothing known\n", "odd.bin")})
    (row,) = imports_page().rows
    assert (row.name, row.state, row.running) == ("odd.bin", "failed", False)
    assert row.error is not None
    page = client.get("/").content.decode()
    assert "odd.bin" in page
    assert row.error["message"][:30] in page


@pytest.mark.parametrize(
    ("folder", "code"),
    [("relative/path", "not_absolute"), ("/no/such/folder/here", "no_folder"), ("", "not_absolute"), ("/etc/hosts", "no_folder")],
)
def test_a_folder_that_cannot_be_imported_is_refused_with_a_reason(client: Client, folder: str, code: str) -> None:
    answer = client.post("/import", {"folder": folder})
    assert answer.status_code == 422
    assert code in answer.content.decode()
    assert not Job.objects.exists()


def test_no_file_is_refused(client: Client) -> None:
    assert client.post("/import").status_code == 422


@pytest.mark.usefixtures("worker")
def test_a_folder_is_imported_with_all_below_it_and_links_are_not_followed(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(lines("one"))
    (folder / "deep" / "er" / "b.jsonl").write_bytes(lines("two"))
    (folder / "notes.txt").write_text("no session")
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(lines("three"))
    (folder / "link.jsonl").symlink_to(outside)
    assert client.post("/import", {"folder": str(folder)}).headers["Location"] == "/"
    assert Job.objects.get(kind="folder").result == {"files": 2, "refused": 0}
    assert {session.native_id for session in Session.objects.all()} == {"one-0000", "two-0000"}


@pytest.mark.usefixtures("worker")
def test_a_folder_without_session_files_says_so(client: Client, tmp_path: Path) -> None:
    client.post("/import", {"folder": str(tmp_path)})
    job = Job.objects.get()
    assert (job.state, job.error["code"] if job.error else "") == ("failed", "no_files")
    assert "holds no file" in client.get("/").content.decode()


def test_agents_folders_are_offered_by_name_and_size_only(client: Client, tmp_path: Path, settings: Any) -> None:
    project = tmp_path / ".claude" / "projects" / "-home-me"
    project.mkdir(parents=True)
    (project / "a.jsonl").write_bytes(b"x" * 1_500)
    (project / "b.jsonl").write_bytes(b"x" * 500)
    (project / "b.jsonl").chmod(0)
    (project / "other.txt").write_bytes(b"x")
    settings.CTXWEB_CLAUDE_ROOTS = [tmp_path / ".claude", tmp_path / ".claude", tmp_path / "absent"]
    settings.CTXWEB_CODEX_ROOTS = [tmp_path / ".codex"]
    (found,) = found_folders()
    assert (found.agent, found.files, found.size, found.more) == ("Claude Code", 2, 2_000, False)
    page = client.get("/").content.decode()
    assert f'name="folder" value="{found.path}"' in page
    assert "2.00 kB" in page


def test_packed_logs_count_as_session_files_of_their_agent(tmp_path: Path, settings: Any) -> None:
    place = tmp_path / ".dsh" / "sessions" / "--home-me--" / "s-1"
    place.mkdir(parents=True)
    (place / "session.jsonl.zstd").write_bytes(b"x" * 10)
    (place / "session.jsonl").write_bytes(b"x" * 5)
    (place / "session.lock").write_bytes(b"x")
    settings.CTXWEB_DSH_ROOTS = [tmp_path / ".dsh"]
    (found,) = found_folders()
    assert (found.agent, found.files, found.size) == ("DeepSeek Harness", 2, 15)


@pytest.mark.usefixtures("worker")
def test_the_api_answers_201_then_200_for_the_same_bytes(client: Client) -> None:
    token = {"Authorization": f"Bearer {settings.API_TOKEN}"}
    first = client.post("/api/v1/sessions", {"file": upload(lines("one"))}, headers=token)
    assert first.status_code == 201
    assert first.json()["model_calls"] == 2
    again = client.post("/api/v1/sessions", lines("one"), content_type="application/jsonl", headers={**token, "X-Filename": "again.jsonl"})
    assert again.status_code == 200
    assert again.json()["id"] == first.json()["id"]


@pytest.mark.usefixtures("worker")
def test_a_grown_file_is_201_under_the_same_id(client: Client) -> None:
    token = {"Authorization": f"Bearer {settings.API_TOKEN}"}
    first = client.post("/api/v1/sessions", lines("one"), content_type="application/octet-stream", headers=token).json()
    grown = client.post(
        "/api/v1/sessions", lines("one", ("hello", "again", "more")), content_type="application/octet-stream", headers=token
    )
    assert grown.status_code == 201
    assert grown.json()["id"] == first["id"]
    assert grown.json()["model_calls"] == 3


@pytest.mark.usefixtures("no_worker")
def test_the_api_answers_202_with_the_job_while_it_runs(client: Client) -> None:
    token = {"Authorization": f"Bearer {settings.API_TOKEN}"}
    answer = client.post("/api/v1/sessions", {"file": upload(lines("one"))}, headers=token)
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    assert client.get(f"/api/v1/jobs/{answer.json()['id']}").status_code == 200


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("body", [b"", b"nothing known\n"])
def test_the_api_answers_422_with_the_reason_for_what_is_no_session(client: Client, body: bytes) -> None:
    token = {"Authorization": f"Bearer {settings.API_TOKEN}"}
    answer = client.post("/api/v1/sessions", body, content_type="application/octet-stream", headers=token)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]


def test_import_without_a_token_is_refused() -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/import", {"file": upload(lines("one"))}).status_code == 403
    assert strict.post("/api/v1/sessions", {"file": upload(lines("one"))}).status_code == 403
