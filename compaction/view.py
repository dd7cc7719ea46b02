"""The frozen view that a layer is shown: the messages of a prompt, each as the provider gets it, with two sizes.

`PromptView.apply` is the only code that changes one. Planned edits are held to more than recorded ones: they must have
one of the two shapes, their targets must be in the view, a state edit must make its text shorter, and a batch must not
split a tool interaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from compaction import booking, planned
from compaction.ask import Asked
from compaction.counters.units import Shape
from compaction.edits import LedgerEntry
from compaction.messages import Message
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, VisibleBlock, message_as_logged, shape_of, view_message, visible_block
from compaction.transcript import Edit

__all__ = ["Applied", "Plan", "PromptView", "Shape", "ViewMessage", "VisibleBlock", "shape_of", "view_message", "visible_block"]


FREE_OF_TOOLS = "free of tools"
"""Under this name a view keeps how many messages at its head have no tool block."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a layer wants changed. `added` are the messages that its edits put: seqs from the view's `next_seq` on, in order.

    `skipped` says why nothing was planned, in ids and sizes; `asked` what the summarizer was asked. `settled`: so many messages at
    the head, once the edits are made, hold nothing that the layer would ever change as they stand.
    """

    edits: tuple[Edit, ...] = ()
    added: tuple[Message, ...] = ()
    skipped: str = ""
    asked: tuple[Asked, ...] = ()
    settled: int = 0


@dataclass(frozen=True)
class Applied:
    """One applied batch: the view before and after it, and its edits, each with its layer."""

    before: PromptView
    view: PromptView
    edits: tuple[Edit, ...]

    @cached_property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """What each edit did to each block, in both sizes; in both, before − removed + added = after. Made when asked for."""
        return booking.entries_of(self.before, self.view, self.edits)


@dataclass(frozen=True, slots=True)
class PromptView:
    """The messages of a prompt. `own`: its size in the pricer's unit; `tokens`: the exact counts of its texts.

    `next_seq` is the seq that the next added message gets. `settled` is what plans said of its head, by layer: it spares a layer
    that runs before every call the messages that it has done with, and changes no plan.
    """

    messages: tuple[ViewMessage, ...]
    own: int
    tokens: int
    next_seq: int
    pricer: Pricer = field(repr=False, compare=False)
    settled: dict[object, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, messages: Iterable[Message], pricer: Pricer) -> PromptView:
        """All these messages as logged, each for itself. Their texts must be at hand."""
        return cls.holding([message_as_logged(message, pricer) for message in messages if message.blocks], pricer)

    @classmethod
    def holding(cls, messages: Sequence[ViewMessage], pricer: Pricer, *, next_seq: int | None = None) -> PromptView:
        """The view of these messages. `next_seq` defaults to the one after the highest."""
        highest = max((seq for message in messages for seq in message.seqs), default=0)
        return cls(
            messages=tuple(messages),
            own=sum(message.own for message in messages) + pricer.unit.view(len(messages)),
            tokens=sum(message.tokens for message in messages),
            next_seq=highest + 1 if next_seq is None else next_seq,
            pricer=pricer,
        )

    @property
    def blocks(self) -> Iterator[VisibleBlock]:
        """All blocks, in order."""
        return (visible for message in self.messages for visible in message.blocks)

    def first_tool(self) -> int:
        """Position of the first message with a call or a result; the number of messages where none has any."""
        at = self.settled.get(FREE_OF_TOOLS, 0)
        while at < len(self.messages) and not _has_tools(self.messages[at]):
            at += 1
        self.settled[FREE_OF_TOOLS] = at
        return at

    def apply(self, plan: Plan, *, layer: str) -> Applied:
        """The view after one planned batch.

        Raises EditError for an edit that cannot be carried out and OrphanError for a batch that makes a new orphan;
        this view stays as it is either way.
        """
        if not plan.edits and not plan.added:
            return Applied(before=self, view=self, edits=())
        edits = planned.stamped(plan.edits, layer)
        after = planned.next_messages(self, edits, plan.added)
        unit = self.pricer.unit
        view = PromptView(
            messages=after.messages,
            own=self.own - unit.view(len(self.messages)) + after.own + unit.view(len(after.messages)),
            tokens=self.tokens + after.tokens,
            next_seq=self.next_seq + len(plan.added),
            pricer=self.pricer,
            settled={of: min(settled, after.untouched) for of, settled in self.settled.items()} if after.untouched else {},
        )
        return Applied(before=self, view=view, edits=edits)


def _has_tools(message: ViewMessage) -> bool:
    return bool(message.uses or message.results or any(visible.block.tool_id is not None for visible in message.blocks))
