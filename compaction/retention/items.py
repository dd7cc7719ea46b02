"""What a range of messages holds that a later step may need: the items whose retention is asked.

Names count only where a person or the agent used them: whatever a listing or a search printed is no item. Errors are those
of commands, open tasks the last plan that the agent wrote and calls without a result.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from compaction.checkpoints import is_checkpoint
from compaction.messages import BlockId
from compaction.retention.names import base_name, names
from compaction.summarizers.quotes import Piece, Quote, ends, piece_quotes, quoted

ItemKind = Literal["request", "constraint", "fact", "task", "error", "url", "hash", "path", "identifier", "number"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
Speaker = Literal["user", "agent", "tool", "summary"]

MOST_ITEMS = 4_000  # of a range; the ones used most are kept, and what is left out is counted
MOST_PLACES = 20  # of an item that are named; `uses` counts all
MOST_SENTENCE_CHARS = 300  # of a user's sentence: a longer one was pasted
MOST_LINE_CHARS = 2_000  # of a user's line, too

NO_USE_TOOLS = frozenset(("TodoWrite", "Task", "TaskCreate", "TaskUpdate", "AskUserQuestion", "ExitPlanMode", "update_plan", "Agent"))
_OPTIONS = (
    "timeout output_mode description activeForm head_limit -A -B -C -n -i type offset limit multiline replace_all run_in_background "
    "subagent_type model tool_use_id task_id timeout_ms max_output_tokens yield_time_ms"
)
NO_USE_FIELDS = frozenset(_OPTIONS.split())
READING_TOOLS = frozenset(("Read", "Grep", "Glob", "WebFetch", "WebSearch", "read_file", "read", "grep", "glob", "ls", "LS"))
CLOSED = frozenset(("completed", "complete", "done", "cancelled", "canceled", "deleted"))
_PASTE = re.compile(r"```|^\s*>|^\s*<[a-zA-Z/!]|\[Request interrupted|^Caveat: ")
LEAST_WORDS_OF: dict[ItemKind, int] = {"request": 3, "constraint": 4, "fact": 6, "task": 3, "error": 2}
_KIND_OF_SECTION: dict[str, ItemKind] = {"Asked": "request", "Constraints": "constraint", "Decisions": "fact", "Errors": "error"}
_OF_HARNESS = ("The user doesn't want to proceed", "<tool_use_error>")  # a person said no; a call was malformed
_FIGURES = re.compile(r"\d+")
_LIST_MARK = re.compile(r"^(?:[-*•+]|\d{1,2}[.)])\s+(?:\[[ xX~]\]\s+)?")  # in front of a statement, no part of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`text`: the name, or the sentence as quoted. `places`: the blocks where it was said, the first ones and the last.
    `uses` counts the blocks; `last` is the place in the range (0 … 1) of the last one."""

    id: str
    kind: ItemKind
    text: str
    key: str
    by: Speaker
    uses: int
    places: tuple[BlockId, ...]
    last: float


