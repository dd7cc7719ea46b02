"""The publishing stage: the rows of one lane under a new, still unseen revision, in committed batches.

The rows come in a fixed order, section by section, and each batch commits together with the place it reached. A run that
goes on after another makes the same rows again from the same records, and passes over those that are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from django.db import connection

from compaction.analysis.estimates import Estimator
from compaction.messages import Block as LaneBlock
from compaction.messages import Message as LaneMessage
from compaction.transcript import Lane
from ctxweb.jobs import JobRun
from ctxweb.lane_rows import stored_map
from ctxweb.models import Block, Compaction, Finding, History, LedgerEntry, Message, ModelCall, Revision, Source, Span
from ctxweb.services.importing import rows
from ctxweb.services.importing.bodies import bodies_store, bodies_stored
from ctxweb.services.importing.figures import figures_of
from ctxweb.services.importing.lane_history import LaneHistory, lane_fold
from ctxweb.services.importing.lanes import history_id_of
from ctxweb.services.importing.tables import batches, rows_insert

BATCH_BLOCKS = 500
CURSOR = {"section": "revision", "items": 0}
_Item = TypeVar("_Item")
_BEHIND = 2**62  # more than any section holds
_SECTIONS = ("revision", "messages", "calls", "compactions", "ledger", "spans", "lives", "findings", "end")


@dataclass(slots=True)
class Publication:
    """Writes the rows of one lane. `cursor` is the job's: it holds the section and the number of its items written."""

    run: JobRun
    cursor: dict[str, Any]
    written: int = 0

    def section(self, name: str, items: Iterable[_Item], store: Callable[[list[_Item]], None]) -> None:
        """Store the items of a section in batches, without those that an earlier run stored."""
        at = self.skipped(name)
        for batch in () if at == _BEHIND else batches(islice(items, at, None)):
            at += len(batch)
            self.commit(name, at, partial(store, batch), len(batch))
        self.leave(name)

    def skipped(self, name: str) -> int:
        """How many items of a section are written already."""
        here, there = _SECTIONS.index(name), _SECTIONS.index(self.cursor["section"])
        if here < there:
            return _BEHIND
        return int(self.cursor["items"]) if here == there else 0

    def is_due(self, name: str) -> bool:
        """Whether a section of one item is still to be written."""
        return self.skipped(name) == 0

    def commit(self, name: str, items: int, store: Callable[[], None], rows_written: int) -> None:
        self.written += rows_written
        self.cursor |= {"section": name, "items": items}
        with self.run.commit(stage="publishing", unit="rows", done=self.written, total=None, cursor=self.cursor):
            store()

    def leave(self, name: str) -> None:
        """Go on to the next section; committed with its first batch."""
        following = _SECTIONS[_SECTIONS.index(name) + 1]
        if _SECTIONS.index(self.cursor["section"]) < _SECTIONS.index(following):
            self.cursor |= {"section": following, "items": 0}


def lane_publish(
    *,
    run: JobRun,
    cursor: dict[str, Any],
    source: Source,
    lane: Lane,
    facts: Mapping[str, Any],
    records: list[list[int]],
    verdicts: dict[str, int],
    tokens: Mapping[bytes, int],
) -> None:
    """Write a lane under the revision that `cursor` names, or a new one. Nothing of it can be seen yet.

    Before the first run `cursor` is `CURSOR`; after the last one `cursor["revision"]` is complete, its figures too.
    """
    publication = Publication(run=run, cursor=cursor)
    if publication.is_due("revision"):
        _open(publication, source, facts, records)
    publication.leave("revision")
    revision_id, history_id = int(cursor["revision"]), int(cursor["history"])
    messages = _MessageWriter(publication=publication, revision_id=revision_id, encoding=facts["encoding"])
    told = lane_fold(lane=lane, facts=facts, tokens=tokens, on_message=messages.take)
    messages.flush()
    publication.leave("messages")
    _write_calls(publication, revision_id, told)
    _write_history(publication, history_id, told, tokens)
    _write_lives(publication, revision_id, told)
    findings = (rows.finding_row(revision_id, ordinal, finding) for ordinal, finding in enumerate(told.findings, start=1))
    publication.section("findings", findings, partial(rows_insert, Finding, rows.FINDING_COLUMNS))
    del told  # the picture and the sums are taken from the rows
    if publication.is_due("end"):
        _finish(publication, revision_id, history_id, verdicts)


def _open(publication: Publication, source: Source, facts: Mapping[str, Any], records: list[list[int]]) -> None:
    def store() -> None:
        revision = Revision.objects.create(source=source, facts=dict(facts), records=records)
        history = History.objects.create(revision=revision, public_id=history_id_of(facts["public_id"]), origin="recorded")
        publication.cursor |= {"revision": revision.pk, "history": history.pk}

    publication.commit("revision", 1, store, 2)


