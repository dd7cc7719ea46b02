"""Characters that a reader cannot see, or that change how others are drawn, made visible as escapes.

Transcript text is hostile: a bidi override reorders what is read, a zero-width character hides a difference, an
escape sequence drives a terminal. Each such character is shown as an escape (`\\u202e`), and a badge counts them.
Line feeds and tabs are layout and stay.
"""

import re
from dataclasses import dataclass

_UNSEEN = (
    # Unicode categories Cc (without tab and line feed), Cf, Zl, Zp, and lone surrogates
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    # letters and marks that are drawn as nothing
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef"
)
_UNSEEN_CHARACTER = re.compile(f"[{_UNSEEN}]")
_SPLIT = re.compile(f"([{_UNSEEN}]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text as it is shown; `is_escape` where it stands for characters that cannot be seen."""

    text: str
    is_escape: bool


def pieces(text: str) -> tuple[Piece, ...]:
    """`text` in order, its unseen characters as escapes; joined, the pieces give `escaped(text)`."""
    parts = _SPLIT.split(text)
    return tuple(Piece(text=_escapes(part) if place % 2 else part, is_escape=bool(place % 2)) for place, part in enumerate(parts) if part)


def escaped(text: str) -> str:
    """`text` with its unseen characters as escapes; the same object where there are none."""
    return _UNSEEN_CHARACTER.sub(lambda found: _escapes(found[0]), text)


def unseen_count(text: str) -> int:
    """How many characters of `text` are shown as escapes."""
    return len(_UNSEEN_CHARACTER.findall(text))


def _escapes(characters: str) -> str:
    return "".join(_escape(ord(character)) for character in characters)


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
