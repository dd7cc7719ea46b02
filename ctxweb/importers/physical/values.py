"""One JSON text to a value, or to the reason why there is none."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

import orjson

from ctxweb.importers.physical.structure import structure_of

BOM = b"\xef\xbb\xbf"

# orjson turns integers beyond 64 bits into floats without a word: -9223372036854775809 has 19 digits, 2**64 has 20.
# One pass that leaves digits and brackets only, so that two fast searches can follow; a pattern runs ten times slower.
_ALIKE = bytes(ord("0") if byte in b"0123456789" else ord("{") if byte in b"[{" else ord(" ") for byte in range(256))
_LONG_DIGITS = b"0" * 19
_LONG_INTEGER = re.compile(rb"(?:\A|[:,\[\s])(?:-\d{19}|\d{20})")
_INT64_MIN, _UINT64_MAX = -(2**63), 2**64 - 1
_UINT64_DIGITS = 20

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
# Each escape from left to right, so that `\\ud800` is a backslash and text; a pair is one match of 12 bytes.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_LONE_SURROGATE_BYTES = 6


class BigNumber(str):
    """The digits of an integer beyond 64 bits. A text, so that no reader takes it for a count."""

    __slots__ = ()


class NonFinite(str):
    """NaN, Infinity or a number too large for a float, as written. A text, so that no reader takes it for a count."""

    __slots__ = ()


class JsonReading(NamedTuple):
    """A value, or None with the verdict that says why; see `RawRecord` for verdicts and flags."""

    verdict: str | None
    value: Any = None
    flags: tuple[str, ...] = ()

    @property
    def is_value(self) -> bool:
        """Whether the bytes were a whole JSON value, if need be a repaired one or one too deep to keep."""
        return self.verdict in (None, "invalid_utf8", "nul_padding", "too_deep")


OVERSIZE = JsonReading("oversize")


def read_json(raw: bytes, *, max_depth: int) -> JsonReading:
    """The one JSON value that `raw` holds, with blanks around it allowed. Never raises."""
    alike = raw.translate(_ALIKE)
    if _LONG_DIGITS not in alike and (len(raw) <= max_depth or alike.count(b"{") <= max_depth):
        try:
            return JsonReading(None, orjson.loads(raw))
        except orjson.JSONDecodeError:
            pass
    return _read_with_care(raw, max_depth)


def is_blank(raw: bytes) -> bool:
    """White space only, also with a byte order mark before it or NULs in it."""
    return not raw.removeprefix(BOM).strip(b" \t\r\n\v\f\0")


def _read_with_care(raw: bytes, max_depth: int) -> JsonReading:
    text = raw.removeprefix(BOM)
    has_nul = b"\0" in text
    if is_blank(text):
        return JsonReading("nul_padding", flags=("empty", "nul_removed")) if has_nul else JsonReading("blank")
    flags = {"nul_removed"} if has_nul else set()
    text = text.replace(b"\0", b"")
    valid = _as_utf8(text)
    whole = _without_lone_surrogates(valid)
    if whole != text:
        flags.add("lossy_text")
    if structure_of(whole).depth > max_depth:
        return JsonReading("too_deep", flags=tuple(sorted(flags)))
    try:
        value = _decode(whole, flags)
    except RecursionError:  # a depth limit that was set higher than this interpreter can follow
        return JsonReading("too_deep", flags=tuple(sorted(flags)))
    except ValueError:
        return JsonReading("invalid_json")
    verdict = "invalid_utf8" if valid != text else "nul_padding" if has_nul else None
    return JsonReading(verdict, value, tuple(sorted(flags)))


def _as_utf8(raw: bytes) -> bytes:
    """`raw` with U+FFFD for each byte that is not UTF-8, encoded surrogates among them."""
    return raw.decode(errors="replace").encode()


def _without_lone_surrogates(raw: bytes) -> bytes:
    if not _SURROGATE.search(raw):
        return raw
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if _is_lone_surrogate(escape[0]) else escape[0], raw)


def _is_lone_surrogate(escape: bytes) -> bool:
    return len(escape) == _LONE_SURROGATE_BYTES


def _has_long_integer(raw: bytes) -> bool:
    return _LONG_DIGITS in raw.translate(_ALIKE) and _LONG_INTEGER.search(raw) is not None


def _decode(raw: bytes, flags: set[str]) -> Any:
    """The value of valid UTF-8: by orjson, and what it refuses or would make a float of by the slower exact reader."""
    if not _has_long_integer(raw):
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
    return _decode_exactly(raw, flags)


def _decode_exactly(raw: bytes, flags: set[str]) -> Any:
    def integer(digits: str) -> int | BigNumber:
        if len(digits) <= _UINT64_DIGITS and _INT64_MIN <= int(digits) <= _UINT64_MAX:
            return int(digits)
        flags.add("big_integer")
        return BigNumber(digits)

    def constant(name: str) -> NonFinite:
        flags.add("non_finite")
        return NonFinite(name)

    def fraction(number: str) -> float | NonFinite:
        figure = float(number)
        return figure if math.isfinite(figure) else constant(number)

    return json.loads(raw.decode(), parse_int=integer, parse_float=fraction, parse_constant=constant)
