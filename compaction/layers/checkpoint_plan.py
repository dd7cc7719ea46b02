"""How a layer has a part of a view summarised: asked once, put as one message, never in the place of less than itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.ask import Ask, Asked, Outcome, SummaryRequest
from compaction.errors import SummarizerError
from compaction.messages import Block, BlockId, BlockKind, Body, Message
from compaction.prompt import message_as_logged
from compaction.transcript import Edit
from compaction.view import Plan, PromptView, ViewMessage

OPENING = "[Summary of the conversation so far]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What is asked for and how the answer stands in the view: `opening` before it, in a block of `kind`, after the block `after`
    where that stays, else where the first of the messages stood. `beside` are further edits of the same batch."""

    messages: Sequence[ViewMessage]
    most_tokens: int
    focus: str = ""
    opening: str = OPENING
    kind: BlockKind = "text"
    must_shrink: bool = True
    after: BlockId | None = None
    beside: tuple[Edit, ...] = ()


def checkpoint_plan(view: PromptView, checkpoint: Checkpoint, ask: Ask) -> Plan:
    """One summary in the place of the messages; no edit where it failed, is blank, or is not smaller than they are."""
    request = SummaryRequest(messages=tuple(checkpoint.messages), view=view, focus=checkpoint.focus, most_tokens=checkpoint.most_tokens)
    try:
        summary = (ask.summarize(request) or "").strip()
    except SummarizerError as failed:
        return _refused(request, "failed", str(failed))
    if not summary:
        return _refused(request, "blank", "the summary is blank")
    message = checkpoint_message(view.next_seq, f"{checkpoint.opening}{summary}", checkpoint.kind)
    before, after = sum(one.own for one in checkpoint.messages), message_as_logged(message, view.pricer).own
    if checkpoint.must_shrink and after >= before:
        return _refused(request, "not_smaller", f"the summary has {after:,}, what it would replace {before:,}")
    takes = [block for one in checkpoint.messages for block in one.ids]
    edit = Edit(verb="summarise", takes=tuple(takes), puts=(message.seq,), after=checkpoint.after)
    return Plan(edits=(*checkpoint.beside, edit), added=(message,), asked=(Asked(messages=len(request.messages), outcome="ok"),))


def checkpoint_message(seq: int, text: str, kind: BlockKind = "text") -> Message:
    """A user message that stands for others."""
    block = Block(id=BlockId(seq, 1), kind=kind, body=Body.of(text))
    return Message(seq=seq, role="user", origin="summary", blocks=(block,), line=0, record=0)


def _refused(request: SummaryRequest, outcome: Outcome, reason: str) -> Plan:
    return Plan(skipped=reason, asked=(Asked(messages=len(request.messages), outcome=outcome, reason=reason),))
