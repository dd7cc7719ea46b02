"""What a look at a source came to: one of five statuses with a reason of fixed words, and for an available one its digest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

Status = Literal["available", "missing", "denied", "corrupt", "unsupported"]
STATUSES: tuple[Status, ...] = get_args(Status)

Reason = Literal[
    "verified_transcript_event",
    "verified_artifact",
    "transcript_missing",
    "transcript_event_missing",
    "artifact_missing",
    "source_disappeared",
    "policy_denied",
    "ownership_boundary",
    "filesystem_denied",
    "hard_link",
    "malformed_pointer",
    "transcript_not_a_file",
    "transcript_record_too_large",
    "transcript_invalid_json",
    "transcript_record_not_object",
    "transcript_sequence_mismatch",
    "transcript_session_mismatch",
    "transcript_event_id_mismatch",
    "transcript_digest_mismatch",
    "artifact_not_a_file",
    "artifact_not_utf8",
    "artifact_digest_mismatch",
    "source_not_utf8",
    "source_read_failed",
    "source_too_large",
    "changed_during_read",
    "manifest_invalid",
    "verified_object",
    "object_missing",
    "object_digest_mismatch",
    "object_not_utf8",
    "redirect_refused",
    "signature_expired",
    "store_denied",
    "verified_blob",
    "blob_missing",
    "blob_digest_mismatch",
    "blob_not_utf8",
    "unsupported_scheme",
]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a scheme found behind a pointer. Only an available source has a SHA-256 (64 hex digits) and an excerpt."""

    status: Status
    reason: str
    evidence_sha256: str | None = None
    excerpt: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceResolution:
    """The status of one pointer in one round. `excerpt` is for people: it is never rendered and never logged.

    `source_type` is the scheme, None where nobody owns it. `run` names the round.
    """

    pointer: str
    status: Status
    source_type: str | None = None
    reason: str = ""
    evidence_sha256: str | None = None
    excerpt: str | None = field(default=None, repr=False, compare=False)
    run: str = ""

    @property
    def is_alarming(self) -> bool:
        """Whether a disk failed under it, which somebody should look at now."""
        return self.reason == "source_read_failed"

    @classmethod
    def of(cls, pointer: str, source_type: str | None, finding: Finding, *, run: str = "") -> SourceResolution:
        """What a scheme found, bound to its pointer and round."""
        return cls(
            pointer=pointer,
            status=finding.status,
            source_type=source_type,
            reason=finding.reason,
            evidence_sha256=finding.evidence_sha256,
            excerpt=finding.excerpt,
            run=run,
        )
