"""When a layer that runs at every call can next change something, so that the calls before need no view.

A rule may be early, never late: a run that changes nothing leaves no trace. A layer without a rule is looked at before
every call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from compaction.layers.base import Layer
from compaction.layers.clear_old_results import CLEARED, ClearOldResults
from compaction.layers.clear_thinking import ClearThinking
from compaction.layers.limit_by_kind import LimitByKind
from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.result_budget import ResultBudget
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.spill_results import SpillResults
from compaction.replay.place import Place
from compaction.replay.wakes_of_masks import enough_to_mask

MOST_A_CHAR = 16  # what one character of a result costs at most in any unit: Python's repr of an odd one has ten

Wake = Callable[[Place], int | None]


def wake_of(layer: Layer) -> Wake:
    """The rule of a layer."""
    if isinstance(layer, ResultBudget):
        return _large_result(layer.store_above)
    if isinstance(layer, SpillResults):
        sizes = [layer.longer_than, None if layer.larger_than is None else layer.larger_than // MOST_A_CHAR]
        limits = [*(chars for _, chars in layer.tool_limits), *(size for size in sizes if size is not None)]
        return _large_result(min(limits, default=0))
    if isinstance(layer, ClearThinking):
        return _thinking
    if isinstance(layer, LimitByKind):
        return _large_result(layer.least)
    if isinstance(layer, MaskToolResults):
        return enough_to_mask(layer)
    if isinstance(layer, SnipMessages):
        return _many_messages(layer.max_messages)
    if isinstance(layer, ClearOldResults):
        return _long_result_grows_old(layer.keep_results, max(layer.longer_than, CLEARED.chars))
    return lambda place: place.next_call


def _large_result(chars: int) -> Wake:
    """A result of more characters arrives."""

    def wake(place: Place) -> int | None:
        large = place.transcript.results_above(chars)
        at = bisect_left(large.messages, place.upto)
        return place.call_of(large.messages[at] + 1) if at < len(large.messages) else None

    return wake


def _thinking(place: Place) -> int | None:
    """A message with thinking arrives: the run before left no more of them than are kept."""
    messages = place.transcript.messages
    for at in range(place.upto, len(messages)):
        if messages[at].thinks:
            return place.call_of(at + 1)
    return None


def _many_messages(most: int) -> Wake:
    return lambda place: place.first_call(lambda k: place.count_at(k) > most)


def _long_result_grows_old(keep: int, chars: int) -> Wake:
    """A result of more characters is no longer among the newest `keep`."""

    def wake(place: Place) -> int | None:
        transcript = place.transcript
        arrived = transcript.results[place.upto]
        needed = _results_needed(place, keep, chars)
        large = transcript.results_above(chars)
        at = bisect_left(large.ordinals, arrived)
        if at < len(large.ordinals):
            later = large.ordinals[at] - arrived + 1 + keep
            needed = later if needed is None else min(needed, later)
        return None if needed is None else place.call_of(bisect_left(transcript.results, arrived + needed))

    return wake


def _results_needed(place: Place, keep: int, chars: int) -> int | None:
    """How many results must arrive until a long one of the last view is old; 0 where one is already, None where none is long."""
    needed: int | None = None
    newer = 0
    for message in reversed(place.base):
        if message.role == "assistant":
            continue
        for visible in reversed(message.blocks):
            if visible.block.kind == "tool_result":
                if visible.body.chars > chars:
                    needed = max(0, keep - newer)
                newer += 1
        if newer > keep:  # older ones were looked at by the last run
            break
    return needed
