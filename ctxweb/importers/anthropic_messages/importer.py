"""Recognises Anthropic messages by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ctxweb.importers.anthropic_messages.dialect import AnthropicDialect
from ctxweb.importers.anthropic_messages.exchanges import exchange_of, is_response
from ctxweb.importers.anthropic_messages.messages import is_message
from ctxweb.importers.exchange_reader import ExchangeReader
from ctxweb.importers.foreign import is_foreign
from ctxweb.importers.physical import Head
from ctxweb.importers.values import word

OWN_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "mcp_tool_result", "compaction"}
)
OPENAI_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call"})
CERTAIN, LIKELY = 0.95, 0.8


class AnthropicMessagesImporter:
    id = "anthropic_messages"
    title = "Anthropic Messages API"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """Blocks, responses and requests that only this API writes."""
        records = [value for value in head.values if isinstance(value, dict)]
        if not records or any(is_foreign(record, _messages_of(record)) for record in records):
            return 0.0
        own = [record for record in records if self.looks_like_record(record)]
        entries = [entry for record in own for entry in (_messages_of(record) or [record])]
        if len(own) * 2 < len(records) or any(OPENAI_KEYS.intersection(entry) for entry in entries):
            return 0.0
        if any(map(_has_own_block, entries)) or any(map(_has_response, own)):
            return CERTAIN
        return LIKELY if any(map(_is_own_request, own)) else 0.0

    def looks_like_record(self, value: Any) -> bool:
        return is_message(value) or exchange_of(value) is not None

    def reader(self) -> ExchangeReader:
        return ExchangeReader(AnthropicDialect())


def _messages_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    request = record.get("request")
    for holder in (record, request if isinstance(request, Mapping) else {}):
        if isinstance(holder.get("messages"), list):
            return [entry for entry in holder["messages"] if isinstance(entry, Mapping)]
    return []


def _has_own_block(entry: Mapping[str, Any]) -> bool:
    return "role" in entry and any(word(block.get("type")) in OWN_BLOCKS for block in _blocks(entry))


def _has_response(record: Mapping[str, Any]) -> bool:
    answers = (value for value in (record, record.get("response")) if isinstance(value, Mapping))
    return any(is_response(answer) and answer.get("type") == "message" for answer in answers)


def _is_own_request(record: Mapping[str, Any]) -> bool:
    """A system prompt beside the list, or context editing: the OpenAI APIs have neither."""
    request = record.get("request")
    holder = request if isinstance(request, Mapping) else record
    return isinstance(holder.get("messages"), list) and ("system" in holder or isinstance(holder.get("context_management"), Mapping))


def _blocks(entry: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    content = entry.get("content")
    return (block for block in content if isinstance(block, Mapping)) if isinstance(content, list) else ()


IMPORTER = AnthropicMessagesImporter()
