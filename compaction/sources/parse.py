"""A text becomes a pointer of the scheme that owns it, or is refused with the rule that it breaks."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.errors import SourcePointerError, UnsupportedSchemeError
from compaction.sources import SCHEMES
from compaction.sources.base import Grammar
from compaction.sources.pointers import SourcePointer, checked_length


def parse_source_pointer(text: str, schemes: Sequence[Grammar] = SCHEMES) -> SourcePointer:
    """The pointer. White space is looked for first, then the scheme, then the components from left to right.

    Raises SourcePointerError `pointer_blank_or_whitespace`, UnsupportedSchemeError, and what the scheme refuses.
    """
    if text.split() != [text]:
        raise SourcePointerError("a pointer is empty or has white space in it", code="pointer_blank_or_whitespace")
    name = text.partition(":")[0]
    for scheme in schemes:
        if scheme.name == name:
            pointer = scheme.parse(text)
            checked_length(text)
            return pointer
    checked_length(text)
    raise UnsupportedSchemeError(
        f"nobody owns the scheme of this pointer: known are {', '.join(scheme.name for scheme in schemes)}",
        code="pointer_scheme_unsupported",
        scheme=name,
    )
