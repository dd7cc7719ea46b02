"""Writes sessions as a message list (docs/message_list.md), of which an import makes the same views again.

The raw source is read once more: its events are the truth, the rows of the database are what was made of them. Only the texts, and
what later imports found to be copies, come from the database. Memory holds structure, never all texts.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol, cast

from compaction.messages import Body as TextBody
from compaction.transcript import Appended, Called, Edited, Event, Lane
from ctxweb.durable_rows import last_version
from ctxweb.importers import IMPORTERS
from ctxweb.importers.message_list import IMPORTER as MESSAGE_LIST
from ctxweb.importers.message_list.encode import durable_record, event_records, header_record, lane_record
from ctxweb.importers.physical import PhysicalError
from ctxweb.models import Body, Message, ModelCall, Revision, Session, Source
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.intake import head_of, member_of, records_of
from ctxweb.services.importing.lanes import public_id_of
from ctxweb.storage import StorageError

PROGRAM = "ctxweb"
BATCH_EVENTS = 200
READ_BUFFER = 256 * 1024


class Out(Protocol):
    """Where the lines go."""

    def write(self, text: str, /) -> object: ...


class ExportFailed(Exception):
    """The session cannot be written; the message says why and what to do."""


def session_export(*, session: Session, out: Out, with_lanes: bool = False) -> int:
    """Write the session, and `with_lanes` all that hang on it, one JSON object a line; the number of lanes written.

    Raises ExportFailed before anything is written where the session has no readable source.
    """
    sessions = [session, *(_descendants(session) if with_lanes else ())]
    lanes = [(one, revision, lane) for one in sessions for revision, lane in [_lane_of(one)]]
    _write(out, header_record(program=PROGRAM))
    for one, revision, lane in lanes:
        _write(out, lane_record(_renamed(lane, revision.source.format)))
        _write_durable(out, one)
        events = _with_copies(lane.events, revision)
        while batch := list(islice(events, BATCH_EVENTS)):
            _write_events(out, batch)
    return len(lanes)


def _write_durable(out: Out, session: Session) -> None:
    """The durable state of a lane, as ASCII: its texts are kept as they are, lone surrogates too."""
    version = last_version(session=session.public_id)
    if version is not None:
        out.write(json.dumps(durable_record(json.loads(version.state)), separators=(",", ":")) + "\n")


def _write_events(out: Out, events: list[Event]) -> None:
    texts = _texts(events)
    for record in event_records(events, lambda body: texts[body.digest]):
        _write(out, record)


def _write(out: Out, record: dict[str, Any]) -> None:
    out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def _descendants(session: Session) -> Iterator[Session]:
    for child in session.lanes.filter(current__isnull=False).order_by("started_at", "public_id"):
        yield child
        yield from _descendants(child)


def _lane_of(session: Session) -> tuple[Revision, Lane]:
    """The published revision of a session, and its lane as its importer reads it."""
    revision = session.current
    if revision is None:
        raise ExportFailed(f"Session {session.public_id} is still being imported: export it when its import has ended.")
    source = revision.source
    try:
        lanes = _lanes(source)
    except (PhysicalError, ImportRefused, StorageError, OSError) as error:
        raise ExportFailed(f"The raw bytes of session {session.public_id} cannot be read: {error}") from error
    for lane in lanes:
        if public_id_of(format_id=source.format, key=lane.key) == session.public_id:
            return revision, lane
    raise ExportFailed(f"Source {source.sha256[:12]}… no longer holds session {session.public_id}: run manage.py rebuild, then export it.")


def _lanes(source: Source) -> list[Lane]:
    importer = next(importer for importer in IMPORTERS if importer.id == source.format)
    member, reader = member_of(source=source), importer.reader()
    with io.BufferedReader(cast(io.RawIOBase, member.open()), READ_BUFFER) as stream:
        for record in records_of(stream=stream, head=head_of(member=member), importer=importer, is_cut=member.is_cut):
            reader.feed(record)
    return list(reader.lanes())


def _renamed(lane: Lane, format_id: str) -> Lane:
    """Keys are unique within a format, so those of another format carry its name, and the lane does too."""
    if format_id == MESSAGE_LIST.id:
        return lane
    parent = None if lane.parent_key is None else f"{format_id}:{lane.parent_key}"
    return replace(lane, key=f"{format_id}:{lane.key}", parent_key=parent, source_format=format_id)


def _with_copies(events: Iterable[Event], revision: Revision) -> Iterator[Event]:
    """The events, with what is known by now to belong to another session."""
    messages = set(Message.objects.filter(revision=revision, inherited=True).values_list("seq", flat=True))
    calls = set(ModelCall.objects.filter(revision=revision, inherited=True).values_list("n", flat=True))
    for event in events:
        match event:
            case Appended(message=message):
                yield Appended(message=replace(message, inherited=message.seq in messages))
            case Called(call=call):
                yield Called(call=replace(call, inherited=call.n in calls))
            case _:
                yield event


def _texts(events: Iterable[Event]) -> dict[bytes, str]:
    """The texts that these events need, by digest."""
    digests = {body.digest for event in events for body in _bodies(event)}
    return {bytes(digest): text for digest, text in Body.objects.filter(digest__in=digests).values_list("digest", "text")}


def _bodies(event: Event) -> Iterator[TextBody]:
    match event:
        case Appended(message=message):
            yield from (block.body for block in message.blocks)
        case Edited(compaction=compaction):
            yield from (edit.body for edit in compaction.edits if edit.body is not None)
