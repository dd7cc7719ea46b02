"""How a layer has a part of a view summarised: asked once, put as one message, never in the place of less than itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """What is asked for and how the answer stands in the view: `opening` before it, in a block of `kind`, or in the blocks that
    `framed` makes of it; after the block `after` where that stays, else where the first of the messages stood. `beside` are
    further edits of the same batch; `note` is reported with a summary that was taken."""

    messages: Sequence[ViewMessage]
    most_tokens: int
    focus: str = ""
    opening: str = OPENING
    kind: BlockKind = "text"
    framed: Callable[[str], Sequence[str]] | None = None
    must_shrink: bool = True
    note: str = ""
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
    texts = checkpoint.framed(summary) if checkpoint.framed else (f"{checkpoint.opening}{summary}",)
    message = checkpoint_message(view.next_seq, texts, checkpoint.kind)
    before, after = sum(one.own for one in checkpoint.messages), message_as_logged(message, view.pricer).own
    if checkpoint.must_shrink and after >= before:
        return _refused(request, "not_smaller", f"the summary has {after:,}, what it would replace {before:,}")
    takes = [block for one in checkpoint.messages for block in one.ids]
    edit = Edit(verb="summarise", takes=tuple(takes), puts=(message.seq,), after=checkpoint.after)
    asked = Asked(messages=len(request.messages), outcome="ok", reason=checkpoint.note)
    return Plan(edits=(*checkpoint.beside, edit), added=(message,), asked=(asked,))


def checkpoint_message(seq: int, texts: Sequence[str], kind: BlockKind = "text") -> Message:
    """A user message that stands for others, a block for each text."""
    blocks = tuple(Block(id=BlockId(seq, at), kind=kind, body=Body.of(text)) for at, text in enumerate(texts, start=1))
    return Message(seq=seq, role="user", origin="summary", blocks=blocks, line=0, record=0)


def _refused(request: SummaryRequest, outcome: Outcome, reason: str) -> Plan:
    return Plan(skipped=reason, asked=(Asked(messages=len(request.messages), outcome=outcome, reason=reason),))
