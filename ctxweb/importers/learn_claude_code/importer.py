"""Recognises archives of learn-claude-code by the blocks that are written in them, and reads them as a list of messages.

An archive whose blocks are JSON is an ordinary list of messages and is left to the formats that read those; they know its marks too.
"""

from __future__ import annotations

from typing import Any

from ctxweb.importers.anthropic_messages.dialect import AnthropicDialect
from ctxweb.importers.anthropic_messages.messages import is_message
from ctxweb.importers.chat import Exchange
from ctxweb.importers.exchange_reader import ExchangeReader
from ctxweb.importers.foreign import is_foreign
from ctxweb.importers.learn_claude_code.written_blocks import is_written, read_written
from ctxweb.importers.physical import Head

CERTAIN = 0.97  # surer than any format that would take the same messages


class ArchiveDialect(AnthropicDialect):
    def exchange_of(self, value: Any) -> Exchange | None:
        return None

    def message_of(self, value: Any) -> Exchange | None:
        return super().message_of(_unwritten(value))


class LearnClaudeCodeImporter:
    id = "learn_claude_code"
    title = "learn-claude-code archive"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        messages = [value for value in head.values if is_message(value)]
        if len(messages) * 2 <= len(head.values) or any(is_foreign(message, [message]) for message in messages):
            return 0.0
        return CERTAIN if any(map(_has_written_block, messages)) else 0.0

    def looks_like_record(self, value: Any) -> bool:
        return is_message(value)

    def reader(self) -> ExchangeReader:
        return ExchangeReader(ArchiveDialect())


def _has_written_block(message: dict[str, Any]) -> bool:
    content = message["content"]
    return message["role"] == "assistant" and isinstance(content, list) and any(map(is_written, content))


def _unwritten(value: Any) -> Any:
    if not is_message(value) or not isinstance(value["content"], list):
        return value
    return {**value, "content": list(map(read_written, value["content"]))}


IMPORTER = LearnClaudeCodeImporter()
