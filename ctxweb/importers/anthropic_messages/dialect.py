"""How the Messages API writes what `exchange_reader` reads, and what its server takes from a prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compaction.transcript import Compaction
from ctxweb.importers.anthropic_messages.applied import MECHANISMS, edits_for
from ctxweb.importers.anthropic_messages.exchanges import AnthropicExchange, exchange_of, message_exchange
from ctxweb.importers.chat import Conversation, Exchange, is_boundary
from ctxweb.importers.exchange_reader import fidelity_of
from ctxweb.importers.lane_log import Place


class AnthropicDialect:
    def exchange_of(self, value: Any) -> Exchange | None:
        return exchange_of(value)

    def message_of(self, value: Any) -> Exchange | None:
        return message_exchange(value)

    def take(self, conversation: Conversation, exchange: Exchange, place: Place) -> None:
        """The server edits the prompt, then compacts it, then the model answers."""
        conversation.open(exchange, place)
        if isinstance(exchange, AnthropicExchange):
            _apply(conversation, exchange, place)
        answer = exchange.answer or ()
        for draft in answer:
            if is_boundary(draft):
                conversation.stand_for_all(draft, place)
        rest = tuple(draft for draft in answer if not is_boundary(draft))
        fidelity = "approx" if conversation.cleared else fidelity_of(conversation, exchange)
        conversation.close(exchange if exchange.answer is None else replace(exchange, answer=rest), place, fidelity)


def _apply(conversation: Conversation, exchange: AnthropicExchange, place: Place) -> None:
    """Book what the server cleared before the model saw the prompt."""
    prompt = exchange.usage.prompt_tokens
    if any(map(is_boundary, exchange.answer or ())):
        prompt = None  # the reported prompt is the one after the compaction
    taken = sum(applied.tokens or 0 for applied in exchange.applied)
    before = None if prompt is None else prompt + taken
    for applied in exchange.applied:
        edits = edits_for(conversation.log, applied, exchange.rules, conversation.cleared)
        after = None if before is None else before - (applied.tokens or 0)
        if edits or exchange.prompt is None:
            compaction = Compaction(
                mechanism=MECHANISMS[applied.kind],
                line=place.line,
                edits=edits,
                trigger="server",
                tokens_before=before,
                tokens_after=after,
                at=place.at,
                flags=() if edits else ("blocks_not_logged",),
            )
            conversation.log.edit(compaction)
        before = after
