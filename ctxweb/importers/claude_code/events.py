"""The events of one lane, made as they are read: log order is file order, and each call finds its view as the rules say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compaction.messages import Message
from compaction.transcript import Appended, Called, Compaction, Edited, Event, Fidelity, Finding, Mechanism, ModelCall, Noted, Shown
from ctxweb.importers.claude_code.compactions import (
    Neighbours,
    content_replacement,
    full_compaction,
    micro_compaction,
    spill,
    user_action,
)
from ctxweb.importers.claude_code.entries import Entry, Figures
from ctxweb.importers.claude_code.path import Move, Path, nodes_in_use
from ctxweb.importers.claude_code.tree import NONE, Tree, ends, tree_of
from ctxweb.importers.claude_code.turns import Turns, message_of
from ctxweb.importers.claude_code.usage import is_reliable_output


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneFacts:
    """What is known of a lane beside its entries: `copied` are ids of calls that count in another lane."""

    figures: Mapping[str, Figures]
    copied: frozenset[str] = frozenset()
    is_subagent: bool = False


def lane_events(entries: Sequence[Entry], facts: LaneFacts) -> Iterator[Event]:
    """The events of a lane; its tree is built when the first one is asked for."""
    yield from _LaneEvents(entries, facts).events()


class _LaneEvents:
    def __init__(self, entries: Sequence[Entry], facts: LaneFacts) -> None:
        self._entries = entries
        self._facts = facts
        self._tree: Tree = tree_of(entries)
        self._turns = Turns(entries)
        self._path = Path(self._tree, self._turns)
        self._calls = self._call_places()
        self._callers = ends(self._tree.back, [seq in self._turns.calls for seq in self._turns.seq_of])
        self._leaf = self._last_leaf()
        self._used = nodes_in_use(self._tree, (*self._calls, self._leaf))
        self._active = self._active_seqs()
        self._inherited_until = self._last_copied()
        self._last_summaries = {places[-1]: owner for owner, places in self._tree.summaries.items() if places}
        self._fidelity: Fidelity = "derived"

    def events(self) -> Iterator[Event]:
        for place, entry in enumerate(self._entries):
            seq = self._turns.seq_of[place] if self._turns.is_start(place) else 0
            if seq:
                yield Appended(message=self._message(seq))
            yield from self._findings(place, entry)
            yield from self._edits(place, entry)
            if seq and seq in self._turns.calls:
                yield from self._go(self._tree.up[place], place)
                yield Called(call=self._call(seq, place))
        if self._leaf != NONE:
            yield from self._go(self._leaf, len(self._entries))

    def _edits(self, place: int, entry: Entry) -> Iterator[Event]:
        if place in self._last_summaries:
            yield from self._compact(self._last_summaries[place], place)
        elif self._tree.summaries.get(place) == []:
            yield from self._compact(place, place)
        elif entry.extra.micro is not None:
            yield from self._micro(place, entry)
        elif entry.extra.replacements:
            compaction = content_replacement(entry, entry.extra.replacements, self._turns, self._path.view)
            if compaction is not None:
                self._fidelity = "approx"
                yield Edited(compaction=compaction)

    def _findings(self, place: int, entry: Entry) -> Iterator[Event]:
        if place in self._tree.missing:
            yield self._note("parent_missing", entry, "its parent is not in the file; the record before it stands in")

    def _note(self, code: str, entry: Entry, detail: str) -> Event:
        return Noted(finding=Finding(code=code, line=entry.line, detail=detail))

    def _go(self, node: int, limit: int) -> Iterator[Event]:
        """Move the view to the path of `node`, as it was when the entry at `limit` was written."""
        move = self._path.move(node, limit)
        yield from self._user_action(move, self._entries[min(limit, len(self._entries) - 1) if move.turn == NONE else move.turn])
        if move.shown:
            yield Shown(seqs=move.shown)
            for seq in move.shown:
                compaction = spill(self._turns, seq)
                if compaction is not None:
                    yield Edited(compaction=compaction)

    def _user_action(self, move: Move, entry: Entry) -> Iterator[Event]:
        if move.removed or move.restored:
            mechanism: Mechanism = "clear" if move.is_new_root and not move.restored else "rewind"
            yield Edited(compaction=user_action(mechanism, entry, self._turns, move.removed, move.restored))

    def _compact(self, boundary: int, place: int) -> Iterator[Event]:
        """The full compaction of `boundary`, at the place of its last summary."""
        entry = self._entries[boundary]
        before = self._tree.logical.get(boundary, NONE)
        near = Neighbours(before=self._reported_before(before), after=self._reported_after(boundary))
        summaries = tuple(self._turns.seq_of[summary] for summary in self._tree.summaries[boundary])
        if not self._used[boundary]:
            base = Path(self._tree, self._turns).move(before, boundary).shown if before != NONE else ()
            compaction = full_compaction(entry, self._turns, base, summaries, Neighbours(before=near.before), detached=True)
            yield self._beside(compaction, base)
            return
        if boundary in self._tree.skipping:
            yield self._note("parent_chain_skips", entry, "its parents lead past what was logged since the compaction before it")
        if before != NONE:
            yield from self._go(before, boundary)
        taken = self._path.compact(boundary, summaries)
        yield Edited(compaction=full_compaction(entry, self._turns, taken, summaries, near))

    def _micro(self, place: int, entry: Entry) -> Iterator[Event]:
        micro = entry.extra.micro
        if micro is None:
            return
        if not self._used[place]:
            base = Path(self._tree, self._turns).move(place, place).shown
            yield self._beside(micro_compaction(entry, micro, self._turns, set(base), detached=True), base)
            return
        yield from self._go(place, place)
        yield Edited(compaction=micro_compaction(entry, micro, self._turns, self._path.view))

    def _beside(self, compaction: Compaction, base: Sequence[int]) -> Event:
        return Edited(compaction=compaction, base=tuple(block for seq in base for block in self._turns.blocks(seq)))

    def _message(self, seq: int) -> Message:
        return message_of(
            self._turns,
            seq,
            call=self._turns.calls.get(seq),
            inherited=self._is_inherited(seq),
            abandoned=self._turns.is_prompt(seq) and not self._active[seq],
            is_subagent=self._facts.is_subagent,
        )

    def _call(self, seq: int, place: int) -> ModelCall:
        entry = self._entries[place]
        figures = self._figures(entry)
        answer_chars = sum(piece.chars for piece in self._turns.pieces(seq) if piece.kind in ("text", "tool_use"))
        return ModelCall(
            n=self._turns.calls[seq],
            seq=seq,
            line=entry.line,
            usage=figures.usage,
            native_id=entry.call_id,
            model=entry.model,
            at=figures.at,
            previous=self._previous(place, self._turns.calls[seq]),
            abandoned=not self._active[seq],
            inherited=self._is_inherited(seq),
            fidelity=self._fidelity,
            output_reliable=is_reliable_output(figures.usage.output_tokens, answer_chars, is_finished=figures.is_finished),
            producer_version=figures.version,
            flags=figures.flags,
        )

    def _figures(self, entry: Entry) -> Figures:
        return self._facts.figures[entry.call_id or ""]

    def _call_places(self) -> list[int]:
        return [self._turns.first(seq) for seq in self._turns.calls]

    def _last_leaf(self) -> int:
        """The last message that nobody goes on from, or what the harness itself logged after it."""
        inner = {self._tree.up[place] for place in range(len(self._entries)) if self._is_turn(place)}
        places = range(len(self._entries) - 1, NONE, -1)
        leaf = next((place for place in places if place not in inner and self._is_turn(place)), NONE)
        last = next((place for place in places if self._tree.is_node[place]), NONE)
        turn = next((place for place in self._tree.before(last) if self._is_turn(place)), NONE)
        return last if turn == leaf else leaf

    def _is_turn(self, place: int) -> bool:
        entry = self._entries[place]
        return entry.is_message and "meta" not in entry.marks

    def _active_seqs(self) -> bytearray:
        """For each seq, whether its message is part of the conversation as it went on to the end."""
        active = bytearray(len(self._turns) + 1)
        node = self._leaf
        while node != NONE:
            for seq in Path(self._tree, self._turns).move(node, len(self._entries)).shown:
                active[seq] = 1
            node = self._tree.back[self._tree.roots[node]]
        return active

    def _last_copied(self) -> int:
        """Place of the last record of a call that counts in another lane: what stands before it was copied with it."""
        copied = [max(self._turns.places(seq)) for seq in self._turns.calls if self._call_id(seq) in self._facts.copied]
        return max(copied, default=NONE)

    def _call_id(self, seq: int) -> str | None:
        return self._entries[self._turns.first(seq)].call_id

    def _is_inherited(self, seq: int) -> bool:
        place = self._turns.first(seq)
        entry = self._entries[place]
        if entry.extra.forked_from is not None or self._call_id(seq) in self._facts.copied:
            return True
        return entry.call_id is None and place <= self._inherited_until

    def _previous(self, place: int, n: int) -> int | None:
        """The call before call `n` on its path; one that was written later is none."""
        before = self._call_before(self._tree.back[place])
        return before if 0 < before < n else None

    def _call_before(self, node: int) -> int:
        """Number of the last call at or before `node`, across compactions; 0 for none."""
        return self._turns.calls[self._turns.seq_of[self._callers[node]]] if node != NONE and self._callers[node] != NONE else 0

    def _reported_before(self, node: int) -> int | None:
        """Prompt that the last call at or before `node` reported."""
        n = self._call_before(node)
        return self._figures(self._entries[self._calls[n - 1]]).usage.prompt_tokens if n else None

    def _reported_after(self, boundary: int) -> int | None:
        """Prompt of the first call after `boundary` whose path begins there."""
        place = next((place for place in self._calls if place > boundary and self._tree.roots[place] == boundary), None)
        return self._figures(self._entries[place]).usage.prompt_tokens if place is not None else None
