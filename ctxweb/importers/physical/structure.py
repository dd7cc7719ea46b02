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
    """`depth`: the deepest level, the outermost value being level 1. `unfinished`: the bytes end inside a string or an
    open bracket."""

    depth: int
    unfinished: bool


def structure_of(raw: bytes) -> Structure:
    """Structure of bytes that are, or begin like, a JSON value. Linear in their length."""
    unescaped = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    pieces = unescaped.split(b'"')
    steps = array("b", b"".join(pieces[::2]).translate(_TO_STEPS, _NOT_BRACKETS))
    depths = accumulate(steps)
    deepest = max(depths, default=0)
    return Structure(depth=deepest, unfinished=len(pieces) % 2 == 0 or sum(steps) > 0)


def is_deeper(raw: bytes, max_depth: int) -> bool:
    """Whether the value in `raw` has more than `max_depth` levels."""
    if len(raw) <= max_depth or raw.count(b"{") + raw.count(b"[") <= max_depth:
        return False
    return structure_of(raw).depth > max_depth
