"""The chain of audit entries: what is appended, and what its head is. Checking it is `verify_bundle.check_chain`.

No clock and no store: a caller appends under its own lock, keeps the row and the new head in one transaction, and the key
outside the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from operator import attrgetter

from compaction.errors import AuditError
from compaction.sources.resolution import SourceResolution
from compaction.sources.verify_bundle import CHAINED, NOTHING, AuditEntry, Break, ChainReport, Head, chained_hash, check_chain, entry_mac

__all__ = ["NOTHING", "AuditEntry", "Break", "ChainReport", "Head", "Look", "append", "append_all", "check_chain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What an entry records of one look, or of a sign-off, which has statuses of its own. Times are UTC; no text of a source."""

    pointer: str
    status: str
    digest: str = ""
    reason: str = ""
    actor: str
    policy_version: str
    resolver_version: str
    started_at: str
    finished_at: str
    run: str

    @classmethod
    def of(
        cls, resolution: SourceResolution, *, actor: str, policy_version: str, resolver_version: str, started_at: str, finished_at: str
    ) -> Look:
        """The look that a resolution came from; its excerpt is left out."""
        return cls(
            pointer=resolution.pointer,
            status=resolution.status,
            digest=resolution.evidence_sha256 or "",
            reason=resolution.reason,
            actor=actor,
            policy_version=policy_version,
            resolver_version=resolver_version,
            started_at=started_at,
            finished_at=finished_at,
            run=resolution.run,
        )


TEXTS = tuple(field.name for field in fields(Look))
_texts = attrgetter(*TEXTS)


def append(head: Head, look: Look, *, tenant: str, key: bytes | None = None) -> tuple[AuditEntry, Head]:
    """The entry after `head`, and the head that it makes. Raises AuditError where a field is no text."""
    texts = (tenant, *_texts(look))
    for name, text in zip(("tenant", *TEXTS), texts, strict=True):
        if not isinstance(text, str):
            raise AuditError(f"{name} of an audit entry is no text: it would have no canonical form")
    seq = head.seq + 1
    named = dict(zip(("tenant", *TEXTS), texts, strict=True))
    digest = chained_hash(head.hash, [seq if name == "seq" else named[name] for name in CHAINED])
    mac = entry_mac(key, digest) if key else ""
    return AuditEntry(**named, seq=seq, prev_hash=head.hash, hash=digest, mac=mac), Head(seq, digest)


def append_all(head: Head, looks: Iterator[Look], *, tenant: str, key: bytes | None = None) -> Iterator[AuditEntry]:
    """One entry after the other; the head is that of the last."""
    for look in looks:
        entry, head = append(head, look, tenant=tenant, key=key)
        yield entry
