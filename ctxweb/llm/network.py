"""One request under a wall clock: bounded in time and bytes, never redirected, ended at once when somebody cancels.

Time-outs of a connection are between two bytes, so a server that sends one byte a second would hold a job for hours: the whole call
runs under one clock of its own. Nothing of the environment is read (no proxy, no key, no certificate file).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2

from ctxweb.llm.base import LlmFailure

LOOK_SECONDS = 0.25  # between two looks at whether somebody cancelled
REFUSAL_SECONDS = 2.0  # that the body of a refusal is waited for: its status has said what matters
MOST_REFUSAL_BYTES = 64 * 1024
_FRAMING = ("content-encoding", "content-length", "transfer-encoding")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Seconds to connect, between two bytes, and for the whole call; bytes of an answer on the wire, and characters of its text."""

    connect: float = 10.0
    read: float = 60.0
    total: float = 120.0
    bytes: int = 4 * 1024**2
    text: int = 256 * 1024


BOUNDS = Bounds()


def run_bounded(work: Coroutine[Any, Any, T], *, bounds: Bounds, is_cancelled: Callable[[], bool]) -> T:
    """What the work gives, or LlmFailure `timeout_total` or `cancelled`; the work is ended and its connection closed first."""
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(_Unawaited(max_workers=1, thread_name_prefix="resolver"))
        return runner.run(_bounded(work, bounds, is_cancelled))


def http_client(bounds: Bounds) -> httpx2.AsyncClient:
    """A client for one call. What it raises, `failure_of_network` names."""
    timeout = httpx2.Timeout(bounds.read, connect=bounds.connect)
    transport = _Bounded(httpx2.AsyncHTTPTransport(trust_env=False, retries=0), bounds.bytes)
    headers = {"Accept-Encoding": "identity"}  # a compressed answer could be of any size
    return httpx2.AsyncClient(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False, headers=headers)


def failure_of_network(error: BaseException, *, host: str, bounds: Bounds) -> LlmFailure:
    """The failure behind an error of the client or of what stands on it."""
    for cause in _causes(error):
        if isinstance(cause, LlmFailure):
            return cause
        if isinstance(cause, httpx2.ConnectTimeout):
            return LlmFailure("timeout_connect", f"{host} took no connection within {bounds.connect:g} s: see whether it runs.")
        if isinstance(cause, httpx2.TimeoutException):
            return LlmFailure("timeout_read", f"{host} sent nothing for {bounds.read:g} s: try again, or summarise fewer calls.")
        if isinstance(cause, httpx2.ConnectError):
            return LlmFailure("connect_failed", f"{host} cannot be reached: see whether it runs, and whether the base URL is right.")
        if isinstance(cause, (httpx2.NetworkError, httpx2.RemoteProtocolError)):
            return LlmFailure("reset", f"{host} closed the connection before its answer was whole: try again.")
    what = type(error).__name__
    return LlmFailure("broken_answer", f"{host} sent what is no answer of its protocol ({what}): see whether the base URL is right.")


class _Unawaited(ThreadPoolExecutor):
    """Looks up names. No look-up can be ended from outside, so who has had enough leaves it behind."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


class _Bounded(httpx2.AsyncBaseTransport):
    """Counts what comes in, and takes no encoding that hides how much it is. A refusal is a refusal, however its body comes."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, most: int) -> None:
        self._inner, self._most = inner, most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.status_code >= 300:
            return await _refusal(response)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise LlmFailure("broken_answer", f"{request.url.host} sent a compressed answer, which was not asked for.")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream, self._most, request.url.host)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _refusal(response: httpx2.Response) -> httpx2.Response:
    """The same status and headers, with the body where it is short, plain and came at once."""
    body = bytearray()
    try:
        async with asyncio.timeout(REFUSAL_SECONDS):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MOST_REFUSAL_BYTES:
                    raise ValueError("too long")
    except (TimeoutError, ValueError, httpx2.TransportError):
        body.clear()
    finally:
        await response.aclose()
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        body.clear()
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _FRAMING]
    return httpx2.Response(response.status_code, headers=headers, content=bytes(body))


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int, host: str) -> None:
        self._inner, self._most, self._host = inner, most, host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most:
                raise LlmFailure("answer_too_large", f"{self._host} sent more than {self._most:,} bytes: see what answers at the base URL.")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _bounded(work: Coroutine[Any, Any, T], bounds: Bounds, is_cancelled: Callable[[], bool]) -> T:
    task = asyncio.ensure_future(work)
    ends = asyncio.get_running_loop().time() + bounds.total
    while True:
        left = ends - asyncio.get_running_loop().time()
        done, _ = await asyncio.wait({task}, timeout=max(0.0, min(LOOK_SECONDS, left)))
        if done:
            return task.result()
        if is_cancelled():
            await _end(task)
            raise LlmFailure("cancelled", "Somebody asked for the end of the job while the model was writing.")
        if left <= 0:
            await _end(task)
            raise LlmFailure("timeout_total", f"The answer was not whole after {bounds.total:g} s: try again, or summarise fewer calls.")


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancel the work and wait until its connection is closed."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
