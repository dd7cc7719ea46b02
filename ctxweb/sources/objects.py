"""`object:<store>:<key>:<digest>`: an object of an S3-compatible store, proved by its SHA-256.

`<store>` is a store of the file of CTXWEB_SOURCES, `<key>` has names between slashes and lies under the prefix of the project.
obstore signs the address; the standard library asks for it, because obstore follows redirects, and there is no way to forbid it.
"""

from __future__ import annotations

import http.client
import re
import ssl
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import urlsplit

import obstore
from obstore.store import S3Store

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds, Found
from compaction.sources.files import PIECE_BYTES, NotFoundSource
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding
from ctxweb.configured import Store
from ctxweb.sources.base import ProjectSources, verified_text
from ctxweb.sources.grammars import ObjectGrammar

if TYPE_CHECKING:
    from obstore.store import S3Config

SIGNED_FOR = timedelta(minutes=5)
ANSWER_SECONDS = 10.0  # for a connection, and between two pieces
MOST_ERROR_BYTES = 8192
_CODE = re.compile(rb"<Code>([A-Za-z0-9.]{1,80})</Code>")
_EXPIRED = (b"ExpiredToken", b"TokenRefreshRequired", b"RequestTimeTooSkewed")
_EXPIRED_MESSAGE = b"Request has expired"
_LATER = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObjects:
    """The stores that have a prefix for the project."""

    sources: ProjectSources
    name: Literal["object"] = "object"

    @classmethod
    def of(cls, sources: ProjectSources, opened: ExitStack) -> Self:
        return cls(sources=sources)

    def parse(self, raw: str) -> SourcePointer:
        return ObjectGrammar().parse(raw)

    def allows(self, pointer: SourcePointer) -> bool:
        """Only what lies under the project's own prefix: another tenant's key is refused before anybody is asked for it."""
        store = self.sources.stores.get(pointer.session_id)
        prefix = store.prefixes.get(self.sources.project) if store is not None else None
        return prefix is not None and pointer.place[0].startswith(prefix)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        store = self.sources.stores[session_id]
        found: list[Found] = []
        for pointer in pointers:
            bounds.start()
            try:
                found.append(_verified(store, pointer, bounds))
            except NotFoundSource as ended:
                found.append(ended.finding)
            except SourceSystemError as error:
                found.append(error)
        return found

    def marks(self, session_id: str, pointers: Sequence[SourcePointer]) -> list[Hashable]:
        """What the store says of each without sending it."""
        return [_mark(self.sources.stores[session_id], pointer.place[0]) for pointer in pointers]


def _verified(store: Store, pointer: SourcePointer, bounds: Bounds) -> Finding:
    with _answer(store, pointer.place[0], "GET") as answer:
        if (answer.length or 0) > bounds.most_source_bytes:
            raise NotFoundSource("corrupt", "source_too_large")
        return verified_text(_chunks(answer), bounds, kind="object", digest=pointer.digest_prefix)


def _mark(store: Store, key: str) -> Hashable:
    try:
        with _answer(store, key, "HEAD") as answer:
            return (answer.headers.get("ETag"), answer.headers.get("Last-Modified"), answer.headers.get("Content-Length"))
    except NotFoundSource as ended:
        return (ended.finding.status, ended.finding.reason)


@contextmanager
def _answer(store: Store, key: str, method: Literal["GET", "HEAD"]) -> Iterator[http.client.HTTPResponse]:
    """An answer of 200. Raises NotFoundSource with what another one means, SourceSystemError where there is none."""
    address = urlsplit(str(obstore.sign(_signer(store), method, key, SIGNED_FOR)))
    connection = _connection(store)
    try:
        connection.request(method, f"{address.path}?{address.query}")
        with connection.getresponse() as answer:
            _require_found(answer)
            yield answer
    except TimeoutError:
        raise SourceSystemError(f"the store {store.name} did not answer in {ANSWER_SECONDS:g} s: try again", cause="deadline") from None
    except (OSError, http.client.HTTPException) as error:
        raise SourceSystemError(f"the store {store.name} cannot be asked ({type(error).__name__}): try again", cause="no_answer") from None
    finally:
        connection.close()


def _signer(store: Store) -> S3Store:
    keys: S3Config = {"access_key_id": store.access_key, "secret_access_key": store.secret_key}
    if store.session_token:
        keys["session_token"] = store.session_token
    where: S3Config = {"endpoint": store.endpoint, "region": store.region, "virtual_hosted_style_request": False}
    return S3Store(store.bucket, config={**where, **keys}, client_options={"allow_http": True})


def _connection(store: Store) -> http.client.HTTPConnection:
    """To the host that the settings name: an address that came from elsewhere is never asked."""
    endpoint = urlsplit(store.endpoint)
    if endpoint.scheme == "https":
        secure = ssl.create_default_context()
        return http.client.HTTPSConnection(endpoint.hostname or "", endpoint.port, timeout=ANSWER_SECONDS, context=secure)
    return http.client.HTTPConnection(endpoint.hostname or "", endpoint.port, timeout=ANSWER_SECONDS)


def _require_found(answer: http.client.HTTPResponse) -> None:
    status = answer.status
    if status == HTTPStatus.OK:
        return
    if 300 <= status < 400:
        raise NotFoundSource("denied", "redirect_refused")
    if status == HTTPStatus.NOT_FOUND:
        raise NotFoundSource("missing", "object_missing")
    if status >= 500 or status in _LATER:
        raise SourceSystemError(f"a store answered {status}: try again", cause=f"http_{status}")
    said = answer.read(MOST_ERROR_BYTES)
    code = _CODE.search(said)
    if (code is not None and code[1] in _EXPIRED) or _EXPIRED_MESSAGE in said:
        raise NotFoundSource("denied", "signature_expired")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST):
        raise NotFoundSource("denied", "store_denied")
    raise SourceSystemError(f"a store answered {status}, which says nothing about the object", cause=f"http_{status}")


def _chunks(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """The body in pieces. Raises IncompleteRead where it ends before its announced length."""
    announced, got = answer.length, 0
    while chunk := answer.read(PIECE_BYTES):
        got += len(chunk)
        yield chunk
    if announced is not None and got < announced:
        raise http.client.IncompleteRead(b"", announced - got)
