"""A real S3 server on this machine (moto), and a front that stands before it where a store has to misbehave."""

from __future__ import annotations

import http.client
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from ctxweb.configured import Store

BUCKET = "evidence"
KEY, SECRET = "a-key", "a-secret"


def store_at(endpoint: str, **more: str) -> Store:
    values = {"name": "evidence", "bucket": BUCKET, "access_key": KEY, "secret_key": SECRET, **more}
    return Store(endpoint=endpoint, prefixes={"local": "local/"}, **values)


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of an S3 server with one bucket."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what moto brings along warns of its own future
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    host, port = server.get_host_and_port()
    try:
        put(f"http://{host}:{port}", f"/{BUCKET}", b"")
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def put(endpoint: str, path: str, content: bytes, method: str = "PUT") -> None:
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc)
    connection.request(
        method, path, body=content, headers={"Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/20261130/us-east-1/s3/aws4_request"}
    )
    assert connection.getresponse().status < 300
    connection.close()


@dataclass
class Front:
    """A store's face: it checks how long an address is signed for, as S3 does, and answers `says` where it is set."""

    behind: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    says: tuple[int, dict[str, str], bytes] | None = None
    asked: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(f"{method} {urlsplit(path).path}")
        if self.says is not None:
            return self.says
        query = parse_qs(urlsplit(path).query)
        signed = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if self.now > signed + timedelta(seconds=int(query["X-Amz-Expires"][0])):
            return 403, {}, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
        connection = http.client.HTTPConnection(urlsplit(self.behind).netloc)
        connection.request(method, path)
        found = connection.getresponse()
        kept = {name: value for name, value in found.headers.items() if name in ("ETag", "Last-Modified")}
        body = found.read()
        connection.close()
        return found.status, kept, body


@contextmanager
def fronted(behind: str) -> Iterator[tuple[Front, str]]:
    front = Front(behind=behind)

    class Asked(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = front.answer(self.command, self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815  as the standard library names them

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield front, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
