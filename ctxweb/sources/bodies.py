"""Texts that a replay would have put away: nothing was written, the text is in the body store, and is read from there.

Such a pointer is `artifact:<session>:<first 12 digits>.txt:<64 digits>`, and its text has to belong to the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from compaction.messages import DIGEST_BYTES
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding
from ctxweb.models import AddedBlock, Block, Body

NAME_DIGITS = 12
SUFFIX = ".txt"
SHA256_DIGITS = 64
DIGESTS_AT_ONCE = 200


def is_spilled(pointer: SourcePointer) -> bool:
    """Whether the pointer is written as that of a text that was put away."""
    digest = pointer.digest_prefix or ""
    return len(digest) == SHA256_DIGITS and pointer.artifact_name == digest[:NAME_DIGITS] + SUFFIX


def spilled_texts(session_id: str, pointers: Sequence[SourcePointer], excerpt_chars: int) -> Mapping[str, Finding]:
    """What the body store has of the pointers (by their text), where the session has or had it."""
    wanted = {body_key(pointer): pointer for pointer in pointers if is_spilled(pointer)}
    found: dict[str, Finding] = {}
    for digest, text in _texts(session_id, list(wanted)):
        pointer = wanted[digest]
        found[pointer.raw] = _finding(text, pointer.digest_prefix or "", excerpt_chars)
    return found


def stored_marks(session_id: str, pointers: Sequence[SourcePointer]) -> frozenset[bytes]:
    """The digests (`body_key`) of those that the session has."""
    digests = [body_key(pointer) for pointer in pointers if is_spilled(pointer)]
    return frozenset(digest for digest, _ in _texts(session_id, digests)) if digests else frozenset()


def body_key(pointer: SourcePointer) -> bytes:
    """What the body store finds the text of such a pointer by."""
    return bytes.fromhex(pointer.digest_prefix or "")[:DIGEST_BYTES]


def _texts(session_id: str, digests: list[bytes]) -> Iterable[tuple[bytes, str]]:
    for start in range(0, len(digests), DIGESTS_AT_ONCE):
        bodies = Body.objects.filter(digest__in=digests[start : start + DIGESTS_AT_ONCE])
        logged = Block.objects.filter(body__in=bodies, revision__session__public_id=session_id).values("body")
        added = AddedBlock.objects.filter(body__in=bodies, history__revision__session__public_id=session_id).values("body")
        for digest, text in (bodies.filter(pk__in=logged) | bodies.filter(pk__in=added)).values_list("digest", "text"):
            yield bytes(digest), text


def _finding(text: str, digest: str, excerpt_chars: int) -> Finding:
    """NUL is stored as U+2400, so a text with that sign may have been either."""
    for one in (text, text.replace("\u2400", "\0")):
        if hashlib.sha256(one.encode()).hexdigest() == digest:
            return Finding(status="available", reason="verified_artifact", evidence_sha256=digest, excerpt=one[:excerpt_chars])
    return Finding(status="corrupt", reason="artifact_digest_mismatch")
