"""dsh in the words of the vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from compaction.checkpoints import CLOSING_TAG, OPENING_TAG
from compaction.dsh import content as contents
from compaction.dsh import estimates, options
from compaction.dsh.segments import encode_segment
from compaction.dsh.spill import ACCEPT, SpillPolicy
from compaction.errors import OptionError
from compaction.ranges import Weight, compactable
from compaction.retain import ByteBudget, ItemRetainer, TextRetainer
from compaction.spill import Call
from tests.conformance import dsh_log
from tests.conformance.calls import Answer, Functions, Given
from tests.conformance.errors import Renamed
from tests.conformance.marks import marked
from tests.conformance.stores import StubStore


def estimate_content(given: Given) -> Answer:
    content = given["content"]
    return {"content": estimates.estimate_content(content), "message": estimates.estimate_message(content)}


def estimate_header(given: Given) -> Answer:
    header = estimates.estimate_header(given["header"])
    return {"system": header.system, "tools": header.tools, "header": header.total}


def prune_content(given: Given) -> Answer:
    sizes = contents.prune_sizes(given.get("config", {}))
    content = given["content"]
    pruned = contents.prune_content(content, sizes)
    return {"measure": contents.text_chars(content), "pruned": None if pruned is None else list(map(_kept_block, pruned))}


def text_retainer(given: Given) -> Answer:
    strategy = given["strategy"]
    names = _BUDGETS[strategy["kind"]]
    with _budgets(names):
        retainer = TextRetainer(ByteBudget(**{side: strategy[name] for side, name in names.items()}))
    pushes = []
    for chunk in given["chunks"]:
        kept = retainer.push(chunk if isinstance(chunk, str) else bytes(chunk))
        pushes.append({"kept": kept, "truncated": retainer.truncated})
    finish = retainer.finish()
    omitted = {"kind": "exact", "count": finish.omitted_bytes} if finish.truncated else {"kind": "none"}
    return {"pushes": pushes, "finish": {"text": finish.text, "truncated": finish.truncated, "omittedBytes": omitted}}


def item_retainer(given: Given) -> Answer:
    with _budgets({"items": "maxItems"}):
        retainer = ItemRetainer[Any](given["max_items"])
    for item in given["items"]:
        retainer.push(item)
    omitted = {"kind": "exact", "count": retainer.omitted} if retainer.omitted else {"kind": "none"}
    return {
        "items": retainer.items,
        "truncated": retainer.omitted > 0,
        "seen": retainer.seen,
        "kept": len(retainer.items),
        "omitted": omitted,
    }


def spill_policy(given: Given) -> Answer:
    store = StubStore.of(given)
    policy = SpillPolicy(
        max_inline_bytes=given["max_inline_bytes"], store=store.save if store.exists else None, has_owner=not given["no_owner"]
    )
    if not policy.enabled:
        return {"enabled": False}
    call = Call(tool_name=given["tool_name"], nested=given["nested"])
    result = policy.decide(given["content"], call, given.get("decision", ACCEPT))
    answer: Answer = {"enabled": True, "decision": dict(result.decision), "warning": result.warning, "stored": store.saved}
    if result.spilled is not None:
        spilled = result.spilled
        text = marked("spilled", head=spilled.preview, omitted_bytes=spilled.omitted_bytes, locator=spilled.stored.locator)
        answer["decision"]["content"] = [{"type": "text", "text": text}]
        answer["bytes"] = spilled.size
    return answer


def frame_summary(given: Given) -> Answer:
    frame = contents.frame_summary(given["summary"], given["preamble"])
    assert frame.opening == f"{given['preamble']}\n\n{OPENING_TAG}"
    assert frame.closing == CLOSING_TAG
    opening, closing = ({"marker": {"kind": kind}} for kind in ("checkpoint_open", "checkpoint_close"))
    return {"blocks": [opening, *frame.summary, closing], "tokens": frame.tokens}


def select_compactable_range(given: Given) -> Answer:
    nodes = given["nodes"]
    weights = [Weight(tokens=node["tokens"], opens=node["opens"], closes=node["closes"]) for node in nodes]
    count = compactable(weights, given["retain_tokens"])
    return {"range": {"start": nodes[0]["seq"], "end": nodes[count - 1]["seq"]} if count else None}


def resolve_config(given: Given) -> Answer:
    return dict(options.resolve_config(given["options"]))


def resolve_compact_spec(given: Given) -> Answer:
    target = options.Target(**given["target"])
    spec = options.resolve_compact_spec(given["options"], context_window=given["context_window"], target=target)
    return {
        "target": asdict(spec.target),
        "contextWindow": spec.context_window,
        "thresholdRatio": spec.threshold_ratio,
        "thresholdTokens": spec.threshold_tokens,
        "retainTokens": spec.retain_tokens,
        "summarizationProvider": spec.summarizer.provider,
        "summarizationModel": spec.summarizer.model,
        "maxTokens": spec.max_tokens,
        "compactionRetries": spec.compaction_retries,
        "maxOverflowRetries": spec.max_overflow_retries,
    }


def segment(given: Given) -> Answer:
    return {"segment": encode_segment(given["value"])}


def _kept_block(kept: contents.KeptBlock) -> Answer:
    block = dict(kept.block)
    return block if kept.cut is None else {**block, "text": marked("pruned", head=kept.cut.head, tail=kept.cut.tail)}


@contextmanager
def _budgets(names: Mapping[str, str]) -> Iterator[None]:
    try:
        yield
    except OptionError as error:
        raise Renamed(error, {"field": names[error.key or ""]}) from error


_BUDGETS = {"head": {"head": "maxBytes"}, "tail": {"tail": "maxBytes"}, "headTail": {"head": "headBytes", "tail": "tailBytes"}}

FUNCTIONS: Functions = {
    **dsh_log.FUNCTIONS,
    "estimate_content": estimate_content,
    "estimate_header": estimate_header,
    "prune_content": prune_content,
    "text_retainer": text_retainer,
    "item_retainer": item_retainer,
    "spill_policy": spill_policy,
    "frame_summary": frame_summary,
    "select_compactable_range": select_compactable_range,
    "resolve_config": resolve_config,
    "resolve_compact_spec": resolve_compact_spec,
    "encode_segment": segment,
}
