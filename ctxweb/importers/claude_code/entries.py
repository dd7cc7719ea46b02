"""What the reader keeps of a record: structure without texts.

An entry is a record that can stand on the chain of parents (user, assistant, system, attachment, progress), or one that changes
what was said before (content-replacement).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compaction.messages import Body
from compaction.transcript import Trigger, Usage
from ctxweb.importers.anthropic_content import Piece

EntryKind = Literal["user", "assistant", "system", "attachment", "progress", "content-replacement"]
Mark = Literal["sidechain", "meta", "summary", "unannounced", "no_call"]
"""`unannounced`: a summary that no boundary record of the source stands before, as old versions wrote it."""

UNNAMED = ""
"""Parent of a record that does not name one, or names no text: the record before it stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A full compaction as recorded. Sizes are prompt tokens, None where the record has none or 0.

    `kept` are the uuids of messages that stayed; `segment` names the first and the last of them where only those are given.
    """

    trigger: Trigger
    tokens_before: int | None
    tokens_after: int | None
    kept: tuple[str, ...] = ()
    segment: tuple[str, str] | None = None
    anchor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBoundary:
    """A micro-compaction as recorded: results of the named tool calls, and attachments, were cleared.

    `tokens_before` and `saved` count messages only, not the whole prompt.
    """

    trigger: Trigger
    tokens_before: int | None
    saved: int | None
    tool_ids: tuple[str, ...]
    attachments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """One element of a content-replacement record: its shape is not published, so any of its words may be the tool call's id,
    and its longest text is taken for the new content."""

    words: tuple[str, ...]
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """What few entries have. `logical` is the last record before a compaction; `forked_from` the session that the record was
    copied from; `task_id` the tool call that started the subagent which wrote the record."""

    label: str | None = None
    flags: tuple[str, ...] = ()
    logical: str | None = None
    boundary: Boundary | None = None
    micro: MicroBoundary | None = None
    forked_from: str | None = None
    task_id: str | None = None
    replacements: tuple[Replacement, ...] = ()


NOTHING = Extra()
NOT_REPORTED = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record. `parent` is a uuid, `UNNAMED`, or None for a root. `digest` is that of its content, which tells a copy.

    `call_id` groups the streamed lines of one model call (message.id, else requestId); None: not an answer of the model.
    """

    number: int
    line: int
    kind: EntryKind
    uuid: str | None
    parent: str | None
    session: str
    at: int | None
    digest: bytes
    pieces: tuple[Piece, ...] = ()
    call_id: str | None = None
    model: str | None = None
    agent: str | None = None
    marks: frozenset[Mark] = frozenset()
    extra: Extra = NOTHING

    @property
    def is_message(self) -> bool:
        return self.kind in ("user", "assistant")

    @property
    def is_sidechain(self) -> bool:
        return "sidechain" in self.marks


@dataclass(slots=True, kw_only=True)
class Figures:
    """What the records of one model call report: usage of the last one, time of the first.

    `is_finished`: the last usage came with a stop reason, so its output figure is final.
    """

    at: int | None
    version: str | None
    usage: Usage = NOT_REPORTED
    is_finished: bool = False
    flags: tuple[str, ...] = ()
