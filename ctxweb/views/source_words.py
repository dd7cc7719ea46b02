"""What the pages of sources say in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxweb import addresses
from ctxweb.page import counted
from ctxweb.queries.durable import ProposalRow
from ctxweb.queries.source_counts import UNCHECKED, SourceCounts

DOMAIN_WORDS = {
    "facts": "fact",
    "pending_items": "pending item",
    "retrieval_evidence": "evidence",
    "retrieval_traces": "retrieval",
}
FIELD_WORDS = {
    "fact_id": "id",
    "item_id": "id",
    "memory_id": "id",
    "trace_id": "id",
    "content": "fact",
    "description": "work",
    "source_pointer": "source",
    "source_id": "source",
    "last_confirmed_at": "confirmed at",
    "captured_at": "captured at",
}
TEXT_FIELDS = ("content", "description", "source_title", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalLine:
    """A candidate or a conflict in one line."""

    number: int
    address: str
    domain: str
    item_id: str
    text: str
    author: str
    origin: str
    at: datetime


def title_of(counts: SourceCounts, word: str) -> str:
    """The worst status stands first, as the watch keeps it: `(2 missing) Sources`."""
    return f"({counts.said}) {word}" if counts.worst else word


def finding_of(counts: SourceCounts, version: int) -> tuple[str, str]:
    """The answer of the page, and what belongs to it."""
    if not counts.total:
        return ("No source is known yet.", f"The state is at version {version:,}." if version else "")
    unchecked = counts.statuses.get(UNCHECKED, 0)
    parts = [f"{count:,} {status}" for status, count in counts.statuses.items() if status not in ("available", UNCHECKED)]
    parts += [f"{counts.changed:,} changed since confirmed"] if counts.changed else []
    parts += [f"{unchecked:,} never looked at"] if unchecked else []
    detail = f"{', '.join(parts)}." if parts else "Each is what it was when it was confirmed."
    return f"{counts.available:,} of {counted(counts.total, 'source')} can be traced now.", detail


def proposal_line(session: str, row: ProposalRow) -> ProposalLine:
    return ProposalLine(
        number=row.number,
        address=addresses.source_proposal(session, row.number),
        domain=DOMAIN_WORDS.get(row.domain, row.domain),
        item_id=row.item_id,
        text=item_text(row.item),
        author=row.author,
        origin=row.origin,
        at=row.at,
    )


def item_text(item: Mapping[str, Any]) -> str:
    """What an item says, of its fields."""
    return next((str(item[name]) for name in TEXT_FIELDS if name in item), "")


def field_word(name: str) -> str:
    return FIELD_WORDS.get(name, name.replace("_", " "))
