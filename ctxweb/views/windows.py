"""Where a window of rows begins, read leniently from an address: at the beginning where a value makes no sense."""

from __future__ import annotations

import math

from django.conf import settings
from django.http import QueryDict

from compaction.messages import BlockId
from ctxweb.views import asked

BEGINNING = BlockId(0, 0)


def page_rows() -> int:
    return int(settings.CTXWEB_PAGE_ROWS)


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
