"""The conversation of a rollout as it grows: items, compactions and rollbacks, and the turns that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compaction.messages import Message
from compaction.transcript import Compaction, Edit, Event
from ctxweb.importers.codex.calls import Calls
from ctxweb.importers.codex.checkpoint import Checkpoint, checkpoint_of, has_meaning, mechanism_of
from ctxweb.importers.codex.history import UserTexts, replay_local, rolled_back, summary_draft, texts_of, user_origin
from ctxweb.importers.codex.truncation import TruncationPolicy
from ctxweb.importers.lane_log import Draft, LaneLog, Place, draw
from ctxweb.importers.resets import reset_view
from ctxweb.importers.responses_items import Item
from ctxweb.importers.values import count, word

JsonObject = Mapping[str, Any]

INSTRUCTIONS = "base_instructions"
TURN_STARTS = frozenset({"task_started", "turn_started"})
UNCUT_BYTES = 10_000  # no default limit of the producer is below it, so a shorter output is whole whatever the policy was


class Thread:
    """One lane. `window` and `model` are what the latest record said."""

    def __init__(self) -> None:
        self.log = LaneLog()
        self.calls = Calls(self.log)
        self.window: int | None = None
        self.model: str | None = None
        self.title: str | None = None
        self._policy: TruncationPolicy | None = None
        self._users = UserTexts()
        self._known: dict[str, int] = {}
        self._turn_is_empty = False
        self._alone: list[int] = []
        self._compacted = 0
        self._announced = 0

    def add_instructions(self, text: str, place: Place) -> None:
        self.log.append(Draft(role="system", origin="harness", pieces=(draw("text", text),), label=INSTRUCTIONS), place)

    def set_turn_context(self, payload: JsonObject) -> None:
        self.model = word(payload.get("model")) or self.model
        self._policy = TruncationPolicy.of(payload.get("truncation_policy")) or self._policy

    def add_item(self, item: Item, place: Place) -> None:
        """Log an item. A compaction item waits unseen for the record that puts it into the next prompt."""
        draft = user_origin(item.draft)
        waits = draft.origin == "summary" and draft.pieces[0][0].kind == "opaque"
        if item.by_model:
            self.calls.output(place, self.model)
            draft = replace(draft, model=self.model)
        elif not waits:
            self.calls.end_run()
        message = self.log.append(draft, place, shown=not waits and draft.role != "system")
        self._learn(message, draft)
        if item.by_model or draft.origin == "human":
            self._turn_has_content()
        for piece, body in draft.pieces:
            if piece.kind == "tool_result" and body.text:
                self._cut(message, body.text, place)

    def add_event(self, payload: JsonObject, place: Place) -> None:
        """An event of the user interface. Those that repeat an item change nothing."""
        kind = word(payload.get("type"))
        if kind == "token_count":
            told = payload.get("info")
            if isinstance(told, Mapping):
                self.calls.count(told, place, self.window)
        elif kind in TURN_STARTS:
            self.window = count(payload.get("model_context_window")) or self.window
            self._turn_is_empty = True
            self._alone.clear()
        elif kind == "user_message":
            self._turn_has_content()
        elif kind == "context_compacted":
            self._announced += 1
        elif kind == "thread_rolled_back":
            self._roll_back(count(payload.get("num_turns")) or 0, place)
        elif kind == "thread_name_updated":
            self.title = word(payload.get("thread_name")) or self.title

    def compact(self, payload: JsonObject, place: Place) -> None:
        """Apply a `compacted` record: replay a local compaction, or put the recorded history in place of the view."""
        if not has_meaning(payload):
            return
        self.calls.end_run()
        self._compacted += 1
        checkpoint = checkpoint_of(payload, self._known)
        if checkpoint is None:
            edits, view = self._replay(payload, place)
        else:
            edits, view = self._restart(checkpoint, place)
        self.calls.grade = "derived" if checkpoint is None else "opaque" if checkpoint.is_opaque else "exact"
        compaction = Compaction(
            mechanism=mechanism_of(payload, checkpoint),
            line=place.line,
            edits=edits,
            trigger="manual" if self._turn_is_empty else "auto",
            tokens_before=self.calls.last_total,
            native_id=word(payload.get("window_id")),
            at=place.at,
        )
        index = self.log.edit(compaction, view=view)
        self.calls.await_size(index)
        if self._turn_is_empty:
            self._alone.append(index)

    def start(self) -> str:
        """What a rollout without a head is known by: its first message."""
        return self.log.likeness(1).hex() if self.log.messages else ""

    def finish(self, *, inherited_until: int) -> Iterator[Event]:
        """The events; messages, calls and compactions of the records up to `inherited_until` are marked as the parent's."""
        if self._announced > self._compacted:
            self.log.note(
                "compaction_without_record", detail=f"{self._announced - self._compacted} announced, no record tells what they took"
            )
        self.calls.inherit(inherited_until)
        copied = [message for message in self.log.messages if message.record <= inherited_until and message.label != INSTRUCTIONS]
        for message in copied:
            self.log.revise(message.seq, inherited=True)
        for index, compaction in enumerate(self.log.compactions):
            if copied and compaction.line <= copied[-1].line:
                self.log.recast(index, flags=("inherited",))
        yield from self.log.final_events()

    def _learn(self, message: Message, draft: Draft) -> None:
        if message.native_id is not None:
            self._known[message.native_id] = message.seq
        if draft.origin == "human":
            self._users.add(message.seq, "".join(texts_of(draft)))

    def _turn_has_content(self) -> None:
        """A compaction at the beginning of a turn that goes on was not the person's own command."""
        self._turn_is_empty = False
        for index in self._alone:
            self.log.recast(index, trigger="auto")
        self._alone.clear()

    def _cut(self, message: Message, text: str, place: Place) -> None:
        """What the model saw of a long tool output; the rollout holds it whole."""
        seen = self._policy.cut_output(text) if self._policy else text
        if len(seen) < len(text):
            edit = Edit(verb="truncate", block=message.blocks[0].id, state="truncated", body=self.log.body(seen))
            self.log.edit(Compaction(mechanism="truncate_output", line=place.line, edits=(edit,), trigger="auto", at=place.at))
            self.calls.blur()
        elif self._policy is None and len(text.encode()) > UNCUT_BYTES:
            self.calls.blur()

    def _replay(self, payload: JsonObject, place: Place) -> tuple[tuple[Edit, ...], list[int]]:
        summary = self.log.append(summary_draft(word(payload.get("message")) or ""), place, shown=False)
        return replay_local(self.log, self._users, summary.seq)

    def _restart(self, checkpoint: Checkpoint, place: Place) -> tuple[tuple[Edit, ...], list[int]]:
        for name in checkpoint.missing:
            self.log.note("missing_reference", line=place.line, detail=name)
        known = len(self.log.messages)
        keep = 1 if self.log.view and self.log.messages[self.log.view[0] - 1].label == INSTRUCTIONS else 0
        reset = reset_view(self.log, checkpoint.items, place, keep=keep)
        drafts = (item for item in checkpoint.items if not isinstance(item, int))
        texts = {draft.likeness: "".join(texts_of(draft)) for draft in drafts if draft.origin == "human"}
        for message in self.log.messages[known:]:
            if self.log.likeness(message.seq) in texts:
                self._users.add(message.seq, texts[self.log.likeness(message.seq)])
        return reset.edits, list(reset.view)

    def _roll_back(self, turns: int, place: Place) -> None:
        self.calls.end_run()
        gone = rolled_back(self.log, turns)
        if not gone:
            self.log.note("rewind_of_nothing", line=place.line, detail=f"{turns} turns")
            return
        edit = Edit(verb="remove", takes=self.log.blocks_of(gone))
        leaving = set(gone)
        for seq in gone:
            self.log.revise(seq, abandoned=True)
        self.calls.abandon(leaving)
        compaction = Compaction(mechanism="rewind", line=place.line, edits=(edit,), trigger="manual", at=place.at)
        self.log.edit(compaction, view=[seq for seq in self.log.view if seq not in leaving])