@dataclass(slots=True)
class _Found:
    kind: ItemKind
    text: str
    by: Speaker
    places: dict[BlockId, None] = field(default_factory=dict)
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The items of a range in the order in which they came up; `left_out` were too many."""

    items: tuple[Item, ...]
    left_out: int


def items_of(pieces: Sequence[Piece]) -> Items:
    """The items of a range. Linear in its text."""
    found: dict[tuple[ItemKind, str], _Found] = {}
    tools = {piece.block.tool_id: piece.block.tool_name or "" for piece in pieces if piece.block.kind == "tool_use"}
    answered = {piece.block.tool_id for piece in pieces if piece.block.kind == "tool_result"}
    plan = _last_plan(pieces)
    for place, piece in enumerate(pieces):
        by = speaker(piece)
        for kind, text, key in (*_sentences(piece, by, answered, tools), *_names(piece, by)):
            one = found.setdefault((kind, key), _Found(kind=kind, text=text, by=by))
            one.places[piece.block.id] = None
            one.last = place
        if place == plan:
            for task in open_tasks(piece.text):
                found[("task", _key(task))] = _Found(kind="task", text=task, by=by, places={piece.block.id: None}, last=place)
    _merge_file_names(found)
    return _chosen(found, len(pieces))


def _merge_file_names(found: dict[tuple[ItemKind, str], _Found]) -> None:
    """A bare file name is the path that ends in it, where only one does."""
    paths: dict[str, list[_Found]] = defaultdict(list)
    for (kind, key), one in found.items():
        if kind == "path" and "/" in key:
            paths[base_name(key)].append(one)
    for bare in [key for kind, key in found if kind == "path" and len(paths.get(key, ())) == 1]:
        path, name = paths[bare][0], found.pop(("path", bare))
        path.places = dict.fromkeys(sorted({*path.places, *name.places}))
        path.last = max(path.last, name.last)


def speaker(piece: Piece) -> Speaker:
    """Who said a piece."""
    if piece.origin == "summary" or (piece.block.kind == "text" and piece.role == "user" and is_checkpoint(piece.text)):
        return "summary"
    if piece.block.kind == "tool_result" or piece.role == "tool":
        return "tool"
    if piece.role == "assistant":
        return "agent"
    return "user" if piece.origin in ("human", "unknown") else "tool"


def said(piece: Piece) -> str:
    """What the user or the agent said in a piece: a text, or the values of a call that are no options."""
    if piece.block.kind == "text":
        return ends(piece.text)
    if piece.block.kind != "tool_use" or piece.block.tool_name in NO_USE_TOOLS:
        return ""
    try:
        given = json.loads(piece.text)
    except (ValueError, RecursionError):
        return ends(piece.text)
    values = [str(value) for name, value in given.items() if name not in NO_USE_FIELDS] if isinstance(given, dict) else [piece.text]
    return ends("\n".join(values))


def open_tasks(text: str) -> list[str]:
    """The steps of a plan (the input of a call) that are not closed."""
    return [quoted(words) for status, words in _steps(text) if status not in CLOSED]


def _steps(text: str) -> Iterator[tuple[str, str]]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return
    listed = given.get("todos", given.get("plan")) if isinstance(given, dict) else None
    for step in listed if isinstance(listed, list) else ():
        words = (step.get("content") or step.get("step")) if isinstance(step, dict) else None
        if isinstance(words, str) and words.strip():
            yield str(step.get("status", "")).lower(), words


def _last_plan(pieces: Sequence[Piece]) -> int | None:
    return next(
        (place for place in range(len(pieces) - 1, -1, -1) if pieces[place].block.kind == "tool_use" and any(_steps(pieces[place].text))),
        None,
    )


def _sentences(piece: Piece, by: Speaker, answered: set[str | None], tools: dict[str | None, str]) -> Iterator[tuple[ItemKind, str, str]]:
    if by == "summary" or (by == "tool" and tools.get(piece.block.tool_id) in READING_TOOLS and not piece.block.is_error):
        return
    for quote in _without_pastes(piece, answered, by):
        kind = _kind(piece, quote)
        if kind is not None and len(quote.line.split()) >= LEAST_WORDS_OF[kind] and not quote.line.startswith("|"):
            line = _LIST_MARK.sub("", quote.line, count=1)
            yield kind, line, _FIGURES.sub("#", _key(line)) if kind == "error" else _key(line)


def _kind(piece: Piece, quote: Quote) -> ItemKind | None:
    if piece.block.kind == "tool_use":
        return "task"
    if (quote.section in ("Constraints", "Decisions") and quote.line.endswith(("?", "？", ":", "："))) or quote.line.startswith(
        _OF_HARNESS
    ):
        return None
    return _KIND_OF_SECTION.get(quote.section)


def _without_pastes(piece: Piece, answered: set[str | None], by: Speaker) -> Iterable[Quote]:
    if by != "user":
        return piece_quotes(piece, answered)
    if _PASTE.match(piece.text):
        return ()
    own = piece.text.partition("```")[0]
    lines = [line for line in own.split("\n") if len(line) <= MOST_LINE_CHARS and not _PASTE.match(line)]
    asked = piece_quotes(piece._replace(text="\n".join(lines)), answered)
    return (quote for quote in asked if len(quote.line) <= MOST_SENTENCE_CHARS)


def _names(piece: Piece, by: Speaker) -> Iterator[tuple[ItemKind, str, str]]:
    if by not in ("user", "agent") or (by == "user" and _PASTE.match(piece.text)):
        return
    for name in names(said(piece), prose=by == "user"):
        yield name.kind, name.text, name.key


def _key(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!?…")


def _chosen(found: dict[tuple[ItemKind, str], _Found], pieces: int) -> Items:
    items = [
        Item(
            id=f"{kind[0]}{hashlib.sha256(f'{kind}:{key}'.encode('utf-8', 'surrogatepass')).hexdigest()[:9]}",
            kind=kind,
            text=one.text,
            key=key,
            by=one.by,
            uses=len(one.places),
            places=_places(one.places),
            last=(one.last + 1) / pieces,
        )
        for (kind, key), one in found.items()
    ]
    if len(items) <= MOST_ITEMS:
        return Items(items=tuple(items), left_out=0)
    most = {item.id for item in sorted(items, key=lambda item: (-item.uses, -item.last, item.id))[:MOST_ITEMS]}
    return Items(items=tuple(item for item in items if item.id in most), left_out=len(items) - MOST_ITEMS)


def _places(places: dict[BlockId, None]) -> tuple[BlockId, ...]:
    every = tuple(places)
    return every if len(every) <= MOST_PLACES else (*every[: MOST_PLACES - 1], every[-1])
