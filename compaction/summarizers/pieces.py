"""The blocks of messages of a view as summarizers and the checks of summaries see them."""

from __future__ import annotations

from collections.abc import Iterable

from compaction.pricing import Pricer
from compaction.prompt import ViewMessage
from compaction.summarizers.quotes import Piece


def pieces_of(messages: Iterable[ViewMessage], pricer: Pricer) -> tuple[Piece, ...]:
    """Each block with its text as it stands in the view. `pricer`: that of the view."""
    return tuple(
        Piece(message.role, message.origin, visible.block, pricer.text(visible.body)) for message in messages for visible in message.blocks
    )
