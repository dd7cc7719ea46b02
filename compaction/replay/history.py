"""A replay as a history: the same fold as for what a source recorded, with the planned edits in the place of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from compaction.edits import remove
from compaction.history import History, fold
from compaction.live import Sizes
from compaction.messages import BlockId, Message
from compaction.pipeline import Moment
from compaction.replay.arrivals import Arrival
from compaction.replay.firing import Firing, Replay
from compaction.replay.rendered import block_of
from compaction.replay.replayable import Replayable
from compaction.replay.rows import BlockRow, CallRow, MessageRow
from compaction.transcript import Appended, Called, Compaction, Edited, Event, Mechanism, ModelCall, Noted, Shown, Status, Trigger, Usage

STATUSES: dict[str, Status] = {"ok": "ok", "noop": "noop", "failed": "failed", "limit": "failed"}
TRIGGERS: dict[Moment, Trigger] = {"overflow": "overflow", "asked": "manual"}
LEFT_OUT = "not_in_transcript"
"""Flag of the edit that takes what a recorded compaction had put into a message, before any call of the replay sees it."""


def history_of(replay: Replay, sizes: Sizes) -> History:
    """Spans, ledger, sizes and findings of the replay. `sizes` price its blocks in the estimates of the recorded history.

    One compaction for each firing. Its messages get seqs after the last logged one. Bodies are those of `replay.bodies()`.
    """
    return fold(events_of(replay), sizes)


def events_of(replay: Replay) -> Iterator[Event]:
    """All logged messages first; then call by call what arrived, what fired, and the call."""
    session = replay.session
    yield from (Appended(message=message) for message in logged(session))
    firings = {call: tuple(group) for call, group in groupby(replay.firings, key=lambda firing: firing.call)}
    arrivals = iter(session.arrivals)
    waiting = next(arrivals, None)
    for call in session.calls:
        while waiting is not None and waiting.call == call.n:
            yield from _shown(session, waiting)
            waiting = next(arrivals, None)
        for firing in firings.get(call.n, ()):
            yield from (Appended(message=message) for message in firing.compacted.added)
            yield Edited(compaction=_compaction(replay, firing))
        yield Called(call=_model_call(call))
    yield from (Noted(finding=finding) for finding in replay.findings)


def logged(session: Replayable) -> Iterator[Message]:
    """The logged messages, without texts, each block as the first call saw it."""
    blocks = iter(session.blocks)
    row = next(blocks, None)
    for message in session.messages:
        held: list[BlockRow] = []
        while row is not None and row.seq == message.seq:
            held.append(row)
            row = next(blocks, None)
        yield _message(message, held)


def _message(row: MessageRow, blocks: list[BlockRow]) -> Message:
    return Message(
        seq=row.seq,
        role=row.role,
        origin=row.origin,
        blocks=tuple([block_of(block, block.path) for block in blocks]),
        line=row.line,
        record=row.seq,
        call=row.call,
        label=row.label or None,
        abandoned=row.abandoned,
    )


def _shown(session: Replayable, arrival: Arrival) -> Iterator[Event]:
    yield Shown(seqs=arrival.seqs)
    here = {(row.seq, row.i) for row in arrival.blocks}
    left_out = [BlockId(row.seq, row.i) for seq in arrival.seqs for row in session.blocks_of(seq) if (row.seq, row.i) not in here]
    if left_out:
        edits = (remove(left_out),)
        line = session.messages[arrival.seqs[0] - 1].line
        yield Edited(compaction=Compaction(mechanism="truncate_output", line=line, edits=edits, origin="replayed", flags=(LEFT_OUT,)))


def _compaction(replay: Replay, firing: Firing) -> Compaction:
    compacted = firing.compacted
    layers = [report.layer for report in compacted.reports if report.edits]
    return Compaction(
        mechanism=_mechanism(replay, layers),
        line=replay.session.calls[firing.call - 1].line,
        edits=compacted.edits,
        origin="replayed",
        trigger=TRIGGERS.get(firing.moment, "auto"),
        status=STATUSES[compacted.status],
        tokens_before=compacted.tokens_before,
        tokens_after=compacted.tokens_after,
        scale="messages",
        layer=layers[-1] if layers else None,
    )


def _mechanism(replay: Replay, layers: list[str]) -> Mechanism:
    """That of the last layer that did something: the later, the more it takes."""
    known = {stage.layer.id: stage.layer.mechanism for stage in replay.policy.stages}
    return known[layers[-1]] if layers else "unknown"


def _model_call(row: CallRow) -> ModelCall:
    return ModelCall(n=row.n, seq=row.seq, line=row.line, usage=Usage(input_tokens=row.prompt_tokens), abandoned=row.abandoned)
