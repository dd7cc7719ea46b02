"""One dsh session as it grows: the surface with its compactions, the calls, and what stands in front of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from compaction.dsh.events import (
    ASSISTANT,
    CHUNK,
    CONTEXT,
    END,
    END_SEED,
    HEADER,
    HEADER_DELTA,
    PRUNE,
    RESULT,
    START,
    SUMMARY,
    SURFACE_TYPES,
    TITLE,
    JsonObject,
    data_of,
    source_of,
    type_of,
)
from compaction.dsh.metering import Meter
from compaction.dsh.surface import Replacement, Surface
from compaction.errors import SessionLogError
from compaction.transcript import AFTER_REFUSAL, Compaction, Edit, Event, Fidelity, ModelCall
from ctxweb.importers.dsh.content import draft_of
from ctxweb.importers.dsh.prunes import Prunes
from ctxweb.importers.dsh.request_header import RequestHeader
from ctxweb.importers.dsh.transactions import Transactions
from ctxweb.importers.dsh.usage import read_usage
from ctxweb.importers.lane_log import LaneLog, Place
from ctxweb.importers.values import count, word

VIEW_RULES = frozenset(
    {"surface_marker_missing", "surface_op_invalid", "surface_start_unknown", "surface_end_unknown", "surface_range_reversed"}
)
"""Rules of the surface without which it is a guess what the model saw."""

TOO_LONG = "CONTEXT_WINDOW_EXCEEDED"


class Thread:
    """One lane. `window`, `model` and `title` are what the latest event said; `next_seq` is the seq that is due."""

    def __init__(self) -> None:
        self.log = LaneLog()
        self.window: int | None = None
        self.model: str | None = None
        self.title: str | None = None
        self.next_seq = 0
        self._surface = Surface()
        self._meter = Meter(self._surface)
        self._header = RequestHeader(self.log)
        self._prunes = Prunes(self.log)
        self._transactions = Transactions(self.log)
        self._seqs: dict[int, int] = {}
        self._awaiting: list[int] = []
        self._grade: Fidelity = "exact"
        self._after_refusal = False

    def take(self, event: JsonObject, place: Place) -> None:
        """Take an event whose seq is due, or later where events were lost."""
        seq, kind = event["seq"], type_of(event)
        if seq > self.next_seq:
            self.blur()
            self.log.note("event_seq_gap", line=place.line, detail=f"event {seq:,} follows event {self.next_seq - 1:,}")
        self.next_seq = seq + 1
        if kind == CHUNK and "surfaceOp" not in event:
            self._prunes.flush()
            self._meter.take(event, None)
            self._note_refusal(data_of(event), place)
            return
        self._check(event, place)
        if kind not in (PRUNE, RESULT):
            self._prunes.flush()
        size = self._meter.measure().total if isinstance(event.get("surfaceOp"), Mapping) else None
        if kind == ASSISTANT:
            self._call(event, place)
        replacement = self._surface.put(event)
        self._meter.take(event, replacement)
        if kind in SURFACE_TYPES:
            self._show(event, replacement, size, place)
        else:
            self._take_other(kind, event, place)

    def blur(self) -> None:
        """Something that may have changed the view was not understood."""
        self._grade = "approx"

    def finish(self, *, seed_length: int) -> Iterator[Event]:
        """The events; what came of the first `seed_length` events is marked as the parent's."""
        self._prunes.flush()
        self._header.open_view()
        self._transactions.finish()
        self._inherit(seed_length)
        yield from self.log.final_events()

    def _check(self, event: JsonObject, place: Place) -> None:
        try:
            self._surface.check(event)
        except SessionLogError as error:
            self.log.note(error.code, line=place.line, detail=", ".join(f"{name} {figure}" for name, figure in error.figures.items()))
            if error.code in VIEW_RULES:
                self.blur()

    def _take_other(self, kind: str, event: JsonObject, place: Place) -> None:
        data = data_of(event)
        if kind == HEADER:
            self._take_header(data, place)
        elif kind == HEADER_DELTA:
            if not self._header.change(data, place):
                self.blur()
        elif kind == CONTEXT:
            self.window = count(data.get("contextWindow"))
            self.model = word(data.get("model")) or self.model
        elif kind == TITLE:
            self.title = word(data.get("title")) or self.title
        elif kind == PRUNE:
            self._prunes.announce(data, place)
        elif kind in (START, SUMMARY, END, END_SEED):
            self._transactions.take(kind, data, place)

    def _take_header(self, data: JsonObject, place: Place) -> None:
        header = data.get("header")
        told: JsonObject = header if isinstance(header, Mapping) else {}
        config = told.get("config")
        if isinstance(config, Mapping):
            self.model = word(config.get("model")) or self.model
        if not self._header.take(told, place):
            self.blur()

    def _note_refusal(self, data: JsonObject, place: Place) -> None:
        """The provider's answer to a request that it did not take."""
        chunk = data.get("chunk")
        reason = chunk.get("reason") if isinstance(chunk, dict) else None
        failure = reason.get("failure") if isinstance(reason, Mapping) else None
        if isinstance(failure, Mapping) and failure.get("code") == TOO_LONG:
            self._after_refusal = True
            self.log.note("request_too_long", line=place.line, detail=f"before call {self.log.next_call():,}")

    def _call(self, event: JsonObject, place: Place) -> None:
        """The surface as it stands was the prompt of this answer."""
        self._header.open_view()
        number, draft = self.log.next_call(), draft_of(event)
        usage, flags = read_usage(data_of(event).get("usage"))
        refusal = (AFTER_REFUSAL,) if self._after_refusal else ()
        self._after_refusal = False
        self.log.call(
            ModelCall(
                n=number,
                seq=len(self.log.messages) + 1,
                line=place.line,
                usage=usage,
                native_id=draft.native_id,
                model=draft.model or self.model,
                at=draft.at,
                context_window=self.window,
                previous=number - 1 or None,
                fidelity="derived" if self._grade == "exact" and self._header.is_placeholder else self._grade,
                flags=(*flags, *draft.flags, *refusal),
            )
        )
        for index in self._awaiting:
            self.log.recast(index, tokens_after=usage.prompt_tokens)
        self._awaiting.clear()

    def _show(self, event: JsonObject, replacement: Replacement | None, size: int | None, place: Place) -> None:
        if replacement is None:
            self._prunes.flush()
            message = self.log.append(draft_of(event), place, shown=False)
            self._seqs[event["seq"]] = message.seq
            if message.role == "assistant":
                self.log.revise(message.seq, call=len(self.log.calls), model=message.model or self.model)
            self._header.show(message.seq)
            return
        self._header.open_view()
        shadowed = [self._seqs[seq] for seq in replacement.shadowed]
        block = self._rewritten(event, shadowed)
        if block is not None:
            self._seqs[event["seq"]] = shadowed[0]
            self._prunes.rewrite(event, block, self._meter.price_of(event["seq"]), place)
        else:
            self._prunes.flush()
            self._replace(event, shadowed, size, place)

    def _rewritten(self, event: JsonObject, shadowed: list[int]) -> int | None:
        """The message of the one tool result whose content a tool result replaces; None where it does another thing."""
        if type_of(event) != RESULT or len(shadowed) != 1:
            return None
        blocks, pieces = self.log.messages[shadowed[0] - 1].blocks, draft_of(event).pieces
        is_same = len(blocks) == len(pieces) == 1 and (blocks[0].kind, blocks[0].tool_id) == (pieces[0][0].kind, pieces[0][0].tool_id)
        return shadowed[0] if is_same else None

    def _replace(self, event: JsonObject, shadowed: list[int], size: int | None, place: Place) -> None:
        """A message takes the place of a range: a checkpoint, or what a plugin put there."""
        draft = draft_of(event)
        message = self.log.append(draft, place, shown=False)
        self._seqs[event["seq"]] = message.seq
        is_summary = draft.origin == "summary"
        edit = Edit(verb="summarise" if is_summary else "replace", takes=self.log.blocks_of(shadowed), puts=(message.seq,))
        told = self._transactions.told(source_of(data_of(event)).get("compactionId"), place)
        compaction = Compaction(
            mechanism="summary" if is_summary else "checkpoint_replace",
            line=told.place.line,
            edits=(edit,),
            trigger=told.trigger,
            tokens_before=size if self._meter.measure().kind == "usage" else None,
            native_id=told.id,
            at=told.place.at,
            flags=told.flags,
        )
        gone = set(shadowed)
        first = self.log.view.index(shadowed[0])
        view = [*self.log.view[:first], message.seq, *self.log.view[first:]]
        self._awaiting.append(self.log.edit(compaction, view=[seq for seq in view if seq not in gone]))

    def _inherit(self, seed_length: int) -> None:
        """Mark what the seed brought: the messages of its events, their calls, and the compactions up to its last line."""
        copied = [self.log.messages[message - 1] for seq, message in self._seqs.items() if seq < seed_length]
        for message in copied:
            self.log.revise(message.seq, inherited=True)
        seqs = {message.seq for message in copied}
        self.log.calls = [replace(call, inherited=True) if call.seq in seqs else call for call in self.log.calls]
        last = max((message.line for message in copied), default=0)
        for index, compaction in enumerate(self.log.compactions):
            if compaction.line <= last:
                self.log.recast(index, flags=(*compaction.flags, "inherited"))
