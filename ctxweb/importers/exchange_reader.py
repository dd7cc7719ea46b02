"""Reads a source of requests, responses and messages in the words of one API: its dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from compaction.transcript import Fidelity, Lane
from ctxweb.importers.base import Reading
from ctxweb.importers.chat import Conversation, Exchange
from ctxweb.importers.conversations import Conversations
from ctxweb.importers.lane_log import Place
from ctxweb.importers.physical import RawRecord
from ctxweb.importers.values import word


class Dialect(Protocol):
    """How one API writes requests, responses and messages."""

    def exchange_of(self, value: Any) -> Exchange | None:
        """The exchange that a record tells of, None if it tells of none."""
        ...

    def message_of(self, value: Any) -> Exchange | None:
        """One message of a list as what it adds to the conversation, None if the record is none."""
        ...

    def take(self, conversation: Conversation, exchange: Exchange, place: Place) -> None:
        """Let the conversation go through the exchange."""
        ...


class ExchangeReader:
    """A record is an exchange, or one message of the one list that the source is."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._conversations = Conversations()
        self._list: Conversation | None = None

    def feed(self, record: RawRecord) -> Reading:
        exchange = self._dialect.exchange_of(record.value)
        if exchange is not None:
            conversation = self._conversations.choose(exchange)
        else:
            exchange = self._dialect.message_of(record.value)
            if exchange is None:
                return Reading(verdict=record.verdict or "unknown_type", type=_type_of(record.value))
            conversation = self._list = self._list or self._conversations.begin()
        self._dialect.take(conversation, exchange, Place(line=record.line, record=record.number, at=exchange.at))
        return Reading(verdict=record.verdict or "ok", type=_type_of(record.value), bodies=conversation.log.take_bodies())

    def lanes(self) -> Iterable[Lane]:
        return self._conversations.lanes()


def fidelity_of(conversation: Conversation, exchange: Exchange) -> Fidelity:
    """How far the view of the exchange can be trusted: a logged prompt is exact, an encrypted summary in it opaque."""
    messages = (conversation.log.messages[seq - 1] for seq in conversation.log.view)
    if any(block.kind == "opaque" for message in messages if message.origin == "summary" for block in message.blocks):
        return "opaque"
    if exchange.prompt is None:
        return "approx"
    return "derived" if exchange.continues is not None else "exact"


def _type_of(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    return next((found for name in ("object", "type", "role") if (found := word(value.get(name)))), "exchange")
