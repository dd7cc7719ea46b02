"""How the vectors write a text that holds a mark."""

from __future__ import annotations


def marked(kind: str, *, head: str = "", tail: str = "", **numbers: object) -> dict[str, object]:
    """A text as what is kept around its mark."""
    return {"head": head, "marker": {"kind": kind, **numbers}, "tail": tail}
