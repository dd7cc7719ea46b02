"""What leaves this machine goes to the configured address and nowhere else, by one clock; nothing of it stands in a log."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from ctxweb.llm.anthropic import AnthropicClient
from ctxweb.llm.base import LlmFailure
from ctxweb.llm.network import Bounds
from tests.ctxweb.llm.asked import BOUNDS, KEY, KINDS, REQUEST, SAID
from tests.model_server import ModelServer, model_server

pytestmark = pytest.mark.nodb
ENVIRONMENT = {  # as people have it for their agents and their networks; none of it is ours
    **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"),
    **dict.fromkeys(("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"), "another"),
    **dict.fromkeys(("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"), "http://127.0.0.1:9"),
    "ANTHROPIC_CUSTOM_HEADERS": "X-Api-Key: another\nX-Gateway: another",
}
_reached: set[Any] | None = None  # an audit hook cannot be taken off again, so one stays and is told when to listen


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if _reached is None:
        return
    if event in ("socket.connect", "socket.sendto"):
        _reached.add(given[1])
    if event == "socket.getaddrinfo":
        _reached.add((given[0], given[1]))


@pytest.fixture(scope="module")
def _hook() -> None:
    sys.addaudithook(_hear)


@pytest.fixture
def reached(_hook: None) -> Iterator[set[Any]]:
    """The addresses that this process connects to or looks up."""
    global _reached
    _reached = set()
    yield _reached
    _reached = None


@pytest.mark.parametrize("name", ["good", "redirect", "401", "529", "error_in_stream", "reset_midway"])
def test_only_the_configured_address_is_reached(
    name: str, client: Any, server: ModelServer, reached: set[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    with model_server() as elsewhere:
        server.elsewhere = elsewhere.url
        server.counts = 4_321
        server.play(name)
        client.count_tokens(REQUEST)
        with contextlib.suppress(LlmFailure):
            client.ask(REQUEST)
        assert elsewhere.requests == []
    at = urlsplit(server.url)
    assert {(host.decode() if isinstance(host, bytes) else host, int(port)) for host, port in reached} == {(at.hostname, at.port)}
    (asked,) = server.requests
    assert "another" not in str(asked.headers)
    assert KEY in str(asked.headers)


@pytest.fixture
def our_log() -> Iterator[io.StringIO]:
    """What is written to the handlers of the product. `caplog` hears loggers of their own, too, so it cannot tell."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize("name", ["good", "401", "broken_json", "reset_midway"])
def test_whoever_turns_on_the_logs_of_the_libraries_reads_no_prompt_and_no_key(
    name: str, client: Any, server: ModelServer, our_log: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    for logger in ("", "anthropic", "httpx2", "httpcore2"):  # what ANTHROPIC_LOG=debug does
        caplog.set_level(logging.DEBUG, logger=logger)
    server.play(name)
    told = f"{client!r} {client}"
    with contextlib.suppress(LlmFailure):
        client.ask(REQUEST)
    told += our_log.getvalue()
    for hidden in (SAID, KEY, "/messages", "/completions"):
        assert hidden not in told


def test_a_name_that_nobody_answers_for_holds_no_call(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()
    told: list[str] = []

    def nobody(*_: Any, **__: Any) -> Any:
        told.append("asked")
        is_over.wait(5)
        told.append("given up")
        raise socket.gaierror(socket.EAI_NONAME, "nobody")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    lost = type(client)(base_url="http://nobody.test", api_key=KEY, is_streamed=client._is_streamed, bounds=BOUNDS)
    with pytest.raises(LlmFailure) as caught:
        lost.ask(REQUEST)
    assert (caught.value.code, caught.value.is_retryable) == ("timeout_connect", True)
    assert told == ["asked"]
    is_over.set()


def test_a_server_that_takes_no_connection_is_left_after_the_time_to_connect(client: Any) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:  # who stands in the queue of a listener that accepts nobody
            each.setblocking(False)
            each.connect_ex(listener.getsockname())
        bounds = Bounds(connect=0.2, read=60, total=3)
        busy = type(client)(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", api_key=KEY, bounds=bounds)
        with pytest.raises(LlmFailure) as caught:
            busy.ask(REQUEST)
        for each in waiting:
            each.close()
    assert caught.value.code == "timeout_connect"


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_not_there_cannot_be_reached(kind: str) -> None:
    with pytest.raises(LlmFailure) as caught:
        KINDS[kind](base_url="http://127.0.0.1:9", api_key=KEY, bounds=BOUNDS).ask(REQUEST)
    assert caught.value.code == "connect_failed"


def test_anthropic_counts_a_prompt_and_a_failed_count_is_none(server: ModelServer) -> None:
    client = AnthropicClient(base_url=server.url, api_key=KEY, bounds=BOUNDS)
    assert client.count_tokens(REQUEST) is None
    server.counts = 4_321
    assert client.count_tokens(REQUEST) == 4_321
    assert server.requests == []
