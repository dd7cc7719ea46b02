"""Counts and sums of a revision, taken from its rows: the same whether they were just written or changed later.

What was copied from another session counts there, so inherited messages and calls are left
out of every sum, and so are messages that a format adds to its records, like a boundary (`records` 0). A bucket of usage
is None where no call reports it, and flagged where some calls do not.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from compaction.transcript import NO_COMPACTIONS
from ctxweb.models import Block, Compaction, Finding, LedgerEntry, Message, ModelCall, Revision

_IMAGES = "images:"
BUCKETS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")


def figures_of(*, revision: Revision) -> dict[str, Any]:
    """Figures under the names of the session's columns; times are ISO 8601 or None."""
    own = Message.objects.filter(revision=revision, inherited=False)
    times = Message.objects.filter(revision=revision).aggregate(first=Min("at"), last=Max("at"))
    return {
        "started_at": times["first"].isoformat() if times["first"] else None,
        "ended_at": times["last"].isoformat() if times["last"] else None,
        "messages_logged": own.aggregate(total=Sum("records"))["total"] or 0,
        "message_count": Message.objects.filter(revision=revision).count(),
        **_block_figures(revision),
        **_call_figures(revision),
        **_history_figures(revision),
        "findings": Finding.objects.filter(revision=revision).count(),
    }


def _block_figures(revision: Revision) -> dict[str, int]:
    blocks = Block.objects.filter(revision=revision)
    others = Message.objects.filter(Q(inherited=True) | Q(records=0), revision=revision).values("seq")
    own = blocks.exclude(seq__in=others) if others.exists() else blocks
    return {
        "block_count": blocks.count(),
        "tool_calls": _distinct(own.filter(kind="tool_use")),
        "tool_results": _distinct(own.filter(kind="tool_result")),
        "images": own.filter(kind="image").count() + _inner_images(own),
    }


def _inner_images(blocks: Any) -> int:
    """Images inside tool results, each of which is one block: a flag `images:N` counts them."""
    flags = blocks.filter(flags__contains=_IMAGES).values_list("flags", flat=True)
    counts = (flag.removeprefix(_IMAGES) for row in flags for flag in row.split(",") if flag.startswith(_IMAGES))
    return sum(int(count) for count in counts if count.isdigit())


def _distinct(blocks: Any) -> int:
    """Distinct tool ids; blocks without an id count each."""
    counts = blocks.aggregate(named=Count("tool_id", distinct=True, filter=~Q(tool_id="")), unnamed=Count("pk", filter=Q(tool_id="")))
    return int(counts["named"] + counts["unnamed"])


def _call_figures(revision: Revision) -> dict[str, Any]:
    calls = ModelCall.objects.filter(revision=revision, inherited=False)
    sums = calls.aggregate(
        calls=Count("pk"),
        peak=Max("prompt_tokens"),
        **{f"sum_{bucket}": Sum(bucket) for bucket in BUCKETS},
        **{f"known_{bucket}": Count(bucket) for bucket in BUCKETS},
    )
    unknown = {bucket: sums["calls"] - sums[f"known_{bucket}"] for bucket in BUCKETS}
    flags = [f"{bucket}:{count}" for bucket, count in unknown.items() if 0 < count < sums["calls"]]
    if calls.filter(output_reliable=False).exists():
        flags.append("output_unreliable")
    return {
        "call_count": sums["calls"],
        "peak_context": sums["peak"],
        "usage_flags": flags,
        **{bucket: sums[f"sum_{bucket}"] for bucket in BUCKETS},
    }


def _history_figures(revision: Revision) -> dict[str, int]:
    """A block is removed where a layer took it out of the prompt: one that was cleared stays in its place, and what a
    person took back or a new request header replaced is no loss by policy."""
    compactions = Compaction.objects.filter(history__revision=revision, history__origin="recorded", index__isnull=False)
    taken = LedgerEntry.objects.filter(history__revision=revision, history__origin="recorded", adds=False, state_after="")
    by_layers = taken.exclude(compaction__mechanism__in=NO_COMPACTIONS)
    return {
        "recorded_compactions": compactions.filter(origin="recorded").count(),
        "inferred_drops": compactions.filter(origin="inferred").count(),
        "removed_blocks": by_layers.values("seq", "i").distinct().count(),
    }