@dataclass(slots=True)
class _MessageWriter:
    """Takes the messages as the fold meets them, so that their texts and blocks need not be held."""

    publication: Publication
    revision_id: int
    encoding: str
    _waiting: list[tuple[LaneMessage, list[int]]] = field(default_factory=list)
    _open_uses: dict[str, LaneBlock] = field(default_factory=dict)
    _blocks: int = 0
    _seen: int = 0

    def take(self, message: LaneMessage, estimator: Estimator) -> None:
        self._seen += 1
        message = replace(message, blocks=tuple(self._named(block) for block in message.blocks))
        if self._seen <= self.publication.skipped("messages"):
            return
        self._waiting.append((message, [estimator.whole(message, block) for block in message.blocks]))
        self._blocks += len(message.blocks)
        if self._blocks >= BATCH_BLOCKS:
            self.flush()

    def _named(self, block: LaneBlock) -> LaneBlock:
        """A tool result with the tool and the file of its use: people look for it by them."""
        if block.kind == "tool_use" and block.tool_id:
            self._open_uses[block.tool_id] = block
        use = self._open_uses.pop(block.tool_id or "", None) if block.kind == "tool_result" else None
        return block if use is None else replace(block, tool_name=block.tool_name or use.tool_name, path=block.path or use.path)

    def flush(self) -> None:
        if self._waiting:
            self.publication.commit("messages", self._seen, self._store, len(self._waiting) + self._blocks)
        self._waiting, self._blocks = [], 0

    def _store(self) -> None:
        blocks = [block for message, _ in self._waiting for block in message.blocks]
        estimates = [estimate for _, of_message in self._waiting for estimate in of_message]
        bodies_store(bodies=[block.body for block in blocks])
        stored = bodies_stored(digests=[block.body.digest for block in blocks], encoding=self.encoding)
        rows_insert(Message, rows.MESSAGE_COLUMNS, [rows.message_row(self.revision_id, message) for message, _ in self._waiting])
        block_rows = [
            rows.block_row(self.revision_id, block, stored[block.body.digest], estimate)
            for block, estimate in zip(blocks, estimates, strict=True)
        ]
        rows_insert(Block, rows.BLOCK_COLUMNS, block_rows)


def _write_calls(publication: Publication, revision_id: int, told: LaneHistory) -> None:
    calls = (
        rows.call_row(revision_id, call, size, unexplained=told.unexplained.get(call.n), anchor=told.anchors.get(call.n))
        for call, size in zip(told.history.calls, told.history.sizes, strict=True)
    )
    publication.section("calls", calls, partial(rows_insert, ModelCall, rows.CALL_COLUMNS))


def _write_history(publication: Publication, history_id: int, told: LaneHistory, tokens: Mapping[bytes, int]) -> None:
    history = told.history
    compactions = (rows.compaction_row(history_id, folded, told.beside(folded)) for folded in history.compactions)
    publication.section("compactions", compactions, partial(rows_insert, Compaction, rows.COMPACTION_COLUMNS))
    keys = dict(Compaction.objects.filter(history_id=history_id).values_list("ordinal", "pk"))
    parents = {folded.ordinal: (keys[folded.ordinal], rows.layer_of(folded)) for folded in history.compactions}
    entries = (
        rows.entry_row(history_id, ordinal, entry, parents[entry.compaction]) for ordinal, entry in enumerate(history.ledger, start=1)
    )
    publication.section("ledger", entries, partial(rows_insert, LedgerEntry, rows.ENTRY_COLUMNS))
    spans = (rows.span_row(history_id, span, tokens) for span in history.spans)
    publication.section("spans", spans, partial(rows_insert, Span, rows.SPAN_COLUMNS))


def _write_lives(publication: Publication, revision_id: int, told: LaneHistory) -> None:
    """Blocks were written before their fate was known."""
    lives = (rows.life_row(revision_id, block, life) for block, life in told.history.lives())
    publication.section("lives", lives, _update_lives)


def _update_lives(batch: list[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            'UPDATE ctxweb_block SET first_call = %s, last_call = %s, "end" = %s WHERE revision_id = %s AND seq = %s AND i = %s', batch
        )


def _finish(publication: Publication, revision_id: int, history_id: int, verdicts: dict[str, int]) -> None:
    stored = stored_map(history=History.objects.get(pk=history_id))
    figures = {
        **figures_of(revision=Revision.objects.get(pk=revision_id)),
        "record_count": sum(verdicts.values()),
        "verdicts": verdicts,
        "spark": stored.spark,
    }

    def store() -> None:
        History.objects.filter(pk=history_id).update(bins=stored.bins)
        Revision.objects.filter(pk=revision_id).update(figures=figures)

    publication.commit("end", 1, store, 2)
