"""Conversations that are logged as whole prompts: each request gives the list as it was sent, each response an answer.

The list is stored once. Where the next one goes on, its new messages are shown; where it differs, the difference is an edit. An
answer waits until a request shows what was kept of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compaction.messages import BlockId, Message
from compaction.transcript import Compaction, CompactionOrigin, Edit, Fidelity, Lane, Mechanism, ModelCall, Usage
from ctxweb.importers.lane_log import Draft, LaneLog, Place
from ctxweb.importers.resets import reset_view

FAILED_COMPACTION = "compaction_failed"
"""Flag of a message that holds the block of a compaction that failed."""

NOT_REPORTED = Usage()

VERB_MECHANISMS: dict[str, Mechanism] = {"clear": "clear_tool_result", "truncate": "truncate_output", "spill": "spill"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its response, either of which may not be logged.

    `prompt`: the whole list that was sent, or with `continues` what was added to the conversation of that response; None:
    not logged. `answer`: None for a request without one. `compacted`: the answer is what a compaction made of the prompt.
    """

    prompt: tuple[Draft, ...] | None = None
    answer: tuple[Draft, ...] | None = None
    usage: Usage = NOT_REPORTED
    native_id: str | None = None
    continues: str | None = None
    session_id: str | None = None
    model: str | None = None
    at: int | None = None
    context_window: int | None = None
    compacted: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Implied:
    """An answer that stands in a list, so a call that no response tells of: `event` is where its prompt was complete."""

    event: int
    seqs: list[int]


