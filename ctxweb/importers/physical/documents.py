"""One JSON object as a source: the elements of its main array are the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from ctxweb.importers.physical.elements import Element, ElementScanner, element_records, scan
from ctxweb.importers.physical.errors import TooLarge
from ctxweb.importers.physical.records import RawRecord, ReadLimits
from ctxweb.importers.physical.values import read_json


class _Place(NamedTuple):
    offset: int
    raw: bytes


def read_document(stream: BinaryIO, *, limits: ReadLimits) -> bytes:
    """All bytes of a stream that is one document; `TooLarge` above the limit, because they are held in memory."""
    raw = bytearray()
    while len(raw) <= limits.max_document_bytes:
        chunk = stream.read(limits.max_document_bytes + 1 - len(raw))
        if not chunk:
            return bytes(raw)
        raw += chunk
    raise TooLarge(
        f"The source is one JSON object of more than {limits.max_document_bytes:,} bytes, which must be held in memory. "
        "Export the session as JSON lines, or raise the limit for JSON documents."
    )


def document_records(stream: BinaryIO, path: Sequence[str], *, limits: ReadLimits) -> Iterator[RawRecord]:
    """The elements of the array that the keys of `path` lead to, each with its own span; `line` is its number.

    A path that leads to no array gives the whole document as one record, so that nothing is lost.
    """
    raw = read_document(stream, limits=limits)
    document = next((_Place(item.offset, item.content) for item in scan(raw, ElementScanner(max_bytes=len(raw))) if item.content), None)
    if document is None:
        return
    array = _follow(document, path)
    if array is None or not array.raw.startswith(b"["):
        yield from element_records(iter([Element(document.offset, len(document.raw), document.raw, True, False)]), limits)
        return
    scanner = ElementScanner(max_bytes=limits.max_line_bytes, enter="array")
    elements = (element._replace(offset=array.offset + element.offset) for element in scan(array.raw, scanner))
    yield from element_records(elements, limits)


def _follow(place: _Place, path: Sequence[str]) -> _Place | None:
    for key in path:
        found = None  # of equal keys the last one counts
        for name, value in _members(place.raw):
            if name == key:
                found = value
        if found is None:
            return None
        place = _Place(place.offset + found.offset, found.raw)
    return place


def _members(raw: bytes) -> Iterator[tuple[str, _Place]]:
    """Keys and values of an object; none for any other value."""
    inside = (item for item in scan(raw, ElementScanner(max_bytes=len(raw), enter="object")) if item.inside and item.content)
    for key, value in zip(inside, inside, strict=False):
        name = read_json(key.content or b"", max_depth=1).value
        if isinstance(name, str):
            yield name, _Place(value.offset, value.content or b"")
