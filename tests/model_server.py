"""A model's server for tests: real HTTP, both protocols, streaming and not, and every bad manner that one has been seen to have.

Also a program, for trying things by hand: `python -m tests.model_server --port 9100 --behaviour good`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.model_answers import answer_events, whole_answer

BEHAVIOURS = (
    "slow_headers", "stalled_stream", "endless_body", "redirect", "400_too_long", "401", "403", "404_model", "429_short",
    "429_one_hour", "500_then_ok", "529_twice", "reset_midway", "broken_json", "stream_without_end", "empty", "reasoning_only",
    "cut_at_limit", "tool_call", "longer_than_range",
)  # fmt: skip
MORE = (
    "good", "lies_about_usage", "compressed", "dripping_headers", "dripping_body", "error_in_stream", "refuses", "401_stalled",
    "401_endless", "500_compressed",
)  # fmt: skip
SERIES = {"500_then_ok": ("500", "good"), "529_twice": ("529", "529", "good")}
STATUSES = {
    # status, the provider's word, Retry-After
    "400_too_long": (400, "invalid_request_error", ""),
    "401": (401, "authentication_error", ""),
    "403": (403, "permission_error", ""),
    "404_model": (404, "not_found_error", ""),
    "429_short": (429, "rate_limit_error", "1"),
    "429_one_hour": (429, "rate_limit_error", "3600"),
    "500": (500, "api_error", ""),
    "529": (529, "overloaded_error", ""),
}
DRIP_SECONDS = 0.05


@dataclass(slots=True)
class Asked:
    """A request as it came: path, headers, parsed body and its bytes."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


@dataclass(slots=True)
class ModelServer:
    """`behaviours` are taken in turn, the last one stays; `answer` is said instead of a summary made from the request, `elsewhere`
    is where `redirect` points to, `counts` what count_tokens says (None: it fails). `requests` leaves counts out."""

    behaviours: list[str] = field(default_factory=lambda: ["good"])
    answer: str = ""
    elsewhere: str = "http://127.0.0.1:9/v1"
    counts: int | None = None
    delay: float = 0.0
    form: Callable[[dict[str, Any]], dict[str, Any]] = dict  # of an answer at once: for a protocol of its own
    requests: list[Asked] = field(default_factory=list)
    url: str = ""
    stops: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, *names: str) -> None:
        """Behave so from now on, one after the other."""
        self.behaviours = [each for name in names for each in SERIES.get(name, (name,))]

    def next(self, asked: Asked) -> str:
        with self._lock:
            self.requests.append(asked)
            return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]

    def wait(self, seconds: float) -> None:
        """Time passes, unless the server is stopped."""
        self.stops.wait(seconds)


