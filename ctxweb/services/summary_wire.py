"""Messages of a view and tools of a dsh log in the form in which a provider takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.prompt import ViewMessage, VisibleBlock
from compaction.view import PromptView
from compaction.wire import write_wire

SCHEMAS = ("parameters", "inputSchema", "input_schema")
WireObject = dict[str, Any]


def messages_api(view: PromptView) -> tuple[WireObject, ...]:
    """As the Messages API takes them, without thinking, which it takes with its signature only."""
    written = ({**message, "content": _unthought(message.get("content"))} for message in write_wire(view))
    return tuple(message for message in written if message["content"])


def messages_api_tools(tools: Sequence[Mapping[str, Any]]) -> tuple[WireObject, ...]:
    return tuple({**_named(tool), "input_schema": _schema(tool)} for tool in tools)


def chat(view: PromptView) -> tuple[WireObject, ...]:
    """As Chat Completions takes them: calls beside the text of an answer, each result a message of its own."""
    return tuple(one for message in view.messages for one in _chat(message, view))


def chat_tools(tools: Sequence[Mapping[str, Any]]) -> tuple[WireObject, ...]:
    return tuple({"type": "function", "function": {**_named(tool), "parameters": _schema(tool)}} for tool in tools)


def _chat(message: ViewMessage, view: PromptView) -> Iterator[WireObject]:
    for visible in message.blocks:
        if visible.block.kind == "tool_result":
            yield {"role": "tool", "tool_call_id": visible.block.tool_id or "", "content": view.pricer.text(visible.body)}
    text = "\n\n".join(view.pricer.text(visible.body) for visible in message.blocks if _is_said(visible))
    calls = [_call(visible, view) for visible in message.blocks if visible.block.kind == "tool_use"]
    if text or calls:
        yield {"role": message.role, "content": text or None, **({"tool_calls": calls} if calls else {})}


def _is_said(visible: VisibleBlock) -> bool:
    return visible.block.kind not in ("tool_use", "tool_result", "thinking")


def _call(visible: VisibleBlock, view: PromptView) -> WireObject:
    function = {"name": visible.block.tool_name or "", "arguments": view.pricer.text(visible.body)}
    return {"id": visible.block.tool_id or "", "type": "function", "function": function}


def _unthought(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [_known(part) for part in content if not (isinstance(part, Mapping) and part.get("type") == "thinking")]


def _known(part: Any) -> Any:
    """Media and opaque blocks stand as their label: their bytes are not kept."""
    if isinstance(part, Mapping) and part.get("type") not in ("text", "tool_use", "tool_result"):
        return {"type": "text", "text": str(part.get("text") or part.get("content") or "")}
    return _with_object(part)


def _with_object(part: Any) -> Any:
    """Arguments that are no JSON object are wrapped in one."""
    if isinstance(part, Mapping) and part.get("type") == "tool_use" and not isinstance(part.get("input"), Mapping):
        return {**part, "input": {"arguments": part.get("input")}}
    return part


def _named(tool: Mapping[str, Any]) -> WireObject:
    return {name: tool[name] for name in ("name", "description") if isinstance(tool.get(name), str)}


def _schema(tool: Mapping[str, Any]) -> Any:
    return next((tool[name] for name in SCHEMAS if isinstance(tool.get(name), Mapping)), {"type": "object"})
