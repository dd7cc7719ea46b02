"""What an importer yields: a lane as a sequence of events, from which one fold makes every view.

The view of a call is what was sent to the model. It is built by these rules only:

- `Appended` logs a message under the next dense `seq`. It does not enter the view by itself.
- `Shown` lets logged messages enter the view at its end, in the given order.
- `Edited` applies the edits of one recorded compaction, rewind or clear to the view, as one batch.
- `Called` says that the view, as it stands, was the prompt of a model call. The answer is shown afterwards.
- `Noted` attaches a finding to a place; it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from compaction.messages import BlockId, BlockState, Body, Message

Verb = Literal["truncate", "clear", "replace", "spill", "remove", "summarise", "restore"]
Mechanism = Literal[
    "truncate_output",
    "dedup",
    "mask_tool_result",
    "clear_tool_result",
    "clear_thinking",
    "prune_head_tail",
    "snip_messages",
    "sliding_window",
    "summary",
    "checkpoint_replace",
    "remote_opaque",
    "spill",
    "request_header",
    "rewind",
    "revert",
    "clear",
    "unknown",
]
Trigger = Literal["auto", "manual", "overflow", "idle", "hook", "model_switch", "server", "unknown"]
Status = Literal["ok", "failed", "noop", "orphaned"]
CompactionOrigin = Literal["recorded", "inferred", "replayed"]
Fidelity = Literal["exact", "derived", "approx", "opaque"]
LaneKind = Literal["main", "subagent", "fork"]

USER_ACTIONS: frozenset[Mechanism] = frozenset({"rewind", "revert", "clear"})
"""Mechanisms that a person asked for: in the ledger, never counted as a loss by policy."""

HARNESS_CHANGES: frozenset[Mechanism] = frozenset({"request_header"})
"""Another system prompt, or other tools, in front of the same messages: what went was replaced, not compacted."""

NO_COMPACTIONS: frozenset[Mechanism] = USER_ACTIONS | HARNESS_CHANGES
"""Mechanisms that change a view and are no compaction."""

AFTER_REFUSAL = "after_refusal"
"""Flag of a model call before which the provider refused a request as too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call as the provider reported them, in four disjoint buckets; None = not reported.

    `input_tokens` is what was neither read from nor written to a cache.
    """

    input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_read_tokens: int | None = None
    output_tokens: int | None = None
    cache_ttl_seconds: int | None = None
    reasoning_tokens: int | None = None

    @property
    def prompt_tokens(self) -> int | None:
        """Size of the prompt: input + cache read + cache write, None when the input is unknown."""
        if self.input_tokens is None:
            return None
        return self.input_tokens + (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request to the model, numbered 1…n in the file order of its first record within the lane.

    `seq` is the first message of its answer. `previous` is the call before it on its own path, None for a first one.
    `output_reliable` is False where the producer logs the first streamed figure only.
    """

    n: int
    seq: int | None
    line: int
    usage: Usage
    native_id: str | None = None
    model: str | None = None
    at: int | None = None
    context_window: int | None = None
    previous: int | None = None
    abandoned: bool = False
    inherited: bool = False
    fidelity: Fidelity = "derived"
    output_reliable: bool = True
    producer_version: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change to a view, in one of two shapes.

    State edit: `block` gets `state` and, where it is known, the content `body`; `unit_tokens` is its size when the
    content is not known (a cleared result's placeholder).
    Range edit: `takes` leave the view together; the messages `puts` (already `Appended`) stand directly after the block
    `after` where it is given, else at the position of the first block taken, else at the end. Blocks
    that are in the view already stay where they are; one that comes back comes in the state in which it left.
    `layer` planned the edit, None where a source recorded it.
    """

    verb: Verb
    block: BlockId | None = None
    state: BlockState | None = None
    body: Body | None = None
    unit_tokens: int | None = None
    takes: tuple[BlockId, ...] = ()
    puts: tuple[int, ...] = ()
    after: BlockId | None = None
    layer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """One run of edits at one place between two calls, as recorded, replayed or inferred.

    `line` is the physical line of the record that tells of it. `tokens_before` and `tokens_after` are what the source
    reports, on the scale that `scale` names (`prompt`: a call's prompt; `messages`: messages only), else None.
    `before_call` (the call that first saw the result) and `layer` are filled by the fold and the policy.
    """

    mechanism: Mechanism
    line: int
    edits: tuple[Edit, ...] = ()
    origin: CompactionOrigin = "recorded"
    trigger: Trigger = "unknown"
    status: Status = "ok"
    tokens_before: int | None = None
    tokens_after: int | None = None
    scale: Literal["prompt", "messages"] = "prompt"
    layer: str | None = None
    native_id: str | None = None
    at: int | None = None
    detached: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a reader must be told. `code` names it, `line` and `seq` say where; `detail` holds ids and sizes only."""

    code: str
    line: int | None = None
    seq: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """A message was logged under the next seq. It is in no view yet."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Logged messages entered the view at its end, in this order."""

    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """`base`: the blocks of the branch that the compaction belongs to, when that is not the current view
    (`compaction.detached`); the edits are then booked against those blocks and the current view stays as it is."""

    compaction: Compaction
    base: tuple[BlockId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The view, as it stands, was the prompt of this call."""

    call: ModelCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something that a reader of the lane must be told."""

    finding: Finding


Event = Appended | Shown | Edited | Called | Noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One lane of a session file and its events. `key` is the native key from which its public id is made
    (`compaction`-stable across growth: native id and first record); `parent_key` that of the lane it hangs on.
    `source_format` is the format that it was written in first, where it comes by way of an export."""

    key: str
    native_id: str | None
    kind: LaneKind
    events: Iterable[Event]
    parent_key: str | None = None
    parent_native_id: str | None = None
    parent_tool_id: str | None = None
    title: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    model: str | None = None
    producer: str | None = None
    producer_version: str | None = None
    context_window: int | None = None
    continues: str | None = None
    source_format: str | None = None
    record_numbers: tuple[int, ...] = ()
