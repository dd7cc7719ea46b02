"""Odd values of session files, made plain: counts, times, words and texts. Every importer reads through these.

A count is a JSON integer from 0 to 2^53 and nothing else, a time that cannot be
read or lies outside any agent's life is unknown, and a text that a database or an encoder would refuse shows where it was mended.
`anthropic_content.py` reads whole content lists with them.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from compaction.messages import Body

MAX_COUNT = 2**53
EARLIEST_MS = 978_307_200_000  # 2001: no session is older, so an earlier figure is a placeholder
LATEST_MS = 4_102_444_800_000  # 2100
SECONDS_BELOW = 100_000_000_000  # a Unix time under this is in seconds, above it in milliseconds

NUL, NUL_SHOWN = "\0", "␀"
SURROGATE, REPLACEMENT = re.compile("[\ud800-\udfff]"), "�"

MAX_WORD_CHARS = 1_000  # readers keep these in memory, so a hostile id must not be a text
MEDIA_DIGEST_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """A text made of a value of any shape; `flags` say how the value was odd, empty for a string."""

    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image or document: its label stands for it as text. `size` is in decoded bytes, None when unknown."""

    label: str
    media_type: str | None
    size: int | None


def count(value: Any) -> int | None:
    """A count of tokens, bytes or items: an integer from 0 to 2^53, None for anything else."""
    if type(value) is int and 0 <= value <= MAX_COUNT:
        return value
    return None


def odd_counts(fields: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """Flags `odd_<name>` for the named fields that are present, not null, and no count."""
    return tuple(f"odd_{name}" for name in names if fields.get(name) is not None and count(fields[name]) is None)


def time_ms(value: Any) -> int | None:
    """Milliseconds since 1970 UTC of an ISO 8601 text (without a zone: UTC) or a Unix time in seconds or milliseconds."""
    if isinstance(value, str):
        moment = _iso_ms(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < LATEST_MS:
        moment = int(value * 1000) if value < SECONDS_BELOW else int(value)
    else:
        return None
    return moment if moment is not None and EARLIEST_MS <= moment < LATEST_MS else None


def _iso_ms(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def clean_text(text: str) -> str:
    """The text with U+2400 for NUL and U+FFFD for lone surrogates: storable and encodable everywhere."""
    if NUL in text:
        text = text.replace(NUL, NUL_SHOWN)
    return text if text.isascii() else SURROGATE.sub(REPLACEMENT, text)


def body_of(text: str) -> Body:
    return Body.of(clean_text(text))


def word(value: Any) -> str | None:
    """A short text such as an id or a name, cleaned, cut and interned; None when it is no text or empty."""
    return sys.intern(clean_text(value[:MAX_WORD_CHARS])) if isinstance(value, str) and value else None


def compact_json(value: Any) -> str:
    """A value as JSON without blanks, as tool inputs and odd contents are kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plain_text(value: Any) -> PlainText:
    """Text of a value: a string as it is, null as nothing, anything else as its JSON; flagged when no string."""
    if isinstance(value, str):
        return PlainText(text=value)
    if value is None:
        return PlainText(text="", flags=("content_null",))
    return PlainText(text=compact_json(value), flags=("content_not_text",))


def base64_size(data: str) -> int:
    """Decoded size in bytes of a base64 text, without decoding it."""
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def media(kind: str, media_type: Any, data: Any = None, place: Any = None) -> Media:
    """Label and size of an image or document given as base64 `data`, or by the `place` where it lies (never fetched)."""
    name = word(media_type)
    words = [kind, name or "of unknown type"]
    size = None
    if isinstance(data, str):
        size = base64_size(data)
        digest = hashlib.sha256(clean_text(data).encode()).hexdigest()[:MEDIA_DIGEST_CHARS]
        words.append(f"{size:,} bytes, {digest}")
    if isinstance(place, str):
        words.append(f"at {place}")
    return Media(label=f"[{' '.join(words)}]", media_type=name, size=size)
