"""Where the head of a view that stays may end: `base.start_with_pairs` is its twin for the newest part."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.view import ViewMessage


def end_with_pairs(messages: Sequence[ViewMessage], end: int) -> int:
    """The first position from `end` on at which no call before it has its result after it."""
    last = {tool_id: index for index, message in enumerate(messages) for tool_id in message.results}
    index, end = 0, min(end, len(messages))
    while index < end:
        end = max([end, *(last.get(tool_id, -1) + 1 for tool_id in messages[index].uses)])
        index += 1
    return end
