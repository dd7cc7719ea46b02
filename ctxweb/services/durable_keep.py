"""Keep as fact: what a message says becomes a fact whose source is the record that the message was read from."""

from __future__ import annotations

import hashlib
import secrets

from django.utils import timezone

from compaction.durable.values import DurableContextState, DurableFact
from compaction.errors import DurableError
from compaction.sources.events import without_end
from compaction.sources.records import BAD_VERDICTS
from ctxweb.models import Message, Record, Revision, Session
from ctxweb.services.durable_changes import with_items
from ctxweb.services.durable_versions import Author, Written, version_append
from ctxweb.services.record_read import RecordUnreadable, record_pieces


def fact_keep(
    *, session: Session, revision: Revision, seq: int, content: str, author: Author, fact_id: str = "", expected: int | None = None
) -> Written:
    """Confirm `content` as a fact, with the record of message `seq` as its source: `transcript:<public id>:<record number>`.
    The digest of that record is read now and kept with the version.

    Raises DurableError `message_unknown`, `source_unusable`, `duplicate_id` where the fact is there, and what the fields refuse.
    """
    number = Message.objects.filter(revision=revision, seq=seq).values_list("record", flat=True).first()
    if number is None:
        raise DurableError(f"message {seq} is not in this session: name one by its number", code="message_unknown", field="seq")
    record = Record.objects.filter(source=revision.source, number=number).first()
    if record is None or record.verdict in BAD_VERDICTS:
        raise DurableError("the record of this message cannot be a source: it was not read whole", code="source_unusable", field="seq")
    pointer = f"transcript:{session.public_id}:{number}"
    digest = _digest(revision, record)
    fact = DurableFact(
        fact_id=fact_id or f"fact-{secrets.token_hex(6)}",
        content=content,
        source_pointer=pointer,
        last_confirmed_at=timezone.now().isoformat(),
    )

    def make(before: DurableContextState) -> DurableContextState:
        if any(one.fact_id == fact.fact_id for one in before.facts):
            raise DurableError("a fact with this id is there: give another one", code="duplicate_id", domain="facts", field="fact_id")
        return with_items(before, "facts", [fact])

    return version_append(
        project=session.project,
        session=session.public_id,
        expected=expected,
        author=author,
        make=make,
        confirm=lambda _, anew: dict.fromkeys(anew, digest),
    )


def _digest(revision: Revision, record: Record) -> str:
    """SHA-256 of the record as a source: its bytes without the line end. They must be those that were imported."""
    try:
        raw = b"".join(record_pieces(source=revision.source, offset=record.offset, length=record.length))
    except RecordUnreadable as error:
        raise DurableError(str(error), code="source_unusable", field="seq") from error
    if hashlib.sha256(raw).digest() != bytes(record.digest):
        raise DurableError("the stored bytes of this message are not those that were imported", code="source_unusable", field="seq")
    return hashlib.sha256(without_end(raw)).hexdigest()
