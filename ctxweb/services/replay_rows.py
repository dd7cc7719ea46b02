"""The rows of a replayed history, in the tables of the recorded ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.edits import LedgerEntry as Entry
from compaction.history import FoldedCompaction
from compaction.messages import BlockId
from compaction.policy_json import policy_to_data
from compaction.replay.firing import Firing
from compaction.transcript import Edit
from compaction.view import Plan
from ctxweb.lane_rows import stored_map
from ctxweb.layer_runs import LayerRun, runs_to_json
from ctxweb.models import AddedBlock, Compaction, History, LedgerEntry, Revision, Session, Span, TokenCount
from ctxweb.replays.artifacts import pointer_of
from ctxweb.replays.run import ReplayRun, layer_runs
from ctxweb.services.importing import rows
from ctxweb.services.importing.bodies import bodies_store, bodies_stored
from ctxweb.services.importing.tables import batches, rows_insert

_ADDED = (
    "history_id", "seq", "i", "role", "origin", "kind", "body_id", "tokens", "estimate", "chars", "tool_id", "tool_name", "path", "excerpt",
)  # fmt: skip
_NOTHING = dict.fromkeys(("reported_before", "reported_after", "unexplained_before", "unexplained_after")) | {"entered": 0, "evidence": {}}


def history_store(*, session: Session, revision: Revision, public_id: str, run: ReplayRun) -> History:
    """Write everything of a replay; within the caller's transaction."""
    history = History.objects.create(
        public_id=public_id,
        revision=revision,
        origin="replayed",
        policy=run.policy.id,
        policy_data=policy_to_data(run.asked.base),
        settings=run.asked.settings(),
        unit=run.unit.id,
    )
    _store_bodies(session, run)
    _store_added(session, history, run)
    _store_ledger(history, run)
    _store_spans(history, run)
    history.report = _report(history, run)
    history.bins = stored_map(history=history).bins
    history.save(update_fields=["report", "bins"])
    return history


def _store_bodies(session: Session, run: ReplayRun) -> None:
    """The texts that layers wrote, counted under the session's encoding."""
    pricer = run.replay.rendered.pricer
    written = {body.digest: body for body in run.replay.bodies()}
    for some in batches(written.values()):
        bodies_store(bodies=some)
        stored = bodies_stored(digests=[body.digest for body in some], encoding=session.encoding)
        counts = [(stored[body.digest].id, session.encoding, pricer.tokens(body), True) for body in some if body.digest in stored]
        rows_insert(TokenCount, ("body_id", "encoding", "tokens", "exact"), counts, skip_known=True)


