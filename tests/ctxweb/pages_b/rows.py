"""Rows of a session as an import leaves them, small or large, without an import.

Each turn is a user text, then calls that each use a tool: thinking, text and tool use, followed by the tool's result.
Before call `turn` × CALLS + 1 of every third turn a summary takes what is visible; before the others that end a
turn, the oldest visible result is cleared. Estimates are 100 tokens a block, 10 for a cleared one.
"""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass, field

from compaction.messages import BLOCK_KINDS
from ctxweb.models import (
    Block,
    Body,
    Compaction,
    Finding,
    History,
    LedgerEntry,
    Message,
    ModelCall,
    Record,
    Revision,
    Session,
    Source,
    Span,
)

CALLS = 5
HIDDEN = 40_000
REATTACHED = 8_000
START = datetime.datetime(2026, 11, 2, 9, 0, tzinfo=datetime.UTC)
CLEARED = "[Old tool result content cleared]"


def digest_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


@dataclass
class Visible:
    seq: int
    i: int
    kind: str
    state: str
    since: int
    position: float
    estimate: int
    body: bytes


@dataclass
class Writer:
    """Collects rows; `finish` stores them all."""

    text: str = "line of text"
    messages: list[Message] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    bodies: dict[bytes, Body] = field(default_factory=dict)
    calls: list[ModelCall] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)
    visible: list[Visible] = field(default_factory=list)
    position: float = 0.0
    hidden: int = HIDDEN

    def body(self, text: str) -> bytes:
        digest = digest_of(text)
        self.bodies.setdefault(digest, Body(digest=digest, text=text, chars=len(text)))
        return digest

    def message(self, role: str, *pieces: tuple[str, str], origin: str = "human", call: int | None = None, **fields: object) -> int:
        """Log a message of (kind, text) pieces and show it; its seq."""
        seq = len(self.messages) + 1
        row = Message(seq=seq, role=role, origin=origin, line=seq, record=seq, call=call, **fields)
        row.at = START + datetime.timedelta(seconds=seq)
        self.messages.append(row)
        for i, (kind, text) in enumerate(pieces, 1):
            digest = self.body(text)
            block = Block(seq=seq, i=i, kind=kind, tokens=len(text) // 4, estimate=100, chars=len(text), excerpt=text.split("\n")[0][:200])
            block.body = self.bodies[digest]
            if kind in ("tool_use", "tool_result"):
                block.tool_id, block.tool_name, block.path = f"toolu_{call}", "Read", f"src/file_{seq % 7}.py"
            self.blocks.append(block)
            if row.visible == "yes":
                self.show(seq, i, kind, digest)
        return seq

    def show(self, seq: int, i: int, kind: str, digest: bytes, estimate: int = 100) -> None:
        self.position += 1
        since = len(self.calls) + 1
        self.visible.append(
            Visible(seq=seq, i=i, kind=kind, state="whole", since=since, position=self.position, estimate=estimate, body=digest)
        )

    def end(self, shown: Visible) -> None:
        to_call = len(self.calls) + 1
        if to_call > shown.since:
            self.span(shown, to_call)

    def span(self, shown: Visible, to_call: int) -> None:
        self.spans.append(
            Span(
                seq=shown.seq,
                i=shown.i,
                state=shown.state,
                from_call=shown.since,
                to_call=to_call,
                position=shown.position,
                estimate=shown.estimate,
                body=shown.body,
            )
        )

    def call(self) -> int:
        n = len(self.calls) + 1
        estimate = sum(shown.estimate for shown in self.visible)
        kinds = [sum(shown.estimate for shown in self.visible if shown.kind == kind) for kind in BLOCK_KINDS]
        anchor = next((c.before_call for c in reversed(self.compactions) if c.mechanism == "summary"), 1)
        self.calls.append(
            ModelCall(
                n=n,
                seq=len(self.messages) + 1,
                line=len(self.messages) + 1,
                previous=n - 1 or None,
                input_tokens=5,
                cache_read_tokens=self.hidden + estimate - 5,
                cache_write_tokens=0,
                output_tokens=50,
                prompt_tokens=self.hidden + estimate,
                estimate=estimate,
                block_count=len(self.visible),
                kinds=kinds,
                unexplained=self.hidden,
                epoch_anchor=anchor,
                model="claude-opus-4-5",
                at=START + datetime.timedelta(seconds=len(self.messages) + 1),
            )
        )
        return n

    def compaction(self, mechanism: str, layer: str, **fields: object) -> Compaction:
        before = sum(shown.estimate for shown in self.visible)
        last = self.calls[-1]
        row = Compaction(
            ordinal=len(self.compactions) + 1,
            index=len(self.compactions) + 1,
            before_call=len(self.calls) + 1,
            line=len(self.messages),
            origin="recorded",
            mechanism=mechanism,
            layer=layer,
            trigger="auto",
            status="ok",
            reported_before=last.prompt_tokens,
            unexplained_before=last.unexplained,
            estimate_before=before,
            entered=before - (last.estimate or 0),
            at=START + datetime.timedelta(seconds=len(self.messages)),
            **fields,
        )
        self.compactions.append(row)
        return row

    def entry(self, row: Compaction, verb: str, shown: Visible, *, after: int = 0, adds: bool = False, **fields: object) -> None:
        entry = LedgerEntry(
            ordinal=len(self.entries) + 1,
            verb=verb,
            layer=row.layer,
            seq=shown.seq,
            i=shown.i,
            adds=adds,
            tokens_before=0 if adds else shown.estimate,
            tokens_after=shown.estimate if adds else after,
            state_before="" if adds else shown.state,
            state_after="whole" if adds else "",
            never_sent=not adds and shown.since > len(self.calls),
        )
        entry.compaction = row
        for name, value in fields.items():
            setattr(entry, name, value)
        self.entries.append(entry)

    def close(self, row: Compaction, *, removed: int, added: int) -> None:
        row.removed, row.added, row.estimate_after = removed, added, row.estimate_before - removed + added
        own = [entry for entry in self.entries if entry.compaction is row and not entry.adds]
        row.edits, row.never_sent = len(own), sum(entry.never_sent for entry in own)
        row.reported_after, row.unexplained_after = self.hidden + row.estimate_after, self.hidden

    def summarise(self) -> None:
        row = self.compaction("summary", "summary", tokens_before=150_000)
        gone, self.visible = self.visible, []
        for shown in gone:
            self.end(shown)
            self.entry(row, "summarise", shown)
        self.message("user", ("compaction", f"Summary {row.ordinal}: {self.text}"), origin="summary")
        self.entry(row, "summarise", self.visible[0], adds=True)
        self.hidden += REATTACHED
        self.close(row, removed=sum(shown.estimate for shown in gone), added=100)

    def clear_oldest(self) -> None:
        shown = next((v for v in self.visible if v.kind == "tool_result" and v.state == "whole"), None)
        if shown is None:
            return
        row = self.compaction("clear_tool_result", "microcompact")
        self.end(shown)
        digest = self.body(CLEARED)
        self.entry(row, "clear", shown, after=10, state_after="cleared", body_after=digest)
        shown.state, shown.estimate, shown.body, shown.since = "cleared", 10, digest, len(self.calls) + 1
        self.close(row, removed=90, added=0)

    def turn(self, number: int) -> None:
        self.message("user", ("text", f"Question {number}: {self.text}"))
        for step in range(CALLS):
            n = self.call()
            self.message(
                "assistant",
                ("thinking", f"Thought {n}: {self.text}"),
                ("tool_use", f'{{"file_path": "src/{n}.py", "text": "{self.text}"}}'),
                origin="model",
                call=n,
                records=2,
            )
            self.message("user", ("tool_result", f"Result {n}: {self.text}\nsecond line\n{step}"), origin="tool", call=n)


def make_session(*, turns: int, name: str = "s", text: str = "line of text") -> Session:
    """A published session of `turns` turns; see the module's first words for its shape."""
    writer = Writer(text=text)
    for number in range(1, turns + 1):
        writer.turn(number)
        if number == turns:
            break
        if number % 3 == 0:
            writer.summarise()
        else:
            writer.clear_oldest()
    writer.message("user", ("text", f"Attached: {text}"), origin="harness", label="attachment", visible="unknown")
    return _store(writer, name)


def _store(writer: Writer, name: str) -> Session:
    for shown in writer.visible:
        writer.span(shown, Span.STILL_VISIBLE)
    known = {bytes(body.digest): body for body in Body.objects.filter(digest__in=list(writer.bodies))}
    Body.objects.bulk_create([body for digest, body in writer.bodies.items() if digest not in known])
    stored = {bytes(body.digest): body for body in Body.objects.all()}
    count = len(writer.messages)
    source = Source.objects.create(
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        size=count * 100,
        name=f"{name}.jsonl",
        format="claude_code",
        state="ready",
        record_count=count,
        verdicts={"ok": count},
    )
    session = Session.objects.create(
        public_id=f"session0000{name}0000",
        native_id=f"native-{name}",
        format="claude_code",
        lane="main",
        title=f"Session {name}: {writer.text}"[:200],
        model="claude-opus-4-5",
        encoding="o200k_base",
        context_window=200_000,
        record_count=count,
        verdicts={"ok": count},
        message_count=count,
        messages_logged=count,
        block_count=len(writer.blocks),
        call_count=len(writer.calls),
        removed_blocks=sum(not entry.adds and not entry.state_after for entry in writer.entries),
        recorded_compactions=len(writer.compactions),
        input_tokens=5,
        cache_read_tokens=100,
        cache_write_tokens=0,
    )
    revision = Revision.objects.create(session=session, source=source, state="ready")
    Session.objects.filter(pk=session.pk).update(current=revision)
    _store_rows(writer, source, revision, stored)
    session.refresh_from_db()
    return session


def _store_rows(writer: Writer, source: Source, revision: Revision, stored: dict[bytes, Body]) -> None:
    history_id = f"session0000{source.name.removesuffix('.jsonl')}0000r"
    history = History.objects.create(public_id=history_id, revision=revision, origin="recorded")
    for message in writer.messages:
        message.revision = revision
    for call in writer.calls:
        call.revision = revision
    spans: dict[tuple[int, int], list[Span]] = {}
    for span in writer.spans:
        spans.setdefault((span.seq, span.i), []).append(span)
    for block in writer.blocks:
        block.revision = revision
        block.body = stored[bytes(block.body.digest)]
        lives = spans.get((block.seq, block.i), [])
        if lives:
            block.first_call, last = lives[0].from_call, lives[-1].to_call
            block.last_call = None if last == Span.STILL_VISIBLE else last - 1
            block.end = "visible" if last == Span.STILL_VISIBLE else "summarise"
    Message.objects.bulk_create(writer.messages)
    Block.objects.bulk_create(writer.blocks)
    ModelCall.objects.bulk_create(writer.calls)
    for row in writer.spans:
        row.history = history
    for compaction in writer.compactions:
        compaction.history = history
    Span.objects.bulk_create(writer.spans)
    Compaction.objects.bulk_create(writer.compactions)
    for entry in writer.entries:
        entry.history, entry.compaction_id = history, entry.compaction.pk
    LedgerEntry.objects.bulk_create(writer.entries)
    Record.objects.bulk_create(
        Record(
            source=source,
            number=message.record,
            line=message.line,
            offset=(message.record - 1) * 100,
            length=100,
            digest=b"\0" * 32,
            verdict="ok",
            type=message.role,
        )
        for message in writer.messages
    )
    Finding.objects.create(revision=revision, ordinal=1, code="orphan_tool_result", line=3, seq=3, detail="toolu_1")
