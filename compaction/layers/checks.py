"""Checks of limits that generic layers share. Each raises LimitError and names the field."""

from __future__ import annotations

import math
from typing import ClassVar, Protocol

from compaction.errors import LimitError
from compaction.layers.base import require_whole


class Named(Protocol):
    """What has limits and a name."""

    id: ClassVar[str]


def check_whole(layer: Named, *names: str, at_least: int = 0) -> None:
    """Each field is a whole number of at least `at_least`, or None."""
    given = {name: getattr(layer, name) for name in names}
    require_whole(layer.id, at_least, **{name: value for name, value in given.items() if value is not None})


def check_shares(layer: Named, *names: str) -> None:
    """Each field is a share above 0 and below 1, or None."""
    for name in names:
        value = getattr(layer, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1 or math.isnan(value)):
            raise LimitError(f"{layer.id}.{name} is {value!r}: it must be above 0 and below 1", field=name)


def check_texts(layer: Named, *names: str) -> None:
    """Each field is a text that is not blank."""
    for name in names:
        value = getattr(layer, name)
        if not isinstance(value, str) or not value.strip():
            raise LimitError(f"{layer.id}.{name} must be a text that is not blank", field=name)
