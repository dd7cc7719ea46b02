"""The answer as its streamed chunks tell it: what a meter prices before the message itself is logged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compaction.dsh.estimates import estimate_message
from compaction.dsh.events import JsonObject, content_of, data_of, message_of, number_of, type_of

_TEXT_OF_DELTA = {
    "text-delta": ("text", "text"),
    "reasoning-delta": ("reasoning", "text"),
    "tool-call-delta": ("tool-call", "argumentsDelta"),
}


class Assembly:
    """The chunks of the step that is running."""

    def __init__(self) -> None:
        self._chunks: dict[int, JsonObject] = {}

    def begin(self) -> None:
        """A step begins: the chunks before it are of answers that were logged, or given up."""
        self._chunks.clear()

    def add(self, event: JsonObject) -> None:
        """Keep a chunk."""
        chunk = data_of(event).get("chunk")
        if isinstance(chunk, dict):
            self._chunks[event["seq"]] = chunk

    def price(self, event: JsonObject) -> int:
        """Tokens of the message that the chunks make which an assistant message cites; its own where it cites none."""
        sources = event.get("sourceEventSeqs")
        if not isinstance(sources, list):
            return estimate_message(content_of(message_of(event)), role="assistant")
        cited = (seq for seq in map(number_of, sources) if seq is not None)
        return estimate_message(assembled(self._chunks[seq] for seq in cited if seq in self._chunks), role="assistant")


def assembled(chunks: Iterable[JsonObject]) -> list[object]:
    """The blocks of an answer, by index: as they ended, or, where they never did, what was streamed of them."""
    blocks: dict[int, dict[str, Any]] = {}
    ended: dict[int, object] = {}
    for chunk in chunks:
        index = chunk.get("index")
        if not isinstance(index, int):
            continue
        if chunk.get("type") == "block-end":
            ended[index] = chunk.get("block")
        elif type_of(chunk) in _TEXT_OF_DELTA:
            _extend(blocks.setdefault(index, {}), chunk)
    return [block for _, block in sorted({**blocks, **ended}.items())]


def _extend(block: dict[str, Any], chunk: JsonObject) -> None:
    kind, told = _TEXT_OF_DELTA[chunk["type"]]
    text = "arguments" if kind == "tool-call" else "text"
    block["type"] = kind
    block[text] = block.get(text, "") + str(chunk.get(told, ""))
    for name in ("id", "name") if kind == "tool-call" else ():
        block[name] = chunk.get(name) or block.get(name, "")
