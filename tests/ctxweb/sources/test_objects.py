"""Objects of S3-compatible stores, against a real server of this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds
from compaction.sources.resolver import Resolver
from ctxweb.configured import Store
from ctxweb.sources.base import ProjectSources
from ctxweb.sources.objects import StoredObjects
from tests.ctxweb.sources.stores import BUCKET, Front, fronted, put, s3_server, store_at

pytestmark = pytest.mark.nodb

TEXT = "evidence in a bucket, 压缩\n".encode()
DIGEST = hashlib.sha256(TEXT).hexdigest()
KEY = "local/run-1/r+1@x.txt"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def front(server: str) -> Iterator[tuple[Front, str]]:
    put(server, f"/{BUCKET}/local/run-1/r%2B1%40x.txt", TEXT)
    with fronted(server) as made:
        yield made


def scheme(store: Store, project: str = "local") -> StoredObjects:
    return StoredObjects.of(ProjectSources(project=project, stores={store.name: store}), ExitStack())


def look(store: Store, pointer: str, **bounds: int) -> tuple[str, str]:
    objects = scheme(store)
    found = Resolver(schemes=(objects,), authorise=objects.allows, bounds=Bounds(**bounds), tries=1).resolve(pointer)  # type: ignore[arg-type]
    return found.status, found.reason


def test_an_object_is_proved_by_its_digest(front: tuple[Front, str]) -> None:
    _, address = front
    store = store_at(address)
    objects = scheme(store)
    found = Resolver(schemes=(objects,), authorise=objects.allows).resolve(f"object:evidence:{KEY}:{DIGEST[:12]}")
    assert (found.status, found.reason, found.evidence_sha256) == ("available", "verified_object", DIGEST)
    assert found.excerpt == TEXT.decode()
    assert look(store, f"object:evidence:{KEY}:{'0' * 64}") == ("corrupt", "object_digest_mismatch")
    assert look(store, f"object:evidence:local/none.txt:{DIGEST}") == ("missing", "object_missing")
    assert look(store, f"object:evidence:{KEY}:{DIGEST}", most_source_bytes=len(TEXT) - 1) == ("corrupt", "source_too_large")
    assert look(store, f"object:evidence:{KEY}:{DIGEST}", most_source_bytes=len(TEXT)) == ("available", "verified_object")


def test_bytes_that_are_no_text_are_corrupt(server: str) -> None:
    put(server, f"/{BUCKET}/local/b.bin", b"\xff\xfe")
    pointer = "object:evidence:local/b.bin:" + hashlib.sha256(b"\xff\xfe").hexdigest()
    assert look(store_at(server), pointer) == ("corrupt", "object_not_utf8")


@pytest.mark.parametrize("key", ["others/r.txt", "local", "localother/r.txt", "x"])
def test_another_tenants_key_is_denied_before_any_request(front: tuple[Front, str], key: str) -> None:
    heard, address = front
    assert look(store_at(address), f"object:evidence:{key}:{DIGEST}") == ("denied", "policy_denied")
    assert look(store_at(address), f"object:elsewhere:{KEY}:{DIGEST}") == ("denied", "policy_denied")
    assert heard.asked == []


@pytest.mark.parametrize(
    "key", ["local/../others/r.txt", "local//r.txt", "/local/r.txt", "local/.", "local/%2e%2e/r.txt", "local/r.txt?x=1"]
)
def test_a_key_that_a_store_could_read_in_two_ways_is_no_pointer(front: tuple[Front, str], key: str) -> None:
    heard, address = front
    assert look(store_at(address), f"object:evidence:{key}:{DIGEST}") == ("corrupt", "malformed_pointer")
    assert heard.asked == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_refused_and_never_followed(front: tuple[Front, str], server: str, status: int) -> None:
    heard, address = front
    heard.says = (status, {"Location": f"{server}/{BUCKET}/local/run-1/r%2B1%40x.txt"}, b"")
    assert look(store_at(address), f"object:evidence:{KEY}:{DIGEST}") == ("denied", "redirect_refused")
    assert len(heard.asked) == 1


def test_an_expired_signature_is_denied(front: tuple[Front, str]) -> None:
    heard, address = front
    heard.now += timedelta(hours=1)
    assert look(store_at(address), f"object:evidence:{KEY}:{DIGEST}") == ("denied", "signature_expired")


@pytest.mark.parametrize(
    ("status", "code", "found"),
    [
        (400, "ExpiredToken", ("denied", "signature_expired")),
        (403, "RequestTimeTooSkewed", ("denied", "signature_expired")),
        (403, "SignatureDoesNotMatch", ("denied", "store_denied")),
        (403, "AccessDenied", ("denied", "store_denied")),
        (401, "", ("denied", "store_denied")),
    ],
)
def test_what_a_store_refuses_is_denied(front: tuple[Front, str], status: int, code: str, found: tuple[str, str]) -> None:
    heard, address = front
    heard.says = (status, {}, f"<Error><Code>{code}</Code><Message>{KEY}</Message></Error>".encode())
    assert look(store_at(address), f"object:evidence:{KEY}:{DIGEST}") == found


@pytest.mark.parametrize("status", [408, 418, 429, 500, 503])
def test_an_answer_that_says_nothing_of_the_object_is_an_error_and_no_status(front: tuple[Front, str], status: int) -> None:
    heard, address = front
    heard.says = (status, {}, b"")
    with pytest.raises(SourceSystemError, match=str(status)):
        look(store_at(address), f"object:evidence:{KEY}:{DIGEST}")


def test_a_store_that_breaks_off_or_is_away_is_an_error_too(front: tuple[Front, str]) -> None:
    heard, address = front
    heard.says = (200, {"Content-Length": "1000"}, b"half")
    with pytest.raises(SourceSystemError):
        look(store_at(address), f"object:evidence:{KEY}:{DIGEST}")
    with pytest.raises(SourceSystemError):
        look(store_at("http://127.0.0.1:9"), f"object:evidence:{KEY}:{DIGEST}")


def test_the_mark_of_an_object_differs_when_it_does(front: tuple[Front, str], server: str) -> None:
    heard, address = front
    objects = scheme(store_at(address))
    pointer = objects.parse(f"object:evidence:{KEY}:{DIGEST}")
    first = objects.marks("evidence", [pointer])
    assert objects.marks("evidence", [pointer]) == first
    put(server, f"/{BUCKET}/local/run-1/r%2B1%40x.txt", b"another")
    second = objects.marks("evidence", [pointer])
    put(server, f"/{BUCKET}/local/run-1/r%2B1%40x.txt", b"", method="DELETE")
    assert len({*first, *second, *objects.marks("evidence", [pointer])}) == 3
    assert {asked.split()[0] for asked in heard.asked} == {"HEAD"}


def test_no_secret_of_a_store_is_shown() -> None:
    assert "a-secret" not in repr(store_at("http://127.0.0.1:9", session_token="a-token"))
    assert "a-token" not in repr(store_at("http://127.0.0.1:9", session_token="a-token"))