class Conversation:
    """One lane. `open` brings the view to a request's prompt, `close` books its answer.

    `cleared` are the blocks that the server took out of prompts, although the client sends them again and again.
    """

    def __init__(self) -> None:
        self.log = LaneLog()
        self.native_id: str | None = None
        self.first_response: str | None = None
        self.model: str | None = None
        self.window: int | None = None
        self.records: list[int] = []
        self.responses: set[str] = set()
        self.cleared: set[BlockId] = set()
        self._waiting: list[int] = []
        self._implied: list[_Implied] = []
        self._awaiting: list[int] = []
        self._follows_answer = False

    def open(self, exchange: Exchange, place: Place) -> None:
        self.native_id = self.native_id or exchange.session_id
        self.model = exchange.model or self.model
        self.window = exchange.context_window or self.window
        self.records.append(place.record)
        if exchange.prompt is None or exchange.continues is not None:
            self._show_waiting()
            self._say(exchange.prompt or (), place)
            return
        fixed = tuple(draft for draft in exchange.prompt if is_fixed(draft))
        rest = tuple(draft for draft in exchange.prompt if not is_fixed(draft))
        visible = {self.log.likeness(seq) for seq in self.log.view}
        marks = [index for index, draft in enumerate(rest) if is_boundary(draft)]
        known = [index for index in marks if rest[index].likeness in visible]
        start = known[-1] if known else 0
        for mark in marks:
            if mark > start or (mark == start and not known):
                self._become((*fixed, *rest[start:mark]), place)
                self.stand_for_all(rest[mark], place)
                start = mark
        self._become((*fixed, *rest[start:]), place)
        self._waiting.clear()

    def close(self, exchange: Exchange, place: Place, fidelity: Fidelity) -> None:
        """Book the call whose prompt is the view; its answer waits to be shown."""
        if exchange.answer is None:
            return
        if any(FAILED_COMPACTION in draft.flags for draft in exchange.answer):
            self._note_failure(place.line, place.at)
        number = self.log.next_call()
        self.first_response = self.first_response or exchange.native_id
        self.responses.add(exchange.native_id or "")
        self.log.call(
            ModelCall(
                n=number,
                seq=len(self.log.messages) + 1 if exchange.answer else None,
                line=place.line,
                usage=exchange.usage,
                native_id=exchange.native_id,
                model=exchange.model,
                at=exchange.at,
                context_window=exchange.context_window,
                previous=number - 1 or None,
                fidelity=fidelity,
                flags=exchange.flags,
            )
        )
        for index in self._awaiting:
            self.log.recast(index, tokens_after=exchange.usage.prompt_tokens)
        self._awaiting.clear()
        for draft in exchange.answer:
            message = self.log.append(replace(draft, model=exchange.model, at=exchange.at), place, shown=False)
            self.log.revise(message.seq, call=number)
            self._waiting.append(message.seq)

    def compact(self, compaction: Compaction, view: list[int]) -> None:
        """Apply a compaction whose size after it is the prompt of the next call, where the source does not tell it."""
        index = self.log.edit(compaction, view=view)
        if compaction.tokens_after is None:
            self._awaiting.append(index)

    def stand_for_all(self, draft: Draft, place: Place) -> None:
        """A recorded summary takes the place of everything but the fixed messages."""
        message = self.log.append(draft, place, shown=False)
        fixed = [seq for seq in self.log.view if is_fixed(self.log.messages[seq - 1])]
        takes = self.log.blocks_of(seq for seq in self.log.view if seq not in set(fixed))
        edit = Edit(verb="summarise", takes=takes, puts=(message.seq,))
        compaction = Compaction(mechanism="summary", line=message.line, edits=(edit,), at=message.at)
        self.compact(compaction, [*fixed, message.seq])
        self._follows_answer = False

    def replace_all(self, drafts: Sequence[Draft], compaction: Compaction, place: Place) -> None:
        """A recorded compaction whose answer is the next prompt. What it shortened may not be logged."""
        if not self.log.view:
            self._say([draft for draft in drafts if draft.origin != "summary"], place)
        reset = reset_view(self.log, drafts, place)
        self.compact(replace(compaction, edits=reset.edits), list(reset.view))

    def answer_waits(self) -> bool:
        return bool(self._waiting)

    def lane(self, key: str) -> Lane:
        """The lane with its events; the last answers are shown, and answers in lists are calls where no response is logged."""
        self._show_waiting()
        if not self.log.calls:
            self._book_implied()
        return Lane(
            key=key,
            native_id=self.native_id or self.first_response,
            kind="main",
            events=self.log.final_events(),
            model=self.model,
            context_window=self.window,
            record_numbers=tuple(self.records),
        )

    def _say(self, drafts: Sequence[Draft], place: Place) -> None:
        """Messages that are added at the end."""
        for draft in drafts:
            if is_boundary(draft):
                self.stand_for_all(draft, place)
            else:
                self._enter(self.log.append(draft, place, shown=False).seq)

    def _become(self, drafts: Sequence[Draft], place: Place) -> None:
        reset = reset_view(self.log, drafts, place, fresh_tail=True)
        if reset.edits:
            compaction = Compaction(
                mechanism=self._mechanism(reset.edits),
                origin="inferred",
                line=place.line,
                edits=reset.edits,
                tokens_before=self.log.calls[-1].usage.prompt_tokens if self.log.calls else None,
                at=place.at,
            )
            self.compact(compaction, list(reset.view))
        for seq in reset.tail:
            self._enter(seq)

    def _enter(self, seq: int) -> None:
        """Let a message enter at the end: a summary as what a compaction put there, an answer as that of an implied call."""
        message = self.log.messages[seq - 1]
        is_answer = message.role == "assistant" and message.origin == "model"
        if message.origin == "summary":
            self._put_summary(message)
        else:
            if is_answer and self._follows_answer:
                self._implied[-1].seqs.append(seq)
            elif is_answer:
                self._implied.append(_Implied(event=len(self.log.events), seqs=[seq]))
            self.log.show((seq,))
        if FAILED_COMPACTION in message.flags and message.call is None:
            self._note_failure(message.line, message.at)
        self._follows_answer = is_answer

    def _note_failure(self, line: int, at: int | None) -> None:
        """A compaction that failed took nothing."""
        self.log.edit(Compaction(mechanism="summary", line=line, status="failed", at=at))

    def _put_summary(self, message: Message) -> None:
        """A summary in a list: what it stands for left before the list was logged."""
        recorded = message.blocks[0].kind in ("opaque", "compaction") if message.blocks else False
        origin: CompactionOrigin = "recorded" if recorded else "inferred"
        edit = Edit(verb="summarise", puts=(message.seq,))
        compaction = Compaction(mechanism=self._mechanism((edit,)), origin=origin, line=message.line, edits=(edit,), at=message.at)
        self.compact(compaction, [*self.log.view, message.seq])

    def _show_waiting(self) -> None:
        for seq in self._waiting:
            self._enter(seq)
        self._waiting.clear()

    def _mechanism(self, edits: Sequence[Edit]) -> Mechanism:
        """What the edits look like; `unknown` where nothing tells."""
        puts = [self.log.messages[seq - 1] for edit in edits for seq in edit.puts]
        if any(message.origin == "summary" for message in puts):
            return "remote_opaque" if any(block.kind == "opaque" for message in puts for block in message.blocks) else "summary"
        verbs = {edit.verb for edit in edits if edit.block is not None}
        if len(verbs) == 1 and all(edit.block is not None for edit in edits):
            return VERB_MECHANISMS.get(verbs.pop(), "unknown")
        taken = {block for edit in edits for block in edit.takes}
        if puts or verbs or not taken:
            return "unknown"
        first = next((block for block in self.log.blocks_of(self._turns()) if block), None)
        return "sliding_window" if first in taken else "snip_messages"

    def _turns(self) -> Iterator[int]:
        """The view without what stands in front of every prompt."""
        return (seq for seq in self.log.view if self.log.messages[seq - 1].role not in ("system", "developer"))

    def _book_implied(self) -> None:
        calls = []
        for number, implied in enumerate(self._implied, start=1):
            for seq in implied.seqs:
                self.log.revise(seq, call=number)
            calls.append(self._implied_call(number, self.log.messages[implied.seqs[0] - 1]))
        self.log.insert_calls(calls, [implied.event for implied in self._implied])

    def _implied_call(self, number: int, answer: Message) -> ModelCall:
        return ModelCall(
            n=number,
            seq=answer.seq,
            line=answer.line,
            usage=NOT_REPORTED,
            model=answer.model or self.model,
            at=answer.at,
            previous=number - 1 or None,
            fidelity="derived",
            flags=("no_response_logged",),
        )

    def key(self) -> str:
        """The session's own id, else that of its first response, else its content up to the first answer."""
        native = self.native_id or self.first_response
        if native is not None:
            return native
        digest = hashlib.sha256()
        for message in self.log.messages:
            digest.update(self.log.likeness(message.seq))
            if message.role == "assistant":
                break
        return digest.hexdigest()


def is_fixed(message: Draft | Message) -> bool:
    """Whether a message stands in front of every prompt and is no entry of the list: a system prompt, tool definitions."""
    return message.role == "system" and message.label is not None


def is_boundary(draft: Draft) -> bool:
    """Whether a message is a recorded summary that stands for everything before it."""
    return draft.origin == "summary" and any(piece.kind == "compaction" for piece, _ in draft.pieces)