@contextlib.contextmanager
def model_server(*behaviours: str, port: int = 0) -> Iterator[ModelServer]:
    """A running server on loopback; its address for a setting is `url`."""
    model = ModelServer()
    model.play(*(behaviours or ("good",)))

    class Handler(_Handler):
        told = model

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.stops.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: ModelServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(path=self.path, headers={key.lower(): value for key, value in self.headers.items()}, body=json.loads(raw), raw=raw)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if self.path.endswith("/count_tokens"):
                self._count()
            else:
                self.told.wait(self.told.delay)
                self._behave(self.told.next(asked), asked)

    def do_GET(self) -> None:
        self.told.next(Asked(path=self.path, headers={}, body={}, raw=b""))
        self._json(404, {})

    def _count(self) -> None:
        if self.told.counts is None:
            self._json(404, {"error": {"type": "not_found_error", "message": "no counting here"}})
        else:
            self._json(200, {"input_tokens": self.told.counts})

    def _behave(self, name: str, asked: Asked) -> None:
        self.close_connection = True
        is_anthropic, is_streamed = self.path.endswith("/messages"), bool(asked.body.get("stream"))
        if name in STATUSES:
            self._refuse(name)
        elif name in ("slow_headers", "dripping_headers", "dripping_body"):
            self._dawdle(name, is_streamed)
        elif name in ("401_stalled", "401_endless", "500_compressed"):
            self._refuse_badly(name)
        elif name == "redirect":
            self._json(307, {}, Location=f"{self.told.elsewhere}{self.path}")
        elif name == "endless_body":
            self._endless(is_streamed)
        elif name == "broken_json":
            self._send(b'event: message_start\ndata: {"type": "mess\n\n' if is_streamed else b'{"id": "1", "content": [', is_streamed)
        elif name == "compressed":
            self._head(200, is_streamed, ("Content-Encoding", "gzip"))
            self._chunk(b"\x1f\x8b")
        elif is_streamed:
            self._stream(name, answer_events(name, asked.body, self.told.answer, is_anthropic=is_anthropic))
        else:
            self._at_once(name, self.told.form(whole_answer(name, asked.body, self.told.answer, is_anthropic=is_anthropic)))

    def _refuse(self, name: str) -> None:
        status, kind, retry_after = STATUSES[name]
        error = {"type": kind, "code": kind, "message": "the words of a provider, which nobody repeats"}
        self._json(status, {"type": "error", "error": error}, **({"Retry-After": retry_after} if retry_after else {}))

    def _refuse_badly(self, name: str) -> None:
        status, _, manner = name.partition("_")
        self._head(int(status), False, *([("Content-Encoding", "gzip")] if manner == "compressed" else []))
        self._chunk(b'{"error": {"type": "')
        if manner == "stalled":
            self.told.wait(30)
        while manner == "endless" and not self.told.stops.is_set():
            self._chunk(b"x" * 65_536)
        self._chunk(b"")

    def _dawdle(self, name: str, is_streamed: bool) -> None:
        """Silence, or one byte after the other without end."""
        if name == "slow_headers":
            self.told.wait(30)
            return
        if name == "dripping_headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        else:
            self._head(200, is_streamed, is_chunked=False)
        while not self.told.stops.wait(DRIP_SECONDS):
            self.wfile.write(b" ")
            self.wfile.flush()

    def _endless(self, is_streamed: bool) -> None:
        self._head(200, is_streamed)
        ends = time.monotonic() + 20
        while time.monotonic() < ends and not self.told.stops.is_set():
            self._chunk(b": " + b"x" * 65_536 if is_streamed else b" " * 65_536)

    def _stream(self, name: str, events: list[bytes]) -> None:
        self._head(200, is_streamed=True)
        half = len(events) // 2
        for number, event in enumerate(events):
            if name == "stalled_stream" and number == half:
                self.told.wait(30)
                return
            if name == "reset_midway" and number == half:
                self._reset()
                return
            if name == "stream_without_end" and number >= len(events) - 2:
                break
            self._chunk(event)
        self._chunk(b"")

    def _at_once(self, name: str, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        if name in ("stalled_stream", "reset_midway", "stream_without_end"):
            self._head(200, False, ("Content-Length", str(len(data))), is_chunked=False)
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            if name == "stalled_stream":
                self.told.wait(30)
            if name == "reset_midway":
                self._reset()
            return
        self._send(data, False)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _send(self, data: bytes, is_streamed: bool) -> None:
        self._head(200, is_streamed)
        self._chunk(data)
        self._chunk(b"")

    def _head(self, status: int, is_streamed: bool, *more: tuple[str, str], is_chunked: bool = True) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if is_streamed else "application/json")
        self.send_header("Request-Id", "req_test")
        for key, value in (*more, *([("Transfer-Encoding", "chunked")] if is_chunked else [])):
            self.send_header(key, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, status: int, value: dict[str, Any], **headers: str) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for key, text in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(key.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--behaviour", default="good", choices=(*BEHAVIOURS, *MORE))
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    given = parser.parse_args()
    with model_server(given.behaviour, port=given.port) as server:
        server.delay = given.delay
        sys.stdout.write(f"{server.url} ({given.behaviour}); Ctrl-C ends it\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
