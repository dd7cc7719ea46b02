"""The conversations of one source that logs whole prompts: which of them a request goes on with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compaction.transcript import Lane
from ctxweb.importers.chat import Conversation, Exchange
from ctxweb.importers.lane_log import Draft, Likeness


class Conversations:
    """The conversations of one source. A request belongs to the one whose messages it repeats."""

    def __init__(self) -> None:
        self.all: list[Conversation] = []
        self._by_session: dict[str, Conversation] = {}
        self._by_message: dict[Likeness, Conversation] = {}

    def lanes(self) -> Iterator[Lane]:
        """All lanes; of two with the same key the later one is told by its number."""
        keys: dict[str, int] = {}
        for one in self.all:
            key = one.key()
            keys[key] = keys.get(key, 0) + 1
            yield one.lane(key if keys[key] == 1 else f"{key}#{keys[key]}")

    def begin(self) -> Conversation:
        self.all.append(Conversation())
        return self.all[-1]

    def choose(self, exchange: Exchange) -> Conversation:
        found = self._known(exchange) or self.begin()
        if exchange.session_id is not None:
            self._by_session[exchange.session_id] = found
        for draft in (*(exchange.prompt or ()), *(exchange.answer or ())):
            if draft.role not in ("system", "developer"):
                self._by_message[draft.likeness] = found
        return found

    def _known(self, exchange: Exchange) -> Conversation | None:
        if exchange.session_id is not None:
            return self._by_session.get(exchange.session_id)
        if exchange.continues is not None:
            return next((one for one in reversed(self.all) if exchange.continues in one.responses), None)
        if exchange.prompt is None:
            return self.all[-1] if self.all else None
        turns = [draft for draft in exchange.prompt if draft.role not in ("system", "developer")]
        if len(turns) > 1:
            found = next((self._by_message[draft.likeness] for draft in reversed(turns) if draft.likeness in self._by_message), None)
            if found is not None:
                return found
        is_summed_up = any(draft.origin == "summary" for draft in turns[:2])
        return self.all[-1] if self.all and is_summed_up else self._same_start(turns)

    def _same_start(self, turns: Sequence[Draft]) -> Conversation | None:
        """A request of one message repeats one that has no answer yet, else it begins a conversation of its own."""
        found = self._by_message.get(turns[0].likeness) if turns else None
        return found if found is not None and len(found.log.view) <= len(turns) + 1 and not found.answer_waits() else None
