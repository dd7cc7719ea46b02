"""What a layer is, and what layers share: checked limits, and a start that splits no interaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from compaction.ask import Ask
from compaction.errors import LimitError
from compaction.limits import Limits
from compaction.messages import Block, BlockId, Body, Message, Origin, Role
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, ViewMessage


class Layer(Protocol):
    """A rule that plans edits. Its fields are its limits, each a JSON value with a default; it keeps nothing else.

    `lossy`: what it takes is nowhere else. `idempotent`: run again on its own result, it plans nothing.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    lossy: ClassVar[bool]
    mechanism: ClassVar[Mechanism]
    idempotent: ClassVar[bool]

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """What it wants changed. `limits` are the policy's, in its own unit."""
        ...


class LooksBack(Protocol):
    """A layer that also looks at the view from which its run started, such as one that puts something back."""

    def plan_since(self, start: PromptView, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """As `plan`, for the view as the layers before it left it."""
        ...


def require_whole(layer: str, at_least: int, /, **fields: int) -> None:
    """Raise LimitError unless each field is an integer of at least `at_least`."""
    for name, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
            raise LimitError(f"{layer}.{name} is {value!r}: it must be a whole number from {at_least}", field=name)


def start_with_pairs(messages: Sequence[ViewMessage], start: int) -> int:
    """The latest index up to `start` from which on each result has its call: a cut there splits no interaction.

    Results whose call is in no message of the view are not looked at.
    """
    wanted: set[str] = set()
    _include(messages[start:], wanted)
    reached = start
    for index in range(start - 1, -1, -1):
        if not wanted:
            break
        if not wanted.isdisjoint(messages[index].uses):
            _include(messages[index:reached], wanted)
            reached = index
    return reached


def _include(messages: Sequence[ViewMessage], wanted: set[str]) -> None:
    for message in messages:
        wanted.update(message.results)
    for message in messages:
        wanted.difference_update(message.uses)


def text_message(seq: int, role: Role, text: str, origin: Origin = "harness") -> Message:
    """A message that an edit puts: one block of text."""
    block = Block(id=BlockId(seq, 1), kind="text", body=Body.of(text))
    return Message(seq=seq, role=role, origin=origin, blocks=(block,), line=0, record=0)
