"""Parameters that all paged lists take: `limit` (default and maximum: CTXWEB_PAGE_ROWS) and `after`, which an answer's `next` gave."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from django.conf import settings
from ninja import Query

from compaction.messages import BlockId
from ctxweb.api.base import ApiError

MAXIMUM = int(settings.CTXWEB_PAGE_ROWS)
Limit = Annotated[int, Query(ge=1, le=MAXIMUM)]
After = Annotated[str, Query(max_length=40)]


def place_after(after: str) -> BlockId:
    """The block `seq.i` to go on after; the beginning for an empty one. Raises ApiError."""
    if not after:
        return BlockId(0, 0)
    seq, dot, i = after.partition(".")
    return BlockId(_number(seq), _number(i)) if dot else BlockId(_number(seq), 0)


def number_after(after: str) -> int | None:
    """The number to go on after, None for the beginning. Raises ApiError."""
    return _number(after) if after else None


def position_after(after: str) -> float | None:
    """The position in a view to go on after, None for the beginning. Raises ApiError."""
    try:
        return float(after) if after else None
    except ValueError:
        raise _wrong() from None


def _number(written: str) -> int:
    if not written.isascii() or not written.isdigit() or len(written) > 18:
        raise _wrong()
    return int(written)


def _wrong() -> ApiError:
    return ApiError(
        status=HTTPStatus.UNPROCESSABLE_ENTITY, code="invalid", message="after: give the value of `next` of an earlier answer, as it was."
    )
