"""learn-claude-code s08 in the words of the vectors."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compaction.ask import CallerAsk
from compaction.checkpoints import recognise
from compaction.counters.units import unit_named
from compaction.layers.base import Layer
from compaction.layers.clear_old_results import ClearOldResults
from compaction.layers.result_budget import ResultBudget
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.summarise_everything import SummariseEverything
from compaction.layers.summarise_reactive import SummariseReactive
from compaction.limits import Limits
from compaction.persist import FolderStore, Persisted, persist, stored_name
from compaction.pricing import Pricer
from compaction.view import Applied, PromptView, ViewMessage
from compaction.wire import read_wire, write_wire
from tests.conformance.calls import Answer, Functions, Given
from tests.conformance.marks import marked

SUMMARIES = {"[Compacted]\n\n": "compacted", "[Reactive compact]\n\n": "reactive_compact"}


class RecordingAsk(CallerAsk):
    """Answers as the vectors say, and remembers what it was asked."""

    def __init__(self, stub: Mapping[str, Any] | None = None) -> None:
        super().__init__(self._answer)
        self._stub = stub or {}
        self.summarised: list[int] = []
        self.archived: list[dict[str, object]] = []
        self.stored: dict[str, str] = {}

    def _answer(self, request: Any) -> str | None:
        self.summarised.append(len(request.messages))
        if self._stub.get("raises"):
            raise RuntimeError("the stub was told to raise")
        summary: str | None = self._stub["returns"]
        return summary

    def store(self, text: str, name: str) -> str | None:
        self.stored[name] = text
        return name

    def archive(self, view: PromptView) -> str | None:
        self.archived = [dict(message) for message in write_wire(view)]
        return "archive"


def estimate_size(given: Given) -> Answer:
    return {"chars": _view(given).own}


def snip_compact(given: Given) -> Answer:
    applied = _run(SnipMessages(max_messages=given["max_messages"]), given)
    return {"view": _indices(applied), "changed": bool(applied.edits)}


def micro_compact(given: Given) -> Answer:
    applied = _run(ClearOldResults(), given)
    return {"messages": _marked_messages(applied), "changed": bool(applied.edits)}


def tool_result_budget(given: Given) -> Answer:
    ask = RecordingAsk()
    applied = _run(ResultBudget(batch_chars=given["max_chars"]), given, ask)
    edited = {edit.block for edit in applied.edits}
    persisted = {visible.block.tool_id: visible.body.chars for visible in applied.before.blocks if visible.block.id in edited}
    return {"messages": _marked_messages(applied, ask.stored), "persisted": persisted}


def persist_large_output(given: Given) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(folder=Path(folder) / "store")
        older = given.get("existing_stored_text")
        if older is not None:
            store.store(older, stored_name(older, given["tool_use_id"]))
        result = persist(given["output"], given["tool_use_id"], store.store)
        return {"persisted": False} if result is None else {"persisted": True, **_read_back(result, store)}


def compact_history(given: Given) -> Answer:
    ask = RecordingAsk(given["summarizer"])
    applied = _run(SummariseEverything(), given, ask)
    answer = {"messages": _marked_messages(applied), "changed": bool(applied.edits), "summarizer_calls": len(ask.summarised)}
    return {**answer, "archived_messages": ask.archived} if applied.edits else answer


def reactive_compact(given: Given) -> Answer:
    ask = RecordingAsk(given["summarizer"])
    applied = _run(SummariseReactive(), given, ask)
    return {
        "view": _indices(applied),
        "summarized_messages": sum(ask.summarised),
        "summarizer_calls": len(ask.summarised),
        "changed": bool(applied.edits),
    }


def _view(given: Given) -> PromptView:
    return read_wire(given["messages"], Pricer(unit_named("s08_repr")))


def _run(layer: Layer, given: Given, ask: RecordingAsk | None = None) -> Applied:
    view = _view(given)
    return view.apply(layer.plan(view, Limits(), ask or RecordingAsk()), layer=layer.id)


def _read_back(result: Persisted, store: FolderStore) -> Answer:
    path = Path(result.pointer)
    return {
        "original_chars": result.original_chars,
        "preview": result.preview,
        "stored_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "inside_store": path.resolve().is_relative_to(store.folder.resolve()),
    }


def _indices(applied: Applied) -> list[object]:
    """The new view as places of the old one; what was put as its mark."""
    places = {message.ids: index for index, message in enumerate(applied.before.messages)}
    return [places[message.ids] if message.ids in places else _put(message, applied.view) for message in applied.view.messages]


def _put(message: ViewMessage, view: PromptView) -> dict[str, object]:
    mark = _marked_text(view.pricer.text(message.blocks[0].body), "message", {})
    assert isinstance(mark, dict)
    return {"marker": mark["marker"], "text": mark["tail"]} if mark["tail"] else {"marker": mark["marker"]}


def _marked_messages(applied: Applied, stored: Mapping[str, str] | None = None) -> list[dict[str, object]]:
    """The wire messages with each mark in the words of the vectors. `stored`: what the store holds, by pointer."""
    return [_marked_message(message, stored or {}) for message in write_wire(applied.view)]


def _marked_message(message: Mapping[str, object], stored: Mapping[str, str]) -> dict[str, object]:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": _marked_text(content, "message", stored)}
    return {**message, "content": [_marked_block(block, stored) for block in content]} if isinstance(content, Sequence) else dict(message)


def _marked_block(block: Mapping[str, object], stored: Mapping[str, str]) -> dict[str, object]:
    content = block.get("content")
    return {**block, "content": _marked_text(content, "result", stored)} if isinstance(content, str) else dict(block)


def _marked_text(text: str, where: Any, stored: Mapping[str, str]) -> object:
    found = recognise(text, where)
    if found is None or found.mark.system != "s08":
        return text
    for opening, kind in SUMMARIES.items():
        if text.startswith(opening):
            return marked(kind, tail=text.removeprefix(opening))
    if found.mark.kind == "hidden":
        return marked("snipped", messages=int(found.figures["messages"]))
    if found.mark.kind == "spilled":
        original = stored[found.figures["path"]]
        preview = text.partition("\nPreview:\n")[2].removesuffix("\n</persisted-output>")
        return marked("persisted_output", original_chars=len(original), preview_chars=len(preview), preview=preview)
    return marked("earlier_result_compacted")


FUNCTIONS: Functions = {
    "estimate_size": estimate_size,
    "snip_compact": snip_compact,
    "micro_compact": micro_compact,
    "tool_result_budget": tool_result_budget,
    "persist_large_output": persist_large_output,
    "compact_history": compact_history,
    "reactive_compact": reactive_compact,
}
