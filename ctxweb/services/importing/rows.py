"""Rows of the published tables, from the frozen values of the core. Each `…_COLUMNS` names the order of its `…_row`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from compaction.history import BlockLife, CallSize, FoldedCompaction, LedgerEntry, Span
from compaction.messages import Block, Message
from compaction.transcript import Finding, ModelCall
from ctxweb.models import Span as SpanRow
from ctxweb.services.importing.bodies import StoredBody

FLAGS_CHARS = 200
TEXT_CHARS = 500  # of ids, names and paths: some are indexed, and PostgreSQL indexes no more than 2,700 bytes
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS = 253_402_300_799_000  # the end of the year 9999; what lies outside is no time

MESSAGE_COLUMNS = (
    "revision_id", "seq", "role", "origin", "line", "record", "records", "native_id", "at", "model", "call", "label",
    "visible", "inherited", "abandoned", "flags",
)  # fmt: skip
BLOCK_COLUMNS = (
    "revision_id", "seq", "i", "kind", "body_id", "state", "tokens", "exact", "estimate", "chars", "tool_id", "tool_name",
    "path", "pointer", "media_type", "media_bytes", "signature_chars", "is_error", "excerpt", "flags", "end",
)  # fmt: skip
CALL_COLUMNS = (
    "revision_id", "n", "seq", "line", "native_id", "model", "at", "previous", "abandoned", "inherited", "copied",
    "input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens", "output_reliable", "cache_ttl_seconds",
    "prompt_tokens", "context_window", "estimate", "block_count", "kinds", "fidelity", "unexplained", "epoch_anchor",
    "producer_version", "flags",
)  # fmt: skip
FINDING_COLUMNS = ("revision_id", "ordinal", "code", "line", "seq", "detail")
SPAN_COLUMNS = ("history_id", "seq", "i", "state", "from_call", "to_call", "position", "estimate", "tokens", "body")
ENTRY_COLUMNS = (
    "history_id", "compaction_id", "ordinal", "verb", "layer", "seq", "i", "adds", "state_before", "state_after",
    "tokens_before", "tokens_after", "never_sent", "body_after", "own_before", "own_after", "exact_before", "exact_after", "pointer",
)  # fmt: skip
COMPACTION_COLUMNS = (
    "history_id", "ordinal", "index", "before_call", "line", "origin", "mechanism", "layer", "trigger", "status", "scale",
    "native_id", "at", "detached", "tokens_before", "tokens_after", "reported_before", "reported_after", "estimate_before",
    "removed", "added", "estimate_after", "entered", "unexplained_before", "unexplained_after", "edits", "never_sent",
    "evidence", "flags", "own_before", "own_after", "exact_before", "exact_after", "reports",
)  # fmt: skip
UNMEASURED = (None, None, None, None)  # a recorded edit has no policy, and so no unit of its own


def time_of(milliseconds: int | None) -> datetime | None:
    if milliseconds is None or not 0 <= milliseconds <= _LATEST_MS:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def text_of(value: str | None) -> str:
    """An id, name or path as a column holds it: bounded, without NUL, empty where it is unknown."""
    return (value or "")[:TEXT_CHARS].replace("\0", "\u2400")


def message_row(revision_id: int, message: Message) -> tuple[Any, ...]:
    return (
        revision_id, message.seq, message.role, message.origin, message.line, message.record, message.records, text_of(message.native_id),
        time_of(message.at), text_of(message.model), message.call, text_of(message.label), message.visible,
        message.inherited, message.abandoned,
        _flags(message.flags),
    )  # fmt: skip


def block_row(revision_id: int, block: Block, stored: StoredBody, estimate: int) -> tuple[Any, ...]:
    return (
        revision_id, block.id.seq, block.id.i, block.kind, stored.id, block.state, stored.tokens,
        stored.exact, estimate, block.body.chars,
        text_of(block.tool_id), text_of(block.tool_name), text_of(block.path), text_of(block.pointer),
        text_of(block.media_type), block.media_bytes,
        block.signature_chars, block.is_error, stored.excerpt, _flags(block.flags), "never_sent",
    )  # fmt: skip


def call_row(revision_id: int, call: ModelCall, size: CallSize, *, unexplained: int | None, anchor: int | None) -> tuple[Any, ...]:
    usage = call.usage
    return (
        revision_id, call.n, call.seq, call.line, text_of(call.native_id), text_of(call.model),
        time_of(call.at), call.previous, call.abandoned,
        call.inherited, False, usage.input_tokens, usage.cache_write_tokens, usage.cache_read_tokens, usage.output_tokens,
        call.output_reliable, usage.cache_ttl_seconds, usage.prompt_tokens, call.context_window, size.estimate, size.blocks,
        list(size.kinds), call.fidelity, unexplained, anchor, text_of(call.producer_version), _flags(call.flags),
    )  # fmt: skip


def finding_row(revision_id: int, ordinal: int, finding: Finding) -> tuple[Any, ...]:
    return revision_id, ordinal, finding.code[:40], finding.line, finding.seq, text_of(finding.detail)


def span_row(history_id: int, span: Span, tokens: Mapping[bytes, int]) -> tuple[Any, ...]:
    body = None if span.body is None else span.body.digest
    to_call = SpanRow.STILL_VISIBLE if span.to_call is None else span.to_call
    return (
        history_id, span.block.seq, span.block.i, span.state, span.from_call, to_call, span.position, span.estimate,
        None if body is None else tokens.get(body), body,
    )  # fmt: skip


def life_row(revision_id: int, block: tuple[int, int], life: BlockLife) -> tuple[Any, ...]:
    return life.first_call, life.last_call, life.end, revision_id, *block


def entry_row(
    history_id: int,
    ordinal: int,
    entry: LedgerEntry,
    compaction: tuple[int, str],
    *,
    sizes: tuple[int | None, ...] = UNMEASURED,
    pointer: str = "",
) -> tuple[Any, ...]:
    """`sizes`: before and after in the policy's own unit, and in exact tokens."""
    compaction_id, layer = compaction
    return (
        history_id, compaction_id, ordinal, entry.verb, layer, entry.block.seq, entry.block.i, entry.adds, entry.state_before or "",
        entry.state_after or "", entry.tokens_before, entry.tokens_after, entry.never_sent,
        None if entry.body_after is None else entry.body_after.digest, *sizes, pointer,
    )  # fmt: skip


