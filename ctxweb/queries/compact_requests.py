"""What an agent asked for itself with the tool `compact`: a summary up to where it asked, and what that is to keep."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models.functions import Substr

from compaction.compact_tool import COMPACT_TOOL, focus_of
from compaction.messages import BlockId
from ctxweb.models import Block, Body
from ctxweb.queries.blocks import lane_block
from ctxweb.queries.readable import Lane

MOST_INPUT_CHARS = 65_536  # a longer input tells no focus: half of a JSON text is none


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactRequest:
    """`call`: the first whose prompt holds the request. `focus` is empty where the agent gave none."""

    call: int
    focus: str


def compact_request(*, lane: Lane, place: BlockId) -> CompactRequest | None:
    """None where the block there is no such request, or was in no view."""
    block = lane_block(lane=lane, place=place)
    if block is None or not asks_compact(kind=block.kind, tool_name=block.tool_name):
        return None
    call = block.first_call or (lane.session.call_count if block.end == "visible" else None)
    return None if call is None else CompactRequest(call=call, focus=focus_of(_input(block)))


def asks_compact(*, kind: str, tool_name: str) -> bool:
    return kind == "tool_use" and tool_name == COMPACT_TOOL


def _input(block: Block) -> str:
    texts = Body.objects.filter(pk=block.body_id).annotate(piece=Substr("text", 1, MOST_INPUT_CHARS))
    return str(texts.values_list("piece", flat=True).get())
