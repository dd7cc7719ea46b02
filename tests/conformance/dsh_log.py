"""dsh's session log in the words of the vectors: chunk rows, surface, meter and history."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from compaction.dsh import chunk_rows, recorded
from compaction.dsh.events import content_of, message_of, source_of
from compaction.dsh.metering import Measure, Meter, Pressure
from compaction.dsh.surface import Replacement, Surface, fold_surface
from ctxweb.importers.dsh import load_log
from tests.conformance.calls import Answer, Functions, Given
from tests.conformance.marks import marked


def pack_chunk_rows(given: Given) -> Answer:
    return {"records": chunk_rows.pack_chunk_rows(given["events"])}


def decode_storage_record(given: Given) -> Answer:
    return {"events": chunk_rows.decode_storage_record(given["record"])}


def surface_of(given: Given) -> Answer:
    surface = fold_surface(given["events"])
    return {"surface": surface.nodes, "replacements": [_replacement(each) for each in surface.replacements]}


def session_replay(given: Given) -> Answer:
    surface = Surface()
    meter = Meter(surface)
    for event in takewhile(lambda event: event["seq"] <= given["upto_seq"], _log(given).events):
        meter.take(event, surface.take(event))
    usage, breakdown = meter.usage(), meter.breakdown()
    return {
        "surface": surface.nodes,
        "replacements": len(surface.replacements),
        "measure": _measure(meter.measure()),
        "contextPressure": _pressure(meter.pressure()),
        "contextBreakdown": {
            "systemTokens": breakdown.system,
            "toolsTokens": breakdown.tools,
            "messageTokens": breakdown.messages,
        },
        "tokenUsage": {
            "uncachedInputTokens": usage["inputTokens"],
            "outputTokens": usage["outputTokens"],
            "cacheReadTokens": usage["cacheReadTokens"],
            "cacheWriteTokens": usage["cacheWriteTokens"],
        },
    }


def session_history(given: Given) -> Answer:
    history = recorded.log_history(_log(given).events)
    return {
        "derived_messages": [_message(message_of(event)) for event in history.visible],
        "replacements": [_replacement(each) for each in history.replacements],
        "compactions": [_compaction(each) for each in history.compactions],
        "prunes": [
            {
                "originalSeq": prune.original,
                "replacementSeq": prune.replacement,
                "callId": prune.call_id,
                "charsBefore": prune.chars_before,
                "charsAfter": prune.chars_after,
            }
            for prune in history.prunes
        ],
    }


def load_session(given: Given) -> Answer:
    log = _log(given)
    return {
        "id": log.header.id,
        "cwd": log.header.cwd,
        "events": len(log.events),
        "last_seq": log.events[-1]["seq"],
        "events_sha256": log.digest,
        "truncated_tail": log.is_truncated,
    }


def _log(given: Given) -> Any:
    return load_log(Path(given["files"]["session"]))


def _replacement(found: Replacement) -> Answer:
    return {"seq": found.seq, "start": found.start, "end": found.end, "shadowedSeqs": list(found.shadowed)}


def _measure(found: Measure) -> Answer:
    usage = {} if found.usage is None else {"usage": found.usage}
    return {
        "baseline": {"kind": found.kind, "tokens": found.baseline, **usage},
        "surfaceDeltaTokens": found.delta,
        "totalTokens": found.total,
        "surfaceTokens": found.surface,
        "nodes": [{"seq": seq, "tokens": tokens} for seq, tokens in found.nodes],
    }


def _pressure(found: Pressure) -> Answer:
    figures = {"contextWindow": found.window, "pressureTokens": found.prompt, "projectedTokens": found.projected}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _compaction(found: recorded.RecordedCompaction) -> Answer:
    ends = recorded.shadowed_range(found.shadowed or ())
    return {
        "compactionId": found.id,
        "startSeq": found.start,
        "summarySeq": found.summary,
        "replaceSeq": found.replaced_by,
        "endSeq": found.end,
        "shadowedRange": None if ends is None else {"start": ends[0], "end": ends[1]},
        "shadowedSeqs": None if found.shadowed is None else list(found.shadowed),
        "shadowedTokenCount": found.tokens,
        "status": found.outcome,
    }


def _message(message: Mapping[str, Any]) -> Answer:
    return {
        "role": message["role"],
        "content": [_block(block) for block in content_of(message)],
        "source": source_of(message).get("kind"),
    }


def _block(block: Any) -> Any:
    if block.get("type") == "tool-result":
        return {**block, "content": [_block(inner) for inner in content_of(block)]}
    found = recorded.marked(block["text"]) if block.get("type") == "text" else ""
    if isinstance(found, str):
        return block
    if found.kind == "pruned":
        return {**block, "text": marked("pruned", head=found.head, tail=found.tail)}
    return {"marker": {"kind": found.kind}}


FUNCTIONS: Functions = {
    "pack_chunk_rows": pack_chunk_rows,
    "decode_storage_record": decode_storage_record,
    "fold_surface": surface_of,
    "session_replay": session_replay,
    "session_history": session_history,
    "load_session": load_session,
}