def compaction_row(
    history_id: int,
    folded: FoldedCompaction,
    beside: Mapping[str, Any],
    *,
    sizes: tuple[int | None, ...] = UNMEASURED,
    reports: Sequence[Mapping[str, Any]] = (),
) -> tuple[Any, ...]:
    """`beside`: what the calls around it report: reported_before/after, unexplained_before/after, entered, evidence. `sizes`: the
    view before and after in the policy's own unit, and in exact tokens; `reports`: what each layer did."""
    compaction = folded.compaction
    return (
        history_id, folded.ordinal, folded.index, folded.before_call, compaction.line, compaction.origin, compaction.mechanism,
        layer_of(folded), compaction.trigger, compaction.status, compaction.scale, text_of(compaction.native_id), time_of(compaction.at),
        compaction.detached, compaction.tokens_before, compaction.tokens_after, beside["reported_before"], beside["reported_after"],
        folded.estimate_before, folded.removed, folded.added, folded.estimate_after, beside["entered"], beside["unexplained_before"],
        beside["unexplained_after"], folded.edits, folded.never_sent, beside["evidence"], _flags(compaction.flags), *sizes,
        list(reports),
    )  # fmt: skip


def layer_of(folded: FoldedCompaction) -> str:
    """The layer that took part: for a recorded compaction, where the producer names none, its mechanism."""
    return folded.compaction.layer or folded.compaction.mechanism


def _flags(flags: tuple[str, ...]) -> str:
    return ",".join(flags)[:FLAGS_CHARS]