def _store_added(session: Session, history: History, run: ReplayRun) -> None:
    messages = [message for firing in run.replay.firings for message in firing.compacted.added]
    pricer = run.replay.rendered.pricer
    for some in batches(messages):
        stored = bodies_stored(digests=[block.body.digest for message in some for block in message.blocks], encoding=session.encoding)
        values = [
            (
                history.pk, message.seq, block.id.i, message.role, message.origin, block.kind, stored[block.body.digest].id,
                pricer.tokens(block.body), run.estimator.whole(message, block), block.body.chars, rows.text_of(block.tool_id),
                rows.text_of(block.tool_name), rows.text_of(block.path), stored[block.body.digest].excerpt,
            )
            for message in some
            for block in message.blocks
        ]  # fmt: skip
        rows_insert(AddedBlock, _ADDED, values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """One firing with what the fold made of it, its layers, its ledger lines in both, and the pointers that its edits left."""

    firing: Firing
    folded: FoldedCompaction
    runs: tuple[LayerRun, ...]
    estimated: Sequence[Entry]
    measured: Sequence[Entry]
    pointers: Mapping[BlockId, str]


def _store_ledger(history: History, run: ReplayRun) -> None:
    told = list(_told(run))
    values = [_compaction_row(history, ordinal, each) for ordinal, each in enumerate(told, start=1)]
    for some in batches(values):
        rows_insert(Compaction, rows.COMPACTION_COLUMNS, some)
    keys = dict(Compaction.objects.filter(history=history).values_list("ordinal", "pk"))
    for entries in batches(_entry_rows(history, told, keys)):
        rows_insert(LedgerEntry, rows.ENTRY_COLUMNS, entries)


def _told(run: ReplayRun) -> Iterator[_Told]:
    entries: dict[int, list[Entry]] = {}
    for entry in run.history.ledger:
        entries.setdefault(entry.compaction, []).append(entry)
    for firing, folded in run.firings:
        edits = firing.compacted.edits
        yield _Told(
            firing=firing,
            folded=folded,
            runs=layer_runs(policy=run.policy, firing=firing),
            estimated=entries.get(folded.ordinal, ()),
            measured=measured_entries(firing),
            pointers={edit.block: pointer for edit in edits if edit.block is not None and (pointer := pointer_of(edit))},
        )


def measured_entries(firing: Firing) -> tuple[Entry, ...]:
    """The ledger lines of a firing in the policy's own unit and in exact tokens, in the order of its edits."""
    view, lines = firing.before, list[Entry]()
    added = {message.seq: message for message in firing.compacted.added}
    for layer, edits in _in_batches(firing.compacted.edits):
        puts = tuple(added[seq] for edit in edits for seq in edit.puts if seq in added)
        applied = view.apply(Plan(edits=edits, added=tuple(sorted(puts, key=lambda message: message.seq))), layer=layer)
        lines.extend(applied.entries)
        view = applied.view
    return tuple(lines)


def _in_batches(edits: Iterable[Edit]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """The edits by layer. A layer that asked again for a summary planned a further batch, which takes what the first one put."""
    batch: list[Edit] = []
    touched: set[BlockId] = set()
    put: set[int] = set()
    for edit in edits:
        targets = {*edit.takes, *((edit.block,) if edit.block is not None else ())}
        if batch and (edit.layer != batch[0].layer or targets & touched or any(block.seq in put for block in targets)):
            yield batch[0].layer or "", tuple(batch)
            batch, touched, put = [], set(), set()
        batch.append(edit)
        touched |= targets
        put |= set(edit.puts)
    if batch:
        yield batch[0].layer or "", tuple(batch)


def _compaction_row(history: History, ordinal: int, told: _Told) -> tuple[Any, ...]:
    compacted = told.firing.compacted
    sizes = (compacted.own_before, compacted.own_after, compacted.tokens_before, compacted.tokens_after)
    row = rows.compaction_row(history.pk, told.folded, _NOTHING, sizes=sizes, reports=runs_to_json(told.runs))
    place = rows.COMPACTION_COLUMNS.index("ordinal")
    return (*row[:place], ordinal, ordinal, *row[place + 2 :])  # its own numbers: the fold counts what it left out, too


def _entry_rows(history: History, told: Iterable[_Told], keys: Mapping[int, int]) -> Iterator[tuple[Any, ...]]:
    ordinal = 0
    for compaction, each in enumerate(told, start=1):
        for estimated, measured in zip(each.estimated, each.measured, strict=True):
            ordinal += 1
            sizes = (measured.own_before, measured.own_after, measured.tokens_before, measured.tokens_after)
            pointer = "" if estimated.adds or not estimated.state_after else each.pointers.get(estimated.block, "")
            parent = (keys[compaction], measured.layer or "")
            yield rows.entry_row(history.pk, ordinal, estimated, parent, sizes=sizes, pointer=pointer)


def _store_spans(history: History, run: ReplayRun) -> None:
    for some in batches(rows.span_row(history.pk, span, run.counts) for span in run.history.spans):
        rows_insert(Span, rows.SPAN_COLUMNS, some)


def _report(history: History, run: ReplayRun) -> dict[str, Any]:
    taken = LedgerEntry.objects.filter(history=history, adds=False, state_after="")
    return {
        "title": run.policy.title,
        "compactions": len(run.replay.firings),
        "removed_blocks": taken.values("seq", "i").distinct().count(),
        "findings": [{"code": each.code, "detail": each.detail, "line": each.line, "seq": each.seq} for each in run.findings],
    }
