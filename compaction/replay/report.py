"""One report of a replay from start to end: pressure before and after each firing, what the model sees at the end, where the
originals of all that left are, and a fingerprint by which a second replay, from the raw records, can prove to be the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from compaction.messages import BlockId, BlockState
from compaction.pipeline import Moment
from compaction.replay.firing import Firing, Replay
from compaction.transcript import Finding

NAMED_ORIGINALS = 50  # in the written report; the value holds all


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringReport:
    """One firing. Pressure is the share of the window that the hidden part and the exact view take, None without a window."""

    call: int
    moment: Moment
    layers: tuple[str, ...]
    own_before: int
    own_after: int
    tokens_before: int
    tokens_after: int
    pressure_before: float | None
    pressure_after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A message of the last view: who says it, its blocks with their states, its exact tokens."""

    role: str
    blocks: tuple[tuple[BlockId, str, BlockState], ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """Where the text of a block that was taken or shortened can be read again. `digest`: the first 16 bytes of its SHA-256."""

    block: BlockId
    pointer: str
    digest: bytes
    chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """`last_call` saw `view`. Two replays with one `fingerprint` made the same edits with the same sizes."""

    session: str
    policy: str
    unit: str
    window: int | None
    hidden: int
    firings: tuple[FiringReport, ...]
    last_call: int
    view: tuple[Seen, ...]
    originals: tuple[Original, ...]
    findings: tuple[Finding, ...]
    fingerprint: str


def report_of(replay: Replay) -> ReplayReport:
    """The report of a replay."""
    session = replay.session
    last_call = session.active[-1] if session.active else 0
    view = replay.view_at(last_call)
    return ReplayReport(
        session=session.facts.public_id,
        policy=replay.policy.id,
        unit=replay.policy.unit,
        window=replay.window,
        hidden=session.hidden,
        firings=tuple(_firing(replay, firing) for firing in replay.firings),
        last_call=last_call,
        view=tuple(
            Seen(
                role=message.role, blocks=tuple((one.block.id, one.block.kind, one.state) for one in message.blocks), tokens=message.tokens
            )
            for message in view.messages
        ),
        originals=tuple(_originals(replay)),
        findings=replay.findings,
        fingerprint=fingerprint(replay),
    )


def fingerprint(replay: Replay) -> str:
    """SHA-256 over every firing: its call, its sizes in both units, each edit with its layer and the digests of what it puts."""
    seen = hashlib.sha256()
    for firing in replay.firings:
        compacted = firing.compacted
        sizes = (compacted.own_before, compacted.own_after, compacted.tokens_before, compacted.tokens_after)
        seen.update(repr((firing.call, firing.moment, compacted.status, sizes)).encode())
        for edit in compacted.edits:
            body = None if edit.body is None else edit.body.digest
            seen.update(repr((edit.layer, edit.verb, edit.block, edit.state, body, edit.takes, edit.puts, edit.after)).encode())
        for message in compacted.added:
            seen.update(repr((message.seq, message.role, [block.body.digest for block in message.blocks])).encode())
    return seen.hexdigest()


def written(report: ReplayReport, *, again: str | None = None) -> Iterator[str]:
    """The report as lines of text. `again`: the fingerprint of a second replay, made from the raw records. No transcript text."""
    yield f"{report.policy} over session {report.session}: {len(report.firings)} firings, counted in {report.unit}"
    yield f"window {_number(report.window)}, hidden part of the prompt {report.hidden:,} tokens"
    for one in report.firings:
        layers = ", ".join(one.layers) or "nothing changed"
        exact = f"≈ {one.tokens_before:,} → {one.tokens_after:,} exact"
        pressure = f"pressure {_share(one.pressure_before)} → {_share(one.pressure_after)}"
        yield f"call {one.call} ({one.moment}): {one.own_before:,} → {one.own_after:,}, {exact}, {pressure}: {layers}"
    yield f"call {report.last_call} sees {len(report.view)} messages:"
    for seen in report.view:
        blocks = " ".join(f"{block} {kind}{'' if state == 'whole' else f' ({state})'}" for block, kind, state in seen.blocks)
        yield f"  {seen.role}: {blocks}, {seen.tokens:,} exact tokens"
    yield f"{len(report.originals)} blocks left or were shortened; their originals:"
    for original in report.originals[:NAMED_ORIGINALS]:
        yield f"  {original.block} {original.pointer} ({original.chars:,} characters, sha256 {original.digest.hex()}…)"
    if len(report.originals) > NAMED_ORIGINALS:
        yield f"  and {len(report.originals) - NAMED_ORIGINALS} more"
    for finding in report.findings:
        yield f"{finding.code}: {finding.detail}"
    yield f"fingerprint {report.fingerprint}"
    if again is not None:
        yield (
            "replayed from the raw records: the same" if again == report.fingerprint else f"replayed from the raw records: {again}, another"
        )


def _firing(replay: Replay, firing: Firing) -> FiringReport:
    compacted = firing.compacted
    return FiringReport(
        call=firing.call,
        moment=firing.moment,
        layers=tuple(dict.fromkeys(edit.layer or "" for edit in compacted.edits)),
        own_before=compacted.own_before,
        own_after=compacted.own_after,
        tokens_before=compacted.tokens_before,
        tokens_after=compacted.tokens_after,
        pressure_before=_pressure(replay, compacted.tokens_before),
        pressure_after=_pressure(replay, compacted.tokens_after),
    )


def _pressure(replay: Replay, tokens: int) -> float | None:
    return None if not replay.window else (replay.session.hidden + tokens) / replay.window


def _originals(replay: Replay) -> Iterator[Original]:
    """Logged blocks that an edit took or shortened, each once, in the order of the log: the line that tells of them."""
    session = replay.session
    edits = [edit for firing in replay.firings for edit in firing.compacted.edits]
    touched = {block for edit in edits for block in (*edit.takes, *([] if edit.block is None else [edit.block]))}
    for row in session.blocks:
        if BlockId(row.seq, row.i) in touched:
            pointer = f"transcript:{session.facts.public_id}:{session.messages[row.seq - 1].line}"
            yield Original(block=BlockId(row.seq, row.i), pointer=pointer, digest=row.digest, chars=row.chars)


def _number(figure: int | None) -> str:
    return "not known" if figure is None else f"{figure:,}"


def _share(pressure: float | None) -> str:
    return "not known" if pressure is None else f"{pressure:.1%}"
