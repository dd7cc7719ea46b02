"""learn-workbuddy s14 in the words of the vectors: messages, layers and the order of the layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.ask import CallerAsk, SummaryRequest
from compaction.checkpoints import Recognised, recognise
from compaction.counters.units import unit_named
from compaction.layers.base import Layer
from compaction.layers.dedup_file_reads import DedupFileReads
from compaction.layers.prune_old_messages import PruneOldMessages
from compaction.layers.summarise_old import SummariseOld
from compaction.layers.truncate_results import TruncateResults
from compaction.pipeline import CompactedMessages, compact_if_needed
from compaction.policies import policy_named
from compaction.policy import Guard, Policy, Provenance, Stage
from compaction.policy_json import with_settings
from compaction.pricing import Pricer
from compaction.protocol import validate_view
from compaction.wire import read_wire
from tests.conformance.calls import Answer, Functions, Given
from tests.conformance.errors import LAYER_NAMES
from tests.conformance.marks import marked

UNIT = "s14_chars4"
SETTINGS = {
    "token_threshold": "trigger",
    "hard_limit": "hard_limit",
    "max_tool_result_tokens": "truncate_results.max_tool_result_tokens",
    "keep_recent_messages": "prune_old_messages.keep_recent_messages",
}
"""The constants of the program by the names of our settings."""

HERE = Provenance(label="vectors", source="conformance", as_of="2026-10", grade="T")


class Summarizer(CallerAsk):
    """Answers as the vectors say, and remembers what it was given."""

    def __init__(self, stub: Mapping[str, Any] | None = None) -> None:
        super().__init__(self._answer)
        self._stub = stub or {}
        self._requests: list[tuple[int, str]] = []

    def _answer(self, request: SummaryRequest) -> str | None:
        self._requests.append((len(request.messages), "\n".join(request.lines())))
        if self._stub.get("raises"):
            raise RuntimeError("the stub was told to raise")
        answer: str | None = self._stub["returns"]
        return answer

    def figures(self, *, messages: bool) -> Answer:
        called: Answer = {"summarizer_calls": len(self._requests)}
        if self._requests:
            called["summarizer_text"] = self._requests[-1][1]
            if messages:
                called["summarized_messages"] = self._requests[-1][0]
        return called


def estimate_tokens(given: Given) -> Answer:
    return {"tokens": read_wire(given["messages"], Pricer(unit_named(UNIT))).own}


def validate_tool_protocol(given: Given) -> Answer:
    pairs = validate_view(read_wire(given["messages"], Pricer(unit_named(UNIT))))
    return {"interactions": [[pair.tool_id, pair.use.seq - 1, pair.result.seq - 1] for pair in pairs if pair.use and pair.result]}


def truncate_tool_results(given: Given) -> Answer:
    return _one_layer(given, _truncate(given))


def dedup_file_reads(given: Given) -> Answer:
    return _one_layer(given, DedupFileReads())


def prune_old_messages(given: Given) -> Answer:
    return _one_layer(given, _prune(given))


def generate_summary(given: Given) -> Answer:
    ask = Summarizer(given["summarizer"])
    return {**_one_layer(given, SummariseOld(), ask), **ask.figures(messages=True)}


def compact_context(given: Given) -> Answer:
    ask, durable = Summarizer(given["summarizer"]), given["durable_state"]
    settings = {SETTINGS[key]: value for key, value in given.get("config", {}).items() if key in SETTINGS}
    policy = with_settings(policy_named("workbuddy-s14"), settings)
    after = compact_if_needed(given["messages"], policy, ask, durable=durable)
    return {
        **_sizes(after),
        "applied_layers": [LAYER_NAMES[layer] for layer in after.compacted.applied_layers],
        "durable_state_unchanged": after.durable is durable,
        **ask.figures(messages=False),
    }


def _truncate(given: Given) -> TruncateResults:
    return TruncateResults(max_tool_result_tokens=given.get("config", {}).get("max_tool_result_tokens", 5000))


def _prune(given: Given) -> PruneOldMessages:
    return PruneOldMessages(keep_recent_messages=given.get("config", {}).get("keep_recent_messages", 6))


def _one_layer(given: Given, layer: Layer, ask: Summarizer | None = None) -> Answer:
    stages = (Stage(layer=layer, when="always"),)
    policy = Policy(id="layer", title="layer", unit=UNIT, stages=stages, guard=Guard(must_shrink=True), provenance=HERE)
    after = compact_if_needed(given["messages"], policy, ask or Summarizer())
    return {**_sizes(after), "changed": after.messages != given["messages"]}


def _sizes(after: CompactedMessages) -> Answer:
    return {
        "messages": [_shown(message) for message in after.messages],
        "tokens_before": after.compacted.own_before,
        "tokens_after": after.compacted.own_after,
    }


def _shown(message: Mapping[str, Any]) -> Answer:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": _marked_message(content)}
    if isinstance(content, list):
        return {**message, "content": [_marked_block(block) for block in content]}
    return dict(message)


def _marked_block(block: Any) -> Any:
    if not isinstance(block, Mapping) or block.get("type") != "tool_result" or not isinstance(block.get("content"), str):
        return block
    text = block["content"]
    found = recognise(text, "result")
    if found is None or found.mark.system != "s14":
        return block
    head = next((text[: match.start()] for match in found.mark.pattern.finditer(text) if match.end() == len(text)), None)
    return block if head is None else {**block, "content": marked("truncated", head=head, **_numbers(found))}


def _numbers(found: Recognised) -> dict[str, Any]:
    return {name: int(figure) for name, figure in found.figures.items()}


def _marked_message(text: str) -> str | Answer:
    found = recognise(text, "message")
    if found is None or found.mark.system != "s14":
        return text
    if found.mark.kind == "acknowledgement":
        return marked("summary_ack")
    return marked("summary", tail=text.partition("\n")[2])


FUNCTIONS: Functions = {
    "estimate_tokens": estimate_tokens,
    "validate_tool_protocol": validate_tool_protocol,
    "truncate_tool_results": truncate_tool_results,
    "dedup_file_reads": dedup_file_reads,
    "prune_old_messages": prune_old_messages,
    "generate_summary": generate_summary,
    "compact_context": compact_context,
}
