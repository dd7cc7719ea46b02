"""How the OpenAI APIs write what `exchange_reader` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.transcript import Compaction
from ctxweb.importers.chat import Conversation, Exchange
from ctxweb.importers.exchange_reader import fidelity_of
from ctxweb.importers.lane_log import Place
from ctxweb.importers.openai_messages.exchanges import exchange_of, is_message, message_drafts
from ctxweb.importers.openai_messages.usage import read_usage
from ctxweb.importers.values import word


class OpenAIDialect:
    def exchange_of(self, value: Any) -> Exchange | None:
        return exchange_of(value)

    def message_of(self, value: Any) -> Exchange | None:
        """A message goes on with the list; an answer with usage is a call."""
        if not is_message(value):
            return None
        drafts = message_drafts(value)
        if not isinstance(value.get("usage"), Mapping):
            return Exchange(prompt=drafts, continues="")
        usage, flags = read_usage(value["usage"])
        at, model = drafts[0].at if drafts else None, word(value.get("model"))
        return Exchange(
            prompt=(), continues="", answer=drafts, usage=usage, native_id=word(value.get("id")), model=model, at=at, flags=flags
        )

    def take(self, conversation: Conversation, exchange: Exchange, place: Place) -> None:
        conversation.open(exchange, place)
        if not exchange.compacted:
            conversation.close(exchange, place, fidelity_of(conversation, exchange))
            return
        compaction = Compaction(
            mechanism="remote_opaque",
            line=place.line,
            tokens_before=exchange.usage.prompt_tokens,
            native_id=exchange.native_id,
            at=exchange.at,
        )
        conversation.first_response = conversation.first_response or exchange.native_id
        conversation.replace_all(exchange.answer or (), compaction, place)
