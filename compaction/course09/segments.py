"""How mini-harness 09 names stored results: a readable name that is safe as one segment of a path."""

from __future__ import annotations

import re

MOST_CHARS = 80
REPLACED = re.compile(r"[^a-zA-Z0-9._-]+")


def safe_segment(value: str, fallback: str) -> str:
    """`value` with each run of other characters as one dash; `fallback` where nothing is left."""
    return REPLACED.sub("-", value).strip(".-")[:MOST_CHARS] or fallback
