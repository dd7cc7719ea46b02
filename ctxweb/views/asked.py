"""Parameters of addresses, read leniently: a page answers with its usual state where a value makes no sense."""

from __future__ import annotations

from django.http import QueryDict


def number(query: QueryDict, name: str) -> int | None:
    """A positive whole number, None where there is none."""
    written = query.get(name, "")
    if not written.isascii() or not written.isdigit() or len(written) > 9:
        return None
    return int(written) or None


def text(query: QueryDict, name: str, *, longest: int = 400) -> str:
    """NUL cannot be asked of a database."""
    return query.get(name, "").replace("\0", "").strip()[:longest]


def one_of(query: QueryDict, name: str, words: tuple[str, ...], usual: str) -> str:
    given = query.get(name, "")
    return given if given in words else usual
