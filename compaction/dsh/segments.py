"""How dsh names the folders of its sessions: any text as one segment of a path, and reversibly so."""

from __future__ import annotations

import re

ESCAPED = re.compile(r"[^A-Za-z0-9._-]")
RELATIVE = (".", "..")  # would name a folder that exists everywhere


def encode_segment(value: str) -> str:
    """`value` as one path segment: each UTF-16 unit that is not a plain name character is `~` and four hex digits."""
    if value in RELATIVE:
        return _escaped(value)
    return ESCAPED.sub(lambda match: _escaped(match[0]), value) or "~"


def _escaped(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"~{units[at] << 8 | units[at + 1]:04X}" for at in range(0, len(units), 2))
