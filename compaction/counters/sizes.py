"""The lengths of a text that units are made of, measured once for each distinct text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSizes:
    """Lengths of one text. `chars`: code points; `utf16`: UTF-16 units; `utf8`: bytes; `json`: of its JSON, unescaped
    beyond ASCII, quotes included; `repr`: of Python's repr.

    `object_…` are those of the object that the text is the JSON of (a tool call's input), None where it is none;
    `object_compact` is without spaces, in UTF-16 units.
    """

    chars: int
    utf16: int
    utf8: int
    json: int
    repr: int
    object_json: int | None = None
    object_repr: int | None = None
    object_compact: int | None = None


def text_sizes(text: str) -> TextSizes:
    """Measure a text without lone surrogates. O(characters)."""
    chars = len(text)
    utf8, utf16 = (chars, chars) if text.isascii() else (len(text.encode()), utf16_units(text))
    parsed = json_object(text)
    whole = TextSizes(chars=chars, utf16=utf16, utf8=utf8, json=len(json_text(text)), repr=len(repr(text)))
    if parsed is None:
        return whole
    return TextSizes(
        chars=chars,
        utf16=utf16,
        utf8=utf8,
        json=whole.json,
        repr=whole.repr,
        object_json=len(json_text(parsed)),
        object_repr=len(repr(parsed)),
        object_compact=utf16_units(json_text(parsed, compact=True)),
    )


def json_text(value: object, *, compact: bool = False) -> str:
    """The JSON of a value as the published programs measure it; what JSON cannot hold stands as its text."""
    return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":") if compact else None)


def json_object(text: str) -> dict[str, object] | None:
    """The object that a text is the JSON of, None where it is none."""
    if not text.startswith("{"):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def utf16_units(text: str) -> int:
    """UTF-16 code units of a text: a character beyond the first plane is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@lru_cache(maxsize=4096)
def word_sizes(word: str) -> tuple[int, int]:
    """The JSON and the repr length of an id or a name, quotes included."""
    return len(json_text(word)), len(repr(word))
