"""What an importer is: it recognises a format by content, judges each record, and yields lanes of transcript events.

`sniff(head)` scores 0…1 on the decoded head of a source. `reader()` gives a `Reader` for one source: `feed` is
called with each record in file order, `lanes` once at the end. A reader keeps structure, not text: it hands every
text over as a `Body` in `Reading.bodies` and keeps `body.without_text()`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from compaction.messages import Body
from compaction.transcript import Lane
from ctxweb.importers.physical import Head, RawRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The judgement on one record: its verdict (docs/importing.md), its type for the report, and the texts it brings."""

    verdict: str
    type: str = ""
    bodies: tuple[Body, ...] = ()
    flags: tuple[str, ...] = ()


class Reader(Protocol):
    """Reads one source of one format, record by record."""

    def feed(self, record: RawRecord) -> Reading: ...

    def lanes(self) -> Iterable[Lane]:
        """The lanes of the source, main lanes before those that hang on them. Each `events` is read once, in order.

        `Lane.record_numbers` says which records belong to the lane; a record of no lane belongs to the first.
        """
        ...


class Importer(Protocol):
    """One session format. `document_paths` name the main array of a one-document layout, e.g. ("messages",)."""

    id: str
    title: str
    document_paths: tuple[tuple[str, ...], ...]

    def sniff(self, head: Head) -> float: ...

    def looks_like_record(self, value: Any) -> bool:
        """Whether a value found in the middle of a torn line is a record of this format, and not an inner block."""
        ...

    def reader(self) -> Reader: ...
