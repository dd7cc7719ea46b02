"""A lane as it can be replayed: made once from its rows or its events, then shared by all policies.

What is costly is done when first asked for and kept: the texts that a layer reads, and the messages priced in a unit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from compaction.counters.sizes import TextSizes
from compaction.counters.units import Unit
from compaction.pricing import Pricer, estimated_count
from compaction.replay.arrivals import arrivals_of, call_of, starts_from_summary
from compaction.replay.events import rows_of
from compaction.replay.pairs import calls_after_compact, unpaired
from compaction.replay.reads import read_key, read_tool
from compaction.replay.refusals import refused_calls
from compaction.replay.rendered import Built, Rendered, built_of, rendered
from compaction.replay.rows import BlockRow, CallRow, LaneFacts, MessageRow, Texts
from compaction.replay.texts import LaneTexts
from compaction.summarizers.recorded import RecordedSummary
from compaction.transcript import Event


class Replayable:
    """The transcript of one lane. Make it with `replayable` or `replayable_of`.

    `arrivals` are the provider messages in order; `hidden` are the exact tokens of the first reported prompt beside the
    messages there, 0 where none was reported; `compact_calls` are the first calls after the model asked for compaction,
    `refused` those before which a request was refused as too long; `orphans` the tool blocks without another half.
    """

    def __init__(self, facts: LaneFacts, messages: Sequence[MessageRow], blocks: Sequence[BlockRow], calls: Sequence[CallRow],
                 texts: Texts, sizes: Mapping[bytes, TextSizes], count: Callable[[str], int]) -> None:  # fmt: skip
        self.facts = facts
        self.messages = tuple(messages)
        self.blocks = tuple(blocks)
        self.calls = tuple(calls)
        self.active = tuple(call.n for call in calls if not call.abandoned)
        self.arrivals = arrivals_of(self.messages, self.blocks, self.calls)
        self.arrival_calls = tuple(map(call_of, self.arrivals))
        self.orphans = unpaired(self.arrivals)
        self.compact_calls = calls_after_compact(self.arrivals)
        self.refused = refused_calls(facts, self.messages, self.blocks, self.calls, texts)
        self.starts_from_summary = starts_from_summary(self.messages, self.blocks)
        self.counts = {row.digest: row.tokens for row in self.blocks}
        self.texts = LaneTexts(texts, self.counts)
        self.hidden = self._hidden() if facts.hidden is None else facts.hidden
        self._count = count
        self._sizes = dict(sizes)
        self._built: tuple[Built, ...] | None = None
        self._rendered: dict[str, Rendered] = {}

    @property
    def last_seq(self) -> int:
        """The seq of the last logged message; a replay numbers its own messages from there."""
        return len(self.messages)

    def arrived(self, call: int) -> int:
        """How many provider messages had been sent by this call, itself included."""
        return bisect_right(self.arrival_calls, call)

    def rendered(self, unit: Unit) -> Rendered:
        """The messages priced in the unit; the work is done once."""
        found = self._rendered.get(unit.id)
        if found is None:
            found = self._rendered[unit.id] = rendered(self._blocks(), self.pricer(unit))
        return found

    def pricer(self, unit: Unit) -> Pricer:
        """Prices in the unit, by what is known of the lane's texts."""
        self._measure()
        return Pricer(unit, texts=self.texts, counts=self.counts, sizes=self._sizes, count=self._count)

    def blocks_of(self, seq: int) -> tuple[BlockRow, ...]:
        """All blocks of a logged message."""
        return self.blocks[bisect_left(self.blocks, seq, key=_seq) : bisect_right(self.blocks, seq, key=_seq)]

    def recorded_summaries(self) -> tuple[RecordedSummary, ...]:
        """The summaries that the session recorded, for policies that are to get the same."""
        rows = {seq: self.blocks_of(seq) for seq, _ in self.facts.summaries}
        self.texts.fetch([row.digest for blocks in rows.values() for row in blocks])
        texts = {seq: "\n".join(self.texts[row.digest] for row in blocks) for seq, blocks in rows.items()}
        return tuple(RecordedSummary(text=texts[seq], ends_at=ends_at) for seq, ends_at in self.facts.summaries if texts[seq].strip())

    def _blocks(self) -> tuple[Built, ...]:
        if self._built is None:
            self._built = tuple(built_of(self.arrivals, self._read_keys()))
        return self._built

    def _measure(self) -> None:
        missing = {row.digest for arrival in self.arrivals for row in arrival.blocks} - self._sizes.keys()
        if missing:
            self._sizes.update(self.texts.sizes(missing))

    def _read_keys(self) -> dict[str, str]:
        """Keys of file reads by the id of the call."""
        uses = [
            (row, tool)
            for arrival in self.arrivals
            for row in arrival.blocks
            if row.kind == "tool_use" and (tool := read_tool(self.facts.format, row.tool_name)) is not None
        ]
        self.texts.fetch([row.digest for row, _ in uses])
        return {row.tool_id: read_key(tool, self.texts[row.digest]) for row, tool in uses if row.tool_id}

    def _hidden(self) -> int:
        first = next((call for call in self.calls if call.prompt_tokens is not None and not call.abandoned), None)
        if first is None or first.prompt_tokens is None:
            return 0
        sent = self.arrivals[: self.arrived(first.n)]
        return max(0, first.prompt_tokens - sum(row.tokens for arrival in sent for row in arrival.blocks))


def replayable_of(facts: LaneFacts, messages: Iterable[MessageRow], blocks: Iterable[BlockRow], calls: Iterable[CallRow], *, texts: Texts,
                  sizes: Mapping[bytes, TextSizes] | None = None, count: Callable[[str], int] = estimated_count) -> Replayable:  # fmt: skip
    """A lane from its rows, in any order.

    `sizes` are the measured lengths of texts by digest, as far as they are stored: the others are measured, which needs the
    texts. `count` gives the exact tokens of the texts that layers write, under the tokenizer of the rows' `tokens`.
    """
    return Replayable(facts, sorted(messages, key=_seq), sorted(blocks, key=_place), sorted(calls, key=_number), texts, sizes or {}, count)


def replayable(events: Iterable[Event], facts: LaneFacts, *, counts: Mapping[bytes, int], texts: Texts,
               count: Callable[[str], int] = estimated_count) -> Replayable:  # fmt: skip
    """A lane from the events of an importer. `counts` are the exact tokens of all its bodies by digest; see `replayable_of`."""
    rows = rows_of(events, facts, counts)
    return replayable_of(rows.facts, rows.messages, rows.blocks, rows.calls, texts=texts, count=count)


_seq = attrgetter("seq")
_place = attrgetter("seq", "i")
_number = attrgetter("n")
