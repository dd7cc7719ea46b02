"""Texts as both databases can keep them, where a text of unknown kind becomes part of an index."""

from __future__ import annotations

import hashlib

from compaction.sources.pointers import MOST_POINTER_CHARS
from ctxweb.importers.values import clean_text


def pointer_key(pointer: str) -> str:
    """The pointer as index and audit name it: itself, wherever it can be one. What is too long or cannot be stored is
    named by its beginning and its SHA-256, so that two of them stay two."""
    kept = clean_text(pointer[:MOST_POINTER_CHARS])  # a longer text is no pointer, and too long for an index
    if kept == pointer:
        return pointer
    digest = hashlib.sha256(pointer.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept[:100]}… sha256:{digest}"
