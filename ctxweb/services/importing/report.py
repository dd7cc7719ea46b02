"""The object that an import prints for a lane (docs/importing.md)."""

from __future__ import annotations

from typing import Any

from ctxweb.models import Compaction, Revision
from ctxweb.services.importing.figures import BUCKETS


def lane_object(*, revision_id: int, name: str, sha256: str, status: str) -> dict[str, Any]:
    """The figures of one revision; those of its session where it is the current one."""
    revision = Revision.objects.select_related("session__parent").get(pk=revision_id)
    session, facts, figures = revision.session, revision.facts, revision.figures
    parent = None if session is None or session.parent is None else session.parent.public_id
    return {
        "source": name,
        "sha256": sha256,
        "format": facts["format"],
        "status": status,
        "session": facts["public_id"],
        "native_id": facts["native_id"] or None,
        "lane": facts["lane"],
        "parent": parent,
        "records": figures["record_count"],
        "verdicts": figures["verdicts"],
        "messages": figures["messages_logged"],
        "model_calls": figures["call_count"],
        "tool_calls": figures["tool_calls"],
        "tool_results": figures["tool_results"],
        "images": figures["images"],
        "usage": {bucket: figures[bucket] for bucket in BUCKETS},
        "peak_context": figures["peak_context"],
        "compactions": [_compaction(row) for row in _listed(revision)],
        "error": None,
    }


def _listed(revision: Revision) -> Any:
    rows = Compaction.objects.filter(history__revision=revision, history__origin="recorded", index__isnull=False)
    return rows.order_by("index")


def _compaction(row: Compaction) -> dict[str, Any]:
    after = row.tokens_after
    if after is None and row.scale == "prompt":
        after = row.reported_after  # what the record does not say, the first prompt behind it does
    return {
        "index": row.index,
        "line": row.line,
        "origin": row.origin,
        "mechanism": row.mechanism,
        "trigger": row.trigger,
        "status": row.status,
        "tokens_before": row.tokens_before,
        "tokens_after": after,
        "edits": row.edits,
    }
