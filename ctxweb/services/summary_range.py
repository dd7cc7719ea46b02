"""What a summary would stand for: a stretch of the view of a call, whole interactions only, with what is new in it.

What is hidden from a user (system prompts, tool definitions) is never in a range. An incremental one begins like the last
checkpoint and asks only for what came since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction.checkpoints import checkpoint_text
from compaction.layers.checkpoint_plan import checkpoint_message
from compaction.messages import Block, BlockId, Body
from compaction.ranges import tail_from, without_halves
from compaction.summarizers.pieces import pieces_of
from compaction.summarizers.quotes import Piece
from compaction.summary_prompt import since_last_checkpoint
from compaction.transcript import Edit
from compaction.view import Plan, PromptView, ViewMessage
from ctxweb.models import Session, Summary
from ctxweb.recorded_view import RecordedView

HIDDEN_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRange:
    """A range of the view `shown`. `messages` are what is taken, `pieces` all of their blocks with a text.

    `fresh` are the pieces that a summarizer gets, behind `earlier`, the text of the checkpoint that they are merged with: a
    made one (`parent`) or one that stands in the range (`parent_place`). `is_moved`: a boundary moved so that no call lost its
    result. `records`: numbers of the first and the last record that hold the range, None where no record does.
    """

    shown: RecordedView
    messages: tuple[ViewMessage, ...]
    pieces: tuple[Piece, ...]
    fresh: tuple[Piece, ...]
    earlier: str = ""
    parent: Summary | None = None
    parent_place: str = ""
    is_moved: bool = False
    records: tuple[int, int] | None = None

    @property
    def blocks(self) -> tuple[BlockId, ...]:
        return tuple(block for message in self.messages for block in message.ids)

    @property
    def tokens(self) -> int:
        """Exact tokens of the texts of the range."""
        return sum(message.tokens for message in self.messages)

    def replaced_by(self, summary: str) -> PromptView:
        """The view with a checkpoint of this text in the place of the range. Raises EditError where the tool protocol forbids it."""
        view = self.shown.view
        message = checkpoint_message(view.next_seq, (checkpoint_text(summary),))
        plan = Plan(edits=(Edit(verb="summarise", takes=self.blocks, puts=(message.seq,)),), added=(message,))
        return view.apply(plan, layer="summary").view

    def count(self, text: str) -> int:
        """Exact tokens of a text, as those of the range are counted."""
        return self.shown.view.pricer.tokens(Body.of(text))


def summary_range(*, shown: RecordedView, from_call: int, keep_tokens: int) -> SummaryRange:
    """The messages that came with the calls `from_call` to that of the view, without the newest of at least `keep_tokens`."""
    messages = shown.view.messages
    asked = [place for place, message in enumerate(messages) if _is_asked(message, shown, from_call)]
    start, end = (asked[0], asked[-1] + 1) if asked else (0, 0)
    if keep_tokens and messages:
        end = max(start, min(end, tail_from([message.tokens for message in messages], keep_tokens)))
    found = without_halves([filter(None, (*message.uses, *message.results)) for message in messages], start, end)
    taken = tuple(message for message in messages[slice(*found)] if message.role not in HIDDEN_ROLES)
    pieces = tuple(piece for piece in pieces_of(taken, shown.view.pricer) if piece.text.strip())
    return SummaryRange(
        shown=shown, messages=taken, pieces=pieces, fresh=pieces, is_moved=found != (start, end), records=_records(taken, shown)
    )


def incremental_range(*, session: Session, shown: RecordedView, from_call: int | None, keep_tokens: int) -> SummaryRange:
    """The same, to be merged with the last checkpoint before it, made or recorded; the whole where there is none."""
    parent = _last_made(session, shown, from_call)
    start = from_call or (parent.from_call if parent is not None else 1)
    whole = summary_range(shown=shown, from_call=start, keep_tokens=keep_tokens)
    held = set(parent.blocks) if parent is not None else set()
    fresh = tuple(piece for piece in whole.pieces if str(piece.block.id) not in held)
    recorded, behind = since_last_checkpoint(fresh)
    if recorded:
        place = str(fresh[len(fresh) - len(behind) - 1].block.id)
        return replace(whole, fresh=behind, earlier=recorded, parent_place=place)
    if parent is None or len(fresh) == len(whole.pieces):
        return whole
    return replace(whole, fresh=fresh, earlier=parent.body.text, parent=parent)


def merged_pieces(found: SummaryRange) -> tuple[Piece, ...]:
    """What a summarizer without a prompt reads: the earlier checkpoint as a message, and what came since."""
    if not found.earlier:
        return found.fresh
    block = Block(id=BlockId(found.shown.view.next_seq, 1), kind="text", body=Body.of(found.earlier))
    return (Piece("user", "summary", block, found.earlier), *found.fresh)


def _is_asked(message: ViewMessage, shown: RecordedView, from_call: int) -> bool:
    return message.role not in HIDDEN_ROLES and any(shown.entered.get(block, shown.call) >= from_call for block in message.ids)


def _last_made(session: Session, shown: RecordedView, from_call: int | None) -> Summary | None:
    """The newest kept checkpoint of an earlier call whose range stands in the view, from `from_call` on where that is given."""
    rows = Summary.objects.filter(session=session.public_id, state=Summary.State.KEPT, to_call__lt=shown.call)
    if from_call is not None:
        rows = rows.filter(from_call=from_call)
    visible = {str(block) for message in shown.view.messages for block in message.ids}
    return next((row for row in rows.select_related("body").order_by("-to_call", "-pk") if not visible.isdisjoint(row.blocks)), None)


def _records(taken: Sequence[ViewMessage], shown: RecordedView) -> tuple[int, int] | None:
    spoken = [shown.spoken[seq] for message in taken for seq in message.seqs]
    firsts = [each.record for each in spoken if each.record > 0]
    lasts = [each.record + max(each.records, 1) - 1 for each in spoken if each.record > 0]
    return (min(firsts), max(lasts)) if firsts else None
