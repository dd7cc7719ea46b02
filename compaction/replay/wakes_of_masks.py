"""When a layer that masks tool results beyond a protected part can next gain enough."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.tool_results import is_turn
from compaction.replay.place import Place
from compaction.view import ViewMessage


def enough_to_mask(layer: MaskToolResults) -> Callable[[Place], int | None]:
    """All results beyond the protected part, whole messages of them, reach what has to be gained."""

    def wake(place: Place) -> int | None:
        results = _results(layer, place)
        least = max(1, layer.least_gain)
        return place.first_call(lambda k: results.beyond(k) >= least)

    return wake


@dataclass(frozen=True, slots=True)
class _Results:
    """The results that are not masked. `sums[i]` is the size of those in the first i messages of the part of the base that is not
    settled; `turns` are the places of the messages there that begin a turn."""

    layer: MaskToolResults
    place: Place
    sums: tuple[int, ...]
    turns: tuple[int, ...]

    def beyond(self, k: int) -> int:
        """At least the size of those that may be masked once k messages of the transcript have arrived; never less for more."""
        arrived, upto = self.place.transcript.in_results, self.place.upto
        end = self._end(k)
        if end < upto:
            protected = self.sums[end - upto - 1] - self.layer.protect_tokens
        else:
            protected = self.sums[-1] + arrived[end] - arrived[upto] - self.layer.protect_tokens
            boundary = bisect_left(arrived, protected - self.sums[-1] + arrived[upto], lo=upto, hi=end + 1)
            if boundary > upto:
                return self.sums[-1] + arrived[boundary] - arrived[upto]
        return self.sums[min(bisect_left(self.sums, protected), len(self.sums) - 1)] if protected > 0 else 0

    def _end(self, k: int) -> int:
        """Where the protected messages begin, counted as the transcript is: what stands before `upto` there is the base."""
        layer, place, turns = self.layer, self.place, self.place.transcript.turns
        end = max(place.upto, k - layer.protect_messages)
        if layer.protect_turns:
            newest = bisect_left(turns, k)
            wanted = layer.protect_turns - (newest - bisect_left(turns, place.upto))
            if wanted <= 0:
                return min(end, turns[newest - layer.protect_turns])
            found = self.turns[-wanted] if wanted <= len(self.turns) else 0
            return place.upto + found - (len(self.sums) - 1)
        return end


def _results(layer: MaskToolResults, place: Place) -> _Results:
    open_part = place.base[place.settled.get(layer, 0) :]
    turns = [at for at, message in enumerate(open_part) if is_turn(message)] if layer.protect_turns else []
    return _Results(layer, place, tuple(accumulate(map(_unmasked, open_part), initial=0)), tuple(turns))


def _unmasked(message: ViewMessage) -> int:
    if not message.results:
        return 0
    return sum([one.own for one in message.blocks if one.block.kind == "tool_result" and one.state != "cleared"])
