"""Where a window of rows begins, read leniently from an address: at the beginning where a value makes no sense."""

from __future__ import annotations

import math

from django.conf import settings
from django.http import HttpRequest, QueryDict

from compaction.messages import BlockId
from ctxweb.views import asked

BEGINNING = BlockId(0, 0)


def page_rows() -> int:
    """Rows of a window that is fetched while one scrolls."""
    return int(settings.CTXWEB_PAGE_ROWS)


def first_rows() -> int:
    """Rows that come with the page itself: so many that it stays under 100 KB."""
    return max(page_rows() * 2 // 5, 1)


def rows_asked(request: HttpRequest) -> int:
    return page_rows() if request.headers.get("HX-Request") else first_rows()


def after_place(query: QueryDict) -> BlockId:
    """The block `seq.i` of the parameter `after`."""
    seq, _, i = asked.text(query, "after", longest=19).partition(".")
    if not (seq + i).isascii() or not seq.isdigit() or not i.isdigit() or max(len(seq), len(i)) > 9:
        return BEGINNING
    return BlockId(int(seq), int(i))


def after_position(query: QueryDict) -> float | None:
    """The position in a view of the parameter `after`."""
    try:
        position = float(asked.text(query, "after", longest=40))
    except ValueError:
        return None
    return position if math.isfinite(position) else None
