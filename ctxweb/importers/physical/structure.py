"""The bracket structure of JSON bytes, found without building objects and without recursion."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from itertools import accumulate

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(sorted(set(range(256)) - set(_BRACKETS)))
_STRING = re.compile(rb'"[^"]*+"?')
_TO_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """`depth`: the deepest level, the outermost value being level 1. `in_string`: the bytes end inside a string.
    `unfinished`: the bracket with which they begin is never closed."""

    depth: int
    in_string: bool
    unfinished: bool


def structure_of(raw: bytes) -> Structure:
    """Structure of bytes that are, or begin like, a JSON value. Linear in their length."""
    unescaped = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    brackets = _STRING.sub(b"", unescaped).translate(_TO_STEPS, _NOT_BRACKETS)
    depths = array("i", accumulate(array("b", brackets)))
    return Structure(
        depth=max(depths, default=0),
        in_string=unescaped.count(b'"') % 2 == 1,
        unfinished=min(depths, default=0) > 0,
    )
