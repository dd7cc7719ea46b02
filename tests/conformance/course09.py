"""mini-harness 09 in the words of the vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from compaction.checkpoints import CLOSING_TAG, OPENING_TAG
from compaction.course09 import checkpoint, estimates
from compaction.course09.log import LogEvent, SessionLog
from compaction.course09.segments import safe_segment
from compaction.course09.spill import SpillTransform
from compaction.errors import SummarizerError
from compaction.prune import PRUNE_MARK, PruneSizes, prune_text
from compaction.retain import head_tail_utf8
from compaction.spill import Call, byte_size
from tests.conformance.calls import Answer, Functions, Given
from tests.conformance.marks import marked
from tests.conformance.stores import StubStore


def estimate_tokens(given: Given) -> Answer:
    return {"tokens": estimates.estimate_text(given["text"])}


def estimate_message(given: Given) -> Answer:
    return {"tokens": estimates.estimate_message(given["content"])}


def estimate_tools(given: Given) -> Answer:
    return {"tokens": estimates.estimate_tools(given["tools"])}


def meter_pressure(given: Given) -> Answer:
    contents = [message["content"] for message in given["messages"]]
    pressure = estimates.measure_pressure(contents, tools=given["tools"], window=given["context_window"])
    return {
        "message_tokens": pressure.message_tokens,
        "tools_tokens": pressure.tools_tokens,
        "total_tokens": pressure.total_tokens,
        "per_message": list(pressure.per_message),
        "ratio": pressure.ratio,
        "over_threshold": pressure.over_threshold,
    }


def pressure_climb(given: Given) -> Answer:
    turns, window = _turns(given), given["context_window"]
    climb = estimates.pressure_climb([turn.content for turn in turns], window=window)
    return {
        "per_message": list(climb[-1].per_message),
        "ratios_of_prefixes": [round(pressure.ratio, 4) for pressure in climb],
        "total_tokens": climb[-1].total_tokens,
        "tail_start": checkpoint.tail_start(turns, window),
    }


def prune_content(given: Given) -> Answer:
    pruned = prune_text(given["text"], _sizes(given))
    return {"text": None if pruned is None else marked("pruned", head=pruned.head, tail=pruned.tail)}


def prune_session(given: Given) -> Answer:
    log = SessionLog.of(_events(given))
    first = log.pruned(_sizes(given))
    second = first.log.pruned(_sizes(given))
    return {
        "first": {"pruned": first.pruned, "chars_removed": first.chars_removed},
        "second": {"pruned": second.pruned, "chars_removed": second.chars_removed},
        "appended_events": [_event(event) for event in first.log.events[len(log.events) :]],
        "derived": [
            {**asdict(message), "content": _pruned_text(message.content), "tool_calls": list(message.tool_calls)}
            for message in first.log.messages()
        ],
    }


def session_replay(given: Given) -> Answer:
    return {"contents": [message.content for message in SessionLog.of(_events(given)).messages()]}


def spill_transform(given: Given) -> Answer:
    store = StubStore.of(given)
    transform = SpillTransform(max_inline_bytes=given["max_inline_bytes"], store=store.save if store.exists else None)
    result = transform(given["text"], Call(tool_name=given["tool_name"], nested=given["nested"]))
    if result is None:
        return {"changed": False, "text": None, "bytes": byte_size(given["text"]), "stored": store.saved}
    text = marked("spilled", head=result.preview, omitted_bytes=result.omitted_bytes, locator=result.stored.locator)
    return {"changed": True, "text": text, "bytes": result.size, "stored": store.saved}


def head_tail(given: Given) -> Answer:
    return {"text": head_tail_utf8(given["text"], given["budget_bytes"])}


def segment(given: Given) -> Answer:
    return {"segment": safe_segment(given["value"], given["fallback"])}


def select_shadowed_start(given: Given) -> Answer:
    return {"tail_start": checkpoint.tail_start(_turns(given), given["context_window"])}


def build_checkpoint_message(given: Given) -> Answer:
    turn = checkpoint.checkpoint_turn(given["summary"], given["preamble"])
    content = turn.content or ""
    before, after = f"{given['preamble']}\n\n{OPENING_TAG}\n", f"\n{CLOSING_TAG}"
    assert content.startswith(before)
    assert content.endswith(after)
    summary = content[len(before) : len(content) - len(after)]
    return {"role": turn.role, "content": marked("checkpoint", tail=summary), "tokens": estimates.estimate_message(content)}


def compact(given: Given) -> Answer:
    answers = iter(given["summaries"])

    def summarize(turns: object) -> str | None:
        answer = next(answers)
        if isinstance(answer, dict):
            raise SummarizerError("the stub was told to raise")
        return str(answer)

    outcome = checkpoint.compact(
        _turns(given), summarize, window=given["context_window"], retries=given["retries"], preamble=given["preamble"]
    )
    last = outcome.last
    return {
        "ok": last is not None,
        "reason": outcome.reason,
        "shadowed_count": last.count if last else 0,
        "shadowed_tokens": last.tokens if last else 0,
        "checkpoint_tokens": last.checkpoint_tokens if last else 0,
        "attempts": len(outcome.calls),
        "messages_before": len(outcome.before),
        "messages_after": len(outcome.after),
        "tokens_before": outcome.tokens_before,
        "tokens_after": outcome.tokens_after,
        "calls": list(outcome.calls),
    }


def _turns(given: Given) -> tuple[checkpoint.Turn, ...]:
    return tuple(checkpoint.Turn(role=message["role"], content=message["content"]) for message in given["messages"])


def _sizes(given: Given) -> PruneSizes:
    return PruneSizes(threshold_chars=given["threshold_chars"], head_chars=given["head_chars"], tail_chars=given["tail_chars"])


def _events(given: Given) -> Iterator[LogEvent]:
    for event in given["events"]:
        yield LogEvent(id=event["id"], type=event["type"], fields=event["data"])


def _event(event: LogEvent) -> Answer:
    fields = {key: _pruned_text(value) if key == "content" else value for key, value in event.fields.items()}
    return {"id": event.id, "type": event.type, "data": fields}


def _pruned_text(content: Any) -> Any:
    if not isinstance(content, str) or PRUNE_MARK not in content:
        return content
    head, _, tail = content.partition(PRUNE_MARK)
    return marked("pruned", head=head, tail=tail)


FUNCTIONS: Functions = {
    "estimate_tokens": estimate_tokens,
    "estimate_message": estimate_message,
    "estimate_tools": estimate_tools,
    "meter_pressure": meter_pressure,
    "pressure_climb": pressure_climb,
    "prune_content": prune_content,
    "prune_session": prune_session,
    "session_replay": session_replay,
    "spill_transform": spill_transform,
    "head_tail_utf8": head_tail,
    "safe_segment": segment,
    "select_shadowed_start": select_shadowed_start,
    "build_checkpoint_message": build_checkpoint_message,
    "compact": compact,
}
