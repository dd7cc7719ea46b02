"""The bracket structure of JSON bytes, found without building objects and without recursion."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import accumulate

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(sorted(set(range(256)) - set(_BRACKETS)))
_TO_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """`depth`: the deepest level, the outermost value being level 1. The bytes end inside a string (`in_string`) or, as
    `unfinished` says, in that or an open bracket."""

    depth: int
    in_string: bool
    unfinished: bool


def structure_of(raw: bytes) -> Structure:
    """Structure of bytes that are, or begin like, a JSON value. Linear in their length."""
    unescaped = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    pieces = unescaped.split(b'"')
    steps = array("b", b"".join(pieces[::2]).translate(_TO_STEPS, _NOT_BRACKETS))
    in_string = len(pieces) % 2 == 0
    return Structure(depth=max(accumulate(steps), default=0), in_string=in_string, unfinished=in_string or sum(steps) > 0)
