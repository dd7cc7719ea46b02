"""Small lanes for tests: messages, calls and compactions in one line each, and a generator of random event streams."""

from __future__ import annotations

from hypothesis import strategies as st

from compaction.messages import Block, BlockId, BlockKind, BlockState, Body, Message, Role
from compaction.transcript import Appended, Called, Compaction, Edit, Edited, Event, Mechanism, ModelCall, Shown, Usage

KINDS: tuple[BlockKind, ...] = ("text", "thinking", "tool_use", "tool_result", "image")
STATES: tuple[BlockState, ...] = ("truncated", "cleared", "spilled", "replaced")
ROLES: tuple[Role, ...] = ("user", "assistant")


class LettersAsTokens:
    """Sizes for tests: a token a character, three for content that is not known."""

    def whole(self, message: Message, block: Block) -> int:
        return block.body.chars

    def edited(self, block: Block, edit: Edit) -> int:
        if edit.unit_tokens is not None:
            return edit.unit_tokens
        return edit.body.chars if edit.body is not None else 3


SIZES = LettersAsTokens()


def block(seq: int, i: int, text: str, kind: BlockKind = "text", tool_id: str | None = None) -> Block:
    return Block(id=BlockId(seq, i), kind=kind, body=Body.of(text), tool_id=tool_id)


def message(seq: int, role: Role, *texts: str) -> Message:
    blocks = tuple(block(seq, i, text) for i, text in enumerate(texts, start=1))
    return Message(seq=seq, role=role, origin="unknown", blocks=blocks, line=seq, record=seq)


def tool_use(seq: int, tool_id: str, text: str = "use") -> Message:
    return Message(seq=seq, role="assistant", origin="model", blocks=(block(seq, 1, text, "tool_use", tool_id),), line=seq, record=seq)


def tool_result(seq: int, tool_id: str, text: str = "result") -> Message:
    return Message(seq=seq, role="user", origin="tool", blocks=(block(seq, 1, text, "tool_result", tool_id),), line=seq, record=seq)


def said(*messages: Message) -> list[Event]:
    """Each message logged, and shown in this order."""
    return [*(Appended(message=one) for one in messages), Shown(seqs=tuple(one.seq for one in messages))]


def called(n: int, prompt: int | None = None, **fields: object) -> Called:
    return Called(call=ModelCall(n=n, seq=None, line=1000 + n, usage=Usage(input_tokens=prompt), **fields))  # type: ignore[arg-type]


def edited(*edits: Edit, mechanism: Mechanism = "summary", base: tuple[BlockId, ...] | None = None, line: int = 500) -> Edited:
    return Edited(compaction=Compaction(mechanism=mechanism, line=line, edits=edits, detached=base is not None), base=base)


@st.composite
def lanes(draw: st.DrawFn) -> list[Event]:
    """A random lane that keeps the rules of events and breaks, now and then, everything that a real source breaks."""
    events: list[Event] = []
    known: dict[int, int] = {}
    calls = 0
    for _ in range(draw(st.integers(1, 25))):
        step = draw(st.sampled_from(["say", "say", "log", "call", "call", "state", "range", "restore", "beside"]))
        if step == "say" or step == "log" or not known:
            one = draw(_messages(len(known) + 1))
            known[one.seq] = len(one.blocks)
            events.append(Appended(message=one))
            if step != "log":
                events.append(Shown(seqs=(one.seq,)))
        elif step == "call":
            calls += 1
            events.append(called(calls))
        elif step == "beside":
            base = tuple(block for block in _blocks(known) if draw(st.booleans()))
            events.append(edited(*draw(st.lists(_edits(known), min_size=1, max_size=3)), base=base))
        else:
            events.append(edited(*draw(st.lists(_edits(known), min_size=1, max_size=3))))
    return events


@st.composite
def _messages(draw: st.DrawFn, seq: int) -> Message:
    kinds = draw(st.lists(st.sampled_from(KINDS), max_size=3))
    blocks = tuple(
        block(seq, i, draw(st.text("ab", max_size=40)), kind, draw(st.sampled_from("xyz")) if kind.startswith("tool") else None)
        for i, kind in enumerate(kinds, start=1)
    )
    role = draw(st.sampled_from(ROLES))
    return Message(seq=seq, role=role, origin="unknown", blocks=blocks, line=seq, record=seq)


def _blocks(known: dict[int, int]) -> list[BlockId]:
    return [BlockId(seq, i) for seq, count in known.items() for i in range(1, count + 1)]


@st.composite
def _edits(draw: st.DrawFn, known: dict[int, int]) -> Edit:
    blocks = _blocks(known)
    if bool(blocks) and draw(st.booleans()):
        state = draw(st.sampled_from(STATES))
        body = draw(st.none() | st.builds(Body.of, st.text("ab", max_size=10)))
        return Edit(verb="clear", block=draw(st.sampled_from(blocks)), state=state, body=body, unit_tokens=2 if body is None else None)
    takes = tuple(draw(st.lists(st.sampled_from(blocks), unique=True, max_size=8))) if blocks else ()
    puts = tuple(draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=3)))
    after = draw(st.sampled_from([None, *blocks]))
    return Edit(verb=draw(st.sampled_from(["remove", "replace", "summarise", "restore"])), takes=takes, puts=puts, after=after)
