"""Sessions for tests of replay: lanes of the corpus, generated lanes, and both as the plain engine takes them."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from compaction.counters import bpe
from compaction.messages import BlockKind, BlockState, Body, Origin, Role
from compaction.replay.replayable import Replayable, replayable, replayable_of
from compaction.replay.rows import BlockRow, CallRow, LaneFacts, MessageRow
from compaction.transcript import Lane
from ctxweb.importers import IMPORTERS
from ctxweb.importers.physical import ReadLimits, read_records
from tests.replay_oracle import Msg, PlainSession


@cache
def exact_tokens(text: str) -> int:
    """By the fast counter, as an import counts."""
    return bpe.count_batch([text], "o200k_base", fast=True)[0].tokens


@cache
def tiktoken_tokens(text: str) -> int:
    """By the counter that defines a right count, for the plain engine."""
    return len(bpe.encoder("o200k_base")(text))


def corpus_lane(file: Path, format_id: str) -> Replayable:
    """The largest lane of the file. Its window is left out: limits are scaled to the session instead."""
    importer = next(one for one in IMPORTERS if one.id == format_id)
    reader = importer.reader()
    texts: dict[bytes, str] = {}
    with file.open("rb") as stream:
        for record in read_records(stream, limits=ReadLimits(), layout="lines", looks_like_record=importer.looks_like_record):
            texts.update((body.digest, body.text) for body in reader.feed(record).bodies if body.text is not None)
    lanes = [replace(lane, events=list(lane.events)) for lane in reader.lanes()]
    lane = max(lanes, key=lambda lane: len(lane.record_numbers))
    return replayable_lane(lane, format_id, texts)


def replayable_lane(lane: Lane, format_id: str, texts: Mapping[bytes, str]) -> Replayable:
    figures = bpe.count_batch(list(texts.values()), "o200k_base", fast=True)
    counts = {digest: figure.tokens for digest, figure in zip(texts, figures, strict=True)}
    facts = LaneFacts(public_id="a" * 16, format=format_id, kind=lane.kind)

    def fetch(digests: Collection[bytes]) -> dict[bytes, str]:
        return {digest: texts[digest] for digest in digests}

    return replayable(lane.events, facts, counts=counts, texts=fetch, count=exact_tokens)


def plain_session(session: Replayable, *, window: int | None = None) -> PlainSession:
    """The same lane as wire messages, for the plain engine."""
    reads: dict[str, str] = {}
    calls: dict[str, BlockRow] = {}
    arrivals = []
    for arrival in session.arrivals:
        for row in arrival.blocks:
            if row.kind == "tool_use":
                calls[row.tool_id] = row
            elif row.kind == "tool_result" and not row.is_error and row.tool_id in calls:
                reads[f"{row.seq}.{row.i}"] = _read(session, calls[row.tool_id])
        arrivals.append((arrival.call, _message(session, arrival.role, arrival.blocks)))
    return PlainSession(
        public_id=session.facts.public_id,
        calls=len(session.calls),
        arrivals=arrivals,
        last_seq=len(session.messages),
        reads=reads,
        abandoned=frozenset(call.n for call in session.calls if call.abandoned),
        refused=session.refused,
        compact=session.compact_calls,
        hidden=session.hidden,
        window=window if window is not None else session.facts.window,
    )


def _read(session: Replayable, use: BlockRow) -> str:
    given = json.loads(session.texts[use.digest]) if use.tool_name in ("Read", "read_file", "read") else {}
    path = given.get("file_path") or given.get("path") or ""
    narrowed = {name: given[name] for name in ("offset", "limit", "pages") if given.get(name) is not None}
    return f"{path}\n{json.dumps(narrowed, sort_keys=True)}" if path and narrowed else path


def _message(session: Replayable, role: Role, rows: tuple[BlockRow, ...]) -> Msg:
    ids = [f"{row.seq}.{row.i}" for row in rows]
    if len(rows) == 1 and rows[0].kind == "text":
        return Msg(role, session.texts[rows[0].digest], ids)
    logged = {f"{row.seq}.{row.i}": session.texts[row.digest] for row in rows if row.kind == "tool_use"}
    return Msg(role, [_wire(row, session.texts[row.digest]) for row in rows], ids, logged)


def _wire(row: BlockRow, text: str) -> dict[str, object]:
    if row.kind == "tool_use":
        try:
            given = json.loads(text)
        except ValueError:
            given = text
        return {"type": "tool_use", "id": row.tool_id, "name": row.tool_name, "input": given if isinstance(given, dict) else text}
    if row.kind == "tool_result":
        return {"type": "tool_result", "tool_use_id": row.tool_id, "content": text, **({"is_error": True} if row.is_error else {})}
    return {"type": "thinking", "thinking": text} if row.kind == "thinking" else {"type": row.kind, "text": text}


Tool = tuple[str, dict[str, object], str]
"""Name, input and result of a tool call."""


@dataclass
class Made:
    """A lane while it is written, row by row."""

    window: int | None = None
    prompt_tokens: int | None = None
    texts: dict[bytes, str] = field(default_factory=dict)
    messages: list[MessageRow] = field(default_factory=list)
    blocks: list[BlockRow] = field(default_factory=list)
    calls: list[CallRow] = field(default_factory=list)
    tools: int = 0

    def say(
        self,
        role: Role,
        *parts: tuple[BlockKind, str, dict[str, object]],
        origin: Origin = "unknown",
        call: int | None = None,
        seen: bool = True,
    ) -> int:
        """Log a message that the next call sees, and give its seq."""
        seq = len(self.messages) + 1
        self.messages.append(MessageRow(seq, role, origin, line=seq, call=call))
        for i, (kind, text, fields) in enumerate(parts, start=1):
            body = Body.of(text)
            self.texts[body.digest] = text
            row = BlockRow(seq, i, kind, body.digest, body.chars, exact_tokens(text), position=float(len(self.blocks)))
            self.blocks.append(row._replace(first_call=len(self.calls) + 1 if seen else None, **fields))  # type: ignore[arg-type]
        return seq

    def text(self, text: str, role: Role = "user", **more: bool) -> int:
        return self.say(role, ("text", text, {}), **more)  # type: ignore[arg-type]

    def call(self, *, abandoned: bool = False) -> int:
        n = len(self.calls) + 1
        self.calls.append(
            CallRow(n, len(self.messages) + 1, line=n, prompt_tokens=self.prompt_tokens if n == 1 else None, abandoned=abandoned)
        )
        return n

    def batch(
        self,
        *tools: tuple[str, dict[str, object], str],
        before: Iterable[tuple[BlockKind, str]] = (),
        apart: bool = False,
        state: BlockState = "whole",
    ) -> None:
        """An answer with tool calls (name, input, result), and their results: in one message, or each in its own."""
        names = [f"t{self.tools + k}" for k in range(len(tools))]
        self.tools += len(tools)
        uses: list[tuple[BlockKind, str, dict[str, object]]] = [
            ("tool_use", json.dumps(given, ensure_ascii=False, separators=(",", ":")), {"tool_id": name, "tool_name": tool})
            for name, (tool, given, _) in zip(names, tools, strict=True)
        ]
        answer: list[tuple[BlockKind, str, dict[str, object]]] = [(kind, text, {}) for kind, text in before]
        self.say("assistant", *answer, *uses, origin="model", call=len(self.calls))
        results = [("tool_result", text, {"tool_id": name, "state": state}) for name, (_, _, text) in zip(names, tools, strict=True)]
        for group in ([result] for result in results) if apart else (results,):
            self.say("user", *group, origin="tool")  # type: ignore[arg-type]

    def replayable(self, **facts: object) -> Replayable:
        known = LaneFacts(public_id="b" * 16, window=self.window, **facts)  # type: ignore[arg-type]

        def fetch(digests: Collection[bytes]) -> dict[bytes, str]:
            return {digest: self.texts[digest] for digest in digests}

        return replayable_of(known, self.messages, self.blocks, self.calls, texts=fetch, count=exact_tokens)


WORDS = (
    "retry",
    "the queue",
    "压缩之后",
    "模型还记得什么？",
    "naïve",
    "👩‍👩‍👧",
    "def view():\n    return 1\n",
    '"quoted"',
    "it's",
    "\t",
    "0x7f",
    "\\n",
)


def prose(chance: random.Random, chars: int) -> str:
    """About so many characters; short words repeat, so that counting stays cheap."""
    unit = " ".join(chance.choice(WORDS) for _ in range(12))
    return (unit * (chars // len(unit) + 1))[: max(1, chars)]


def generated(seed: int, *, steps: int, scale: int, odd: bool, window: int | None = None) -> Replayable:
    """A lane of about `steps` calls whose texts have about `scale` characters. `odd`: with orphans, refusals and abandoned calls."""
    chance = random.Random(seed)
    made = Made(window=window, prompt_tokens=chance.choice([None, 900]))
    made.text(prose(chance, scale))
    made.call()
    for _ in range(steps):
        step = chance.random()
        if step < 0.75:
            tools = [_tool(chance, scale) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
            before: list[tuple[BlockKind, str]] = [
                (kind, prose(chance, scale // 2)) for kind in ("thinking", "text") if chance.random() < 0.4
            ]
            made.batch(*tools, before=before, apart=chance.random() < 0.5)
        else:
            made.say("assistant", ("text", prose(chance, scale), {}), origin="model", call=len(made.calls))
            made.text(prose(chance, chance.choice([20, scale])))
        if odd and chance.random() < 0.1:
            _oddity(chance, made, scale)
        made.call()
    return made.replayable(overflowed=frozenset({steps // 2}) if odd and chance.random() < 0.3 else frozenset())


def _tool(chance: random.Random, scale: int) -> Tool:
    size = chance.choice([10, 130, scale, scale * 2, scale * 6])
    if chance.random() < 0.6:
        given: dict[str, object] = {"path": f"src/{chance.randrange(4)}.py"}
        if chance.random() < 0.3:
            given["offset"] = chance.randrange(3)
        return "read_file", given, prose(chance, size)
    if chance.random() < 0.05:
        return "compact", {"focus": "ids"}, "Compaction requested after this tool batch."
    return "run", {"cmd": prose(chance, 30)}, prose(chance, size)


def _oddity(chance: random.Random, made: Made, scale: int) -> None:
    oddity = chance.choice(["lone use", "lone result", "refusal", "abandoned"])
    if oddity == "lone use":
        made.say(
            "assistant",
            ("tool_use", '{"cmd":"ls"}', {"tool_id": f"lone{len(made.messages)}", "tool_name": "run"}),
            origin="model",
            call=len(made.calls),
        )
    elif oddity == "lone result":
        result: dict[str, object] = {"tool_id": f"gone{len(made.messages)}"}
        made.say("user", ("tool_result", prose(chance, scale), result), origin="tool")
    elif oddity == "refusal":
        made.text("API Error: prompt is too long: 201234 tokens > 200000 maximum", "assistant", seen=False)
    else:
        made.call(abandoned=True)
