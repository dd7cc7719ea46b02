"""Reads a source of OpenAI messages: one list, one message a record, or a log of requests and responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from compaction.transcript import Compaction, Fidelity, Lane
from ctxweb.importers.base import Reading
from ctxweb.importers.chat import Conversation, Exchange
from ctxweb.importers.conversations import Conversations
from ctxweb.importers.lane_log import Place
from ctxweb.importers.openai_messages.exchanges import exchange_of, is_message, message_drafts
from ctxweb.importers.openai_messages.usage import read_usage
from ctxweb.importers.physical import RawRecord
from ctxweb.importers.responses_items import item_type
from ctxweb.importers.values import word


class OpenAIReader:
    """A record is an exchange, or one message of the one list that the source is."""

    def __init__(self) -> None:
        self._conversations = Conversations()
        self._list: Conversation | None = None

    def feed(self, record: RawRecord) -> Reading:
        value = record.value
        exchange = exchange_of(value)
        place = Place(line=record.line, record=record.number, at=exchange.at if exchange else None)
        if exchange is not None:
            conversation = self._conversations.choose(exchange)
            kind = "exchange" if exchange.prompt and exchange.answer is not None else "request" if exchange.prompt else "response"
            _take(conversation, exchange, place)
        elif is_message(value):
            conversation = self._list = self._list or self._conversations.begin()
            kind = word(value.get("role")) or item_type(value)
            _add_message(conversation, value, place)
        else:
            kind = word(value.get("type")) or "" if isinstance(value, Mapping) else ""
            return Reading(verdict=record.verdict or "unknown_type", type=kind)
        return Reading(verdict=record.verdict or "ok", type=kind, bodies=conversation.log.take_bodies())

    def lanes(self) -> Iterable[Lane]:
        return self._conversations.lanes()


def _take(conversation: Conversation, exchange: Exchange, place: Place) -> None:
    if exchange.compacted:
        conversation.open(exchange, place)
        compaction = Compaction(
            mechanism="remote_opaque",
            line=place.line,
            tokens_before=exchange.usage.prompt_tokens,
            native_id=exchange.native_id,
            at=exchange.at,
        )
        conversation.first_response = conversation.first_response or exchange.native_id
        conversation.replace_all(exchange.answer or (), compaction, place)
        return
    conversation.open(exchange, place)
    conversation.close(exchange, place, _fidelity(conversation, exchange))


def _fidelity(conversation: Conversation, exchange: Exchange) -> Fidelity:
    messages = (conversation.log.messages[seq - 1] for seq in conversation.log.view)
    if any(block.kind == "opaque" for message in messages if message.origin == "summary" for block in message.blocks):
        return "opaque"
    if exchange.prompt is None:
        return "approx"
    return "derived" if exchange.continues is not None else "exact"


def _add_message(conversation: Conversation, value: Mapping[str, Any], place: Place) -> None:
    """One message of a list; an answer with usage is a call."""
    drafts = message_drafts(value)
    if isinstance(value.get("usage"), Mapping):
        usage, flags = read_usage(value["usage"])
        answer = Exchange(
            answer=drafts, usage=usage, native_id=word(value.get("id")), model=word(value.get("model")), at=drafts[0].at, flags=flags
        )
        conversation.open(replace(answer, answer=None), place)
        conversation.close(answer, place, "derived")
    else:
        conversation.open(Exchange(prompt=drafts, continues=""), place)
