"""The grammar of source pointers. A pointer is an identifier, never a path: each component is one harmless path segment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compaction.errors import SourcePointerError

MOST_POINTER_CHARS = 600
MOST_COMPONENT_CHARS = 200
MOST_SEQUENCE = 10**9

_COMPONENT = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MOST_COMPONENT_CHARS - 1}}}")
_SEQUENCE = re.compile(r"0*([1-9][0-9]{0,9})")
_DIGEST = re.compile(r"[0-9A-Fa-f]{12}|[0-9A-Fa-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePointer:
    """A pointer that was read. `session_id` is what an authoriser is asked about; `place` holds the components of schemes
    that have others than these."""

    raw: str
    kind: str
    session_id: str
    sequence: int | None = None
    artifact_name: str | None = None
    digest_prefix: str | None = None
    place: tuple[str, ...] = ()


def checked_component(text: str, component: str) -> str:
    """One path segment: a letter or digit, then letters, digits, `.`, `_`, `-`. Raises SourcePointerError with its name."""
    if not _COMPONENT.fullmatch(text):
        raise SourcePointerError(
            f"the {component} of a pointer is not one name of at most {MOST_COMPONENT_CHARS} letters, digits, dots, lines",
            code="pointer_component_invalid",
            component=component,
        )
    return text


def checked_sequence(text: str) -> int:
    """A number from 1 to 10^9 in ASCII digits; leading zeros are allowed while the pointer stays short."""
    digits = _SEQUENCE.fullmatch(text) if len(text) <= MOST_POINTER_CHARS else None
    if digits is None or (number := int(digits[1])) > MOST_SEQUENCE:
        raise SourcePointerError(f"the number of a pointer is not one from 1 to {MOST_SEQUENCE:,}", code="transcript_sequence_invalid")
    return number


def checked_digest(text: str) -> str:
    """12 or 64 hexadecimal digits, in lower case."""
    if not _DIGEST.fullmatch(text):
        raise SourcePointerError("the digest of a pointer is not 12 or 64 hexadecimal digits", code="artifact_digest_invalid")
    return text.lower()


def checked_length(raw: str) -> None:
    """Raises SourcePointerError where the whole is longer than any pointer."""
    if len(raw) > MOST_POINTER_CHARS:
        raise SourcePointerError(f"a pointer has at most {MOST_POINTER_CHARS} characters, this one {len(raw):,}", code="pointer_too_long")
