"""A bare list of {role, content} that no other format claims, with the usage of an answer where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.checkpoints import is_checkpoint
from compaction.messages import Role
from ctxweb.importers.chat import Conversation, Exchange
from ctxweb.importers.exchange_reader import fidelity_of
from ctxweb.importers.lane_log import Draft, Place
from ctxweb.importers.openai_messages.usage import read_usage
from ctxweb.importers.responses_items import ORIGINS, content_pieces, text_of
from ctxweb.importers.values import time_ms, word

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
}


def is_bare_message(value: Any) -> bool:
    return isinstance(value, dict) and word(value.get("role")) in ROLES and isinstance(value.get("content"), str | list)


class BareDialect:
    def exchange_of(self, value: Any) -> Exchange | None:
        """A list inside an object is a prompt; nothing but its answers tells of calls."""
        messages = value.get("messages") if isinstance(value, Mapping) else None
        if not isinstance(messages, list) or not any(map(is_bare_message, messages)):
            return None
        drafts = tuple(_draft(message, line) for line, message in enumerate(messages, start=1) if is_bare_message(message))
        return Exchange(prompt=drafts, model=word(value.get("model")))

    def message_of(self, value: Any) -> Exchange | None:
        """One message; an answer with usage is a call."""
        if not is_bare_message(value):
            return None
        draft = _draft(value, None)
        if draft.role != "assistant" or not isinstance(value.get("usage"), Mapping):
            return Exchange(prompt=(draft,), continues="")
        usage, flags = read_usage(value["usage"])
        model = word(value.get("model"))
        return Exchange(prompt=(), continues="", answer=(draft,), usage=usage, model=model, at=draft.at, flags=flags)

    def take(self, conversation: Conversation, exchange: Exchange, place: Place) -> None:
        conversation.open(exchange, place)
        conversation.close(exchange, place, fidelity_of(conversation, exchange))


def _draft(message: Mapping[str, Any], line: int | None) -> Draft:
    role = ROLES[message["role"]]
    pieces = content_pieces(message["content"])
    is_summary = role in ("user", "system") and bool(pieces) and is_checkpoint(text_of(pieces[0]))
    return Draft(
        role=role,
        origin="summary" if is_summary else ORIGINS[role],
        pieces=pieces,
        native_id=word(message.get("id")),
        model=word(message.get("model")),
        line=line,
        at=time_ms(message.get("timestamp")),
    )
