"""Calls that were made only after a request had been refused as too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compaction.replay.rows import BlockRow, CallRow, LaneFacts, MessageRow, Texts

REFUSALS = ("prompt_too_long", "prompt is too long", "too many tokens")
"""What providers answer to a request that does not fit the window, in small letters."""

MOST_CHARS = 2_000  # a refusal is a short message


def refused_calls(
    facts: LaneFacts, messages: Sequence[MessageRow], blocks: Iterable[BlockRow], calls: Sequence[CallRow], texts: Texts
) -> frozenset[int]:
    """Numbers of the calls on the active path that followed a refusal, logged as a message or told by a recorded compaction."""
    active = [call for call in calls if not call.abandoned]
    candidates = [block for block in blocks if _may_refuse(messages[block.seq - 1], block)]
    found = texts({block.digest for block in candidates}) if candidates else {}
    refused = {block.seq for block in candidates if _is_refusal(found[block.digest])}
    return frozenset(_next_calls(refused, active)) | facts.overflowed.intersection(call.n for call in active)


def _may_refuse(message: MessageRow, block: BlockRow) -> bool:
    """The harness logs a refusal as an answer that no call made and that no prompt holds."""
    is_answer = message.role == "assistant" and message.call is None and not message.abandoned
    return is_answer and block.first_call is None and block.kind == "text" and block.chars <= MOST_CHARS


def _is_refusal(text: str) -> bool:
    lowered = text.lower()
    return any(refusal in lowered for refusal in REFUSALS)


def _next_calls(refused: Iterable[int], active: Sequence[CallRow]) -> Iterator[int]:
    for seq in refused:
        following = next((call.n for call in active if call.seq is not None and call.seq > seq), None)
        if following is not None:
            yield following
