"""A plain step-by-step engine over wire messages, to judge replay. It shares no code with the engine.

At every call it adds what arrived, measures everything again (in the policy's own unit from the wire form, and in exact
tokens), runs the layers over plain lists, and measures again. Its rules are written from the specification alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Count = Callable[[str], int]


@dataclass
class Msg:
    """A wire message, and beside it the id of each of its blocks (one for a plain text). `logged` are the inputs of its tool
    calls as the log wrote them, by id: their tokens are counted so."""

    role: str
    content: Any
    ids: list[str]
    logged: dict[str, str] = field(default_factory=dict)

    @property
    def wire(self) -> dict[str, Any]:
        return {"role": self.role, "content": self.content}

    def blocks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(self.content, list):
            yield from zip(self.ids, self.content, strict=True)


@dataclass
class PlainSession:
    """What a replay is given. `arrivals`: (first call, message); `reads`: key of a file read by the id of its result's block;
    `abandoned`, `refused` and `compact` are numbers of calls."""

    public_id: str
    calls: int
    arrivals: list[tuple[int, Msg]]
    last_seq: int
    reads: dict[str, str] = field(default_factory=dict)
    abandoned: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    compact: frozenset[int] = frozenset()
    hidden: int = 0
    window: int | None = None


@dataclass(frozen=True)
class Change:
    """What one layer did: ids that left, texts that blocks got, texts that were put."""

    layer: str
    taken: frozenset[str]
    texts: dict[str, str]
    put: dict[str, str]


@dataclass(frozen=True)
class Fired:
    call: int
    own_before: int
    own_after: int
    tokens_before: int
    tokens_after: int
    changes: tuple[Change, ...]


@dataclass
class PlainReplay:
    fired: list[Fired] = field(default_factory=list)
    totals: list[tuple[int, int]] = field(default_factory=list)
    findings: list[tuple[str, int]] = field(default_factory=list)


class Run:
    """One policy over one session. `settings` are the policy's limits; `summary` is what every summary says."""

    layers: tuple[str, ...] = ()
    reacts = False

    def __init__(self, session: PlainSession, settings: dict[str, Any], *, count: Count, summary: str) -> None:
        self.session = session
        self.settings = settings
        self.count = count
        self.summary = summary
        self.view: list[Msg] = []
        self.next_seq = session.last_seq + 1
        self.changes: list[Change] = []
        self.over_limit = False

    def replay(self) -> PlainReplay:
        out = PlainReplay()
        session = self.session
        waiting = list(session.arrivals)
        for call in range(1, session.calls + 1):
            while waiting and waiting[0][0] == call:
                self.view = [*self.view, waiting.pop(0)[1]]
            size = self.own(self.view), self.tokens(self.view)
            out.totals.append(size if call in session.abandoned else self._call(call, size, out))
        return out

    def _call(self, call: int, size: tuple[int, int], out: PlainReplay) -> tuple[int, int]:
        """What happens before a call whose view has this size, and the size of the view that it is sent."""
        self.changes, self.over_limit = [], False
        fires = self.step(call)
        if self.too_long() or (self.reacts and call in self.session.refused):
            fires = fires or self.reacts
            self.overflow()
            if self.too_long():
                out.findings.append(("would_have_failed", call))
        if self.over_limit:
            out.findings.append(("view_limit_exceeded", call))
        after = (self.own(self.view), self.tokens(self.view)) if self.changes else size
        if fires or self.changes:
            out.fired.append(Fired(call, size[0], after[0], size[1], after[1], tuple(self.changes)))
        return after

    @property
    def window(self) -> int | None:
        """That of the session, else the one that the policy assumes."""
        return self.session.window or self.settings.get("window")

    def too_long(self) -> bool:
        window = self.window
        return window is not None and self.session.hidden + self.tokens(self.view) > window

    def tokens(self, view: list[Msg]) -> int:
        return sum(self.count(text) for message in view for text in texts_of(message))

    def own(self, view: list[Msg]) -> int:
        raise NotImplementedError

    def step(self, call: int) -> bool:
        """What happens before a call; whether the policy's trigger fired."""
        raise NotImplementedError

    def overflow(self) -> None:
        """What happens after a refusal: nothing, where the policy says nothing."""

    def run(self, layer: str, plan: Callable[[list[Msg]], list[Msg]]) -> None:
        """Let a layer make the next view, and write down by comparison what it changed."""
        before, after = self.view, plan(self.view)
        old, new = bodies_of(before), bodies_of(after)
        taken = frozenset(old.keys() - new.keys())
        texts = {place: text for place, text in new.items() if place in old and old[place] != text}
        put = {place: text for place, text in new.items() if place not in old}
        if taken or texts or put:
            self.changes.append(Change(layer, taken, texts, put))
        self.view = after

    def put(self, role: str, *texts: str, as_blocks: bool = False) -> Msg:
        """A message that a layer puts, under the next seq."""
        seq = self.next_seq
        self.next_seq += 1
        if not as_blocks:
            return Msg(role, texts[0], [f"{seq}.1"])
        return Msg(role, [{"type": "text", "text": text} for text in texts], [f"{seq}.{i}" for i in range(1, len(texts) + 1)])


def texts_of(message: Msg) -> Iterator[str]:
    if isinstance(message.content, str):
        yield message.content
    for place, block in message.blocks():
        yield message.logged[place] if block["type"] == "tool_use" else text_of(block)


def text_of(block: dict[str, Any]) -> str:
    kind = block["type"]
    value: str = block["thinking"] if kind == "thinking" else block["content"] if kind == "tool_result" else block["text"]
    return value


def bodies_of(view: list[Msg]) -> dict[str, str]:
    return {place: text for message in view for place, text in zip(message.ids, texts_of(message), strict=True)}


def without(message: Msg, gone: Callable[[str, dict[str, Any]], bool]) -> Msg | None:
    """The message without some of its blocks; None where none is left."""
    if not isinstance(message.content, list):
        return message
    kept = [(place, block) for place, block in message.blocks() if not gone(place, block)]
    if len(kept) == len(message.ids):
        return message
    return Msg(message.role, [block for _, block in kept], [place for place, _ in kept], message.logged) if kept else None


def with_text(message: Msg, texts: dict[str, str]) -> Msg:
    """The message where results have other texts."""
    if not any(place in texts for place in message.ids):
        return message
    content = [{**block, "content": texts[place]} if place in texts else block for place, block in message.blocks()]
    return Msg(message.role, content, message.ids, message.logged)


def results_of(view: list[Msg]) -> list[tuple[str, dict[str, Any]]]:
    """The results of user messages in document order."""
    return [
        (place, block) for message in view if message.role == "user" for place, block in message.blocks() if block["type"] == "tool_result"
    ]


def pairs_of(view: list[Msg]) -> dict[str, tuple[int, int]]:
    """Where the call and the result of each tool id stand, for those that have both in the view."""
    uses: dict[str, int] = {}
    results: dict[str, int] = {}
    for index, message in enumerate(view):
        for _, block in message.blocks():
            if block["type"] == "tool_use":
                uses[tool_id(block)] = index
            elif block["type"] == "tool_result":
                results[tool_id(block)] = index
    return {name: (uses[name], results[name]) for name in uses if name in results}


def whole_from(view: list[Msg], start: int) -> int:
    """The start of a tail moved back until no call before it has its result in it."""
    while crossing := [use for use, result in pairs_of(view).values() if use < start <= result]:
        start = min(crossing)
    return start


def tool_id(block: dict[str, Any]) -> str:
    return str(block.get("id") if block["type"] == "tool_use" else block.get("tool_use_id"))
