"""The fields of durable values: each is brought into its form, or refused with its name.

Texts collapse white space, times keep their spelling. A refusal never quotes what was given.
"""

from __future__ import annotations

import math
from datetime import datetime

from compaction.errors import DurableError


def required_text(given: object, field: str) -> str:
    """The text with its white space collapsed. Raises DurableError `empty_field`, `not_plain_text`."""
    text = plain_text(given, field) if given is not None else ""
    collapsed = " ".join(text.split())
    if not collapsed:
        raise DurableError(f"{field} is empty: give it", code="empty_field", field=field)
    return collapsed


def optional_text(given: object, field: str) -> str | None:
    """None, or the text as `required_text` has it."""
    return None if given is None else required_text(given, field)


def title(given: object, field: str) -> str:
    """A text that may be empty, with its white space collapsed."""
    return "" if given is None else " ".join(plain_text(given, field).split())


def plain_text(given: object, field: str) -> str:
    """The text as it is. Raises DurableError `not_plain_text` for anything else."""
    if type(given) is not str:
        raise DurableError(f"{field} is a {type(given).__name__}: give a text", code="not_plain_text", field=field)
    return given


def zoned_time(given: object, field: str) -> str:
    """An ISO 8601 time with `Z` or an offset, as it was written. Raises DurableError `naive_timestamp`, `invalid_timestamp`."""
    text = required_text(given, field)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DurableError(f"{field} is no ISO 8601 time: write 2026-10-01T09:00:00Z", code="invalid_timestamp", field=field) from None
    if moment.utcoffset() is None:
        raise DurableError(f"{field} has no time zone: add Z or an offset", code="naive_timestamp", field=field)
    return text


def instant(time: str) -> datetime:
    """The moment that a time of a durable value means; moments compare across offsets."""
    return datetime.fromisoformat(time)


def score(given: object, field: str) -> float:
    """A finite number from 0 to 1; a boolean is none. Raises DurableError `score_out_of_range`."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1 or not math.isfinite(given):
        raise DurableError(f"{field} is not a number from 0 to 1", code="score_out_of_range", field=field)
    return float(given)


def rank(given: object, field: str) -> int:
    """An integer from 1; a boolean is none. Raises DurableError `rank_invalid`."""
    if type(given) is not int or given < 1:
        raise DurableError(f"{field} is not an integer from 1", code="rank_invalid", field=field)
    return given


def fill(target: object, **values: object) -> None:
    """Set fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(target, name, value)
