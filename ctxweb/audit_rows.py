"""Audit entries as rows, the last one of a pointer, and the times of the chain as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from django.conf import settings
from django.db.models import Max, QuerySet

from compaction.sources.chain import AuditEntry as ChainEntry
from compaction.sources.chain import Head
from compaction.sources.verify_bundle import SIGNED_OFF as SIGNED_OFF
from ctxweb.models import AuditEntry, AuditHead
from ctxweb.storable import pointer_key

COLUMNS = (
    "project_id", "seq", "pointer", "status", "digest", "reason", "actor", "policy_version", "resolver_version", "started_at",
    "finished_at", "run", "prev_hash", "hash", "mac",
)  # fmt: skip
NAMES = ("tenant", *COLUMNS[1:])  # what the chain calls them
ROWS_AT_ONCE = 2_000
POINTERS_AT_ONCE = 10_000  # of a query: a page of any state asks once


def audit_key() -> bytes:
    return str(settings.AUDIT_KEY).encode()


def time_text(moment: datetime) -> str:
    """A time as entries have it: UTC, microseconds, so that texts sort as times do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def entry_row(entry: ChainEntry) -> tuple[object, ...]:
    return tuple(getattr(entry, name) for name in NAMES)


def entries_of(rows: QuerySet[AuditEntry]) -> Iterator[ChainEntry]:
    """The rows as entries of the chain, in the order given, never all in memory."""
    for values in rows.values_list(*COLUMNS).iterator(chunk_size=ROWS_AT_ONCE):
        yield ChainEntry(**dict(zip(NAMES, values, strict=True)))


def head_of(*, project_id: str) -> Head | None:
    """The head as it was kept, None before the first entry."""
    row = AuditHead.objects.filter(pk=project_id).first()
    return None if row is None else Head(row.seq, row.hash)


def sign_off_row(values: Mapping[str, object]) -> dict[str, object]:
    """A sign-off as the digest in its entry covers it, and as a bundle holds it."""
    return {name: values[name] for name in ("seq", "subject", "name", "note", "at")}


def latest_entries(*, project_id: str, pointers: Iterable[str], until: str = "") -> dict[str, AuditEntry]:
    """The last entry of each pointer that has one, by `pointer_key`. `until`: a time as entries have it; what was found later
    is left out."""
    keys = list(dict.fromkeys(map(pointer_key, pointers)))
    found: dict[str, AuditEntry] = {}
    for start in range(0, len(keys), POINTERS_AT_ONCE):
        rows = AuditEntry.objects.filter(project_id=project_id, pointer__in=keys[start : start + POINTERS_AT_ONCE])
        if until:
            rows = rows.filter(finished_at__lte=until)
        seqs = rows.order_by().values("pointer").annotate(last=Max("seq")).values_list("last", flat=True)
        found |= {row.pointer: row for row in AuditEntry.objects.filter(project_id=project_id, seq__in=list(seqs))}
    return found
