"""Recognises the documented message list by its header, and bare lists that nothing else claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxweb.importers.foreign import is_foreign
from ctxweb.importers.message_list.bare import is_bare_message
from ctxweb.importers.message_list.lane_records import EVENT_TYPES
from ctxweb.importers.message_list.reader import MessageListReader, is_header
from ctxweb.importers.physical import Head

WITH_USAGE, BARE = 0.6, 0.5


class MessageListImporter:
    id = "message_list"
    title = "Message list"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """Certain of the header. Of a bare list it is less sure than any format that knows its messages."""
        if head.values and is_header(head.values[0]):
            return 1.0
        records = [value for value in head.values if isinstance(value, dict)]
        messages = [message for record in records for message in _messages_of(record)]
        bare = [message for message in messages if is_bare_message(message)]
        if not bare or len(bare) * 2 < len(messages) or any(is_foreign(record, messages) for record in records):
            return 0.0
        return WITH_USAGE if any(isinstance(message.get("usage"), Mapping) for message in bare) else BARE

    def looks_like_record(self, value: Any) -> bool:
        return is_header(value) or is_bare_message(value) or (isinstance(value, dict) and value.get("type") in ("lane", *EVENT_TYPES))

    def reader(self) -> MessageListReader:
        return MessageListReader()


def _messages_of(record: dict[str, Any]) -> list[Any]:
    messages = record.get("messages")
    return messages if isinstance(messages, list) else [record]


IMPORTER = MessageListImporter()
