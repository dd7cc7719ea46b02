"""Memory is bounded by the limits, not by the source."""

import io
import tracemalloc
from collections.abc import Iterator

import pytest

from ctxweb.importers.physical import Layout, ReadLimits, detect_layout, read_records

pytestmark = pytest.mark.nodb

MIB = 1024**2
KIB_256 = MIB // 4


class Flow(io.RawIOBase):
    """A stream that is made while it is read: `head`, then `body` so often, then `tail`."""

    def __init__(self, head: bytes, body: bytes, times: int, tail: bytes) -> None:
        self._pieces = self._flow(head, body, times, tail)

    @staticmethod
    def _flow(head: bytes, body: bytes, times: int, tail: bytes) -> Iterator[bytes]:
        yield head
        for _ in range(times):
            yield bytes(bytearray(body))  # a new object each time, as a file gives
        yield tail

    def read(self, size: int = -1, /) -> bytes:
        return next(self._pieces, b"")


def peak_of(stream: Flow, layout: Layout, limits: ReadLimits) -> tuple[int, list[tuple[str | None, int]]]:
    tracemalloc.start()
    try:
        found: list[tuple[str | None, int]] = []
        for record in read_records(stream, limits=limits, layout=layout, looks_like_record=lambda _: True):  # type: ignore[arg-type]
            if len(found) < 10:
                found.append((record.verdict, record.length))
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", ["lines", "array", "values"])
def test_a_value_of_100_mb_is_passed_over_in_pieces(layout: Layout) -> None:
    head = b"[" if layout == "array" else b""
    stream = Flow(head + b'{"a":"', b"x" * MIB, 100, b'"}' + (b"]" if layout == "array" else b"\n1"))
    peak, found = peak_of(stream, layout, ReadLimits(max_line_bytes=4 * MIB))
    assert found[0][0] == "oversize"
    assert found[0][1] > 100 * MIB
    assert peak < 12 * MIB


def test_many_lines_need_no_more_memory_than_few() -> None:
    line = b'{"type":"user","uuid":"u","text":"' + b"y" * 2000 + b'"}\n'
    few, _ = peak_of(Flow(b"", line * 500, 5, b""), "lines", ReadLimits())
    many, _ = peak_of(Flow(b"", line * 500, 50, b""), "lines", ReadLimits())
    assert many < few * 1.3


@pytest.mark.parametrize("hostile", [b"{}", b'"', b'{"a":1}', b"[", b'{"":', b'"",', b"\\", b"}", b"\0{", b'\\"{'])
def test_a_hostile_line_needs_a_small_multiple_of_its_length(hostile: bytes) -> None:
    line = b"{" + hostile * (KIB_256 // len(hostile)) + b"}\n"
    peak, _ = peak_of(Flow(b"", line, 1, b""), "lines", ReadLimits())
    assert peak < 16 * KIB_256


def test_the_layout_of_a_long_source_is_found_without_holding_it() -> None:
    members = (b'"k":"' + b"x" * 1000 + b'",\n') * 1000
    tracemalloc.start()
    try:
        layout = detect_layout(lambda: Flow(b"{\n", members, 40, b'"a":1}'), limits=ReadLimits(max_line_bytes=MIB))  # type: ignore[arg-type,return-value]
        assert tracemalloc.get_traced_memory()[1] < 12 * MIB
    finally:
        tracemalloc.stop()
    assert layout == "document"
