"""What changed when a format gives the whole next prompt: the edits that lead from the view to it.

Messages that stayed are matched by content, from both ends and then in order; the same tool result with another content
is a change of its block; what is left was taken or put. The edits of one reset are applied as one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compaction.checkpoints import result_verb
from compaction.edits import STATE_OF
from compaction.transcript import Edit, Verb
from ctxweb.importers.lane_log import Draft, LaneLog, Likeness, Place

ToolShape = tuple[str, tuple[tuple[str, str | None], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """The edits of a reset and the view after them. `tail` are messages that then enter at the end, in order."""

    edits: tuple[Edit, ...]
    view: tuple[int, ...]
    tail: tuple[int, ...] = ()


@dataclass(slots=True)
class _Gap:
    """What stood, and what stands now, between two messages that stayed."""

    takes: list[int] = field(default_factory=list)
    puts: list[int] = field(default_factory=list)
    before: int | None = None


def match(log: LaneLog, view: Sequence[int], likenesses: Sequence[Likeness]) -> list[int | None]:
    """For each likeness of the next prompt the seq of `view` that it is, in the order of the view, or None."""
    found: list[int | None] = [None] * len(likenesses)
    start, ends = 0, 0
    limit = min(len(view), len(likenesses))
    while start < limit and log.likeness(view[start]) == likenesses[start]:
        found[start] = view[start]
        start += 1
    while ends < limit - start and log.likeness(view[-1 - ends]) == likenesses[-1 - ends]:
        found[-1 - ends] = view[-1 - ends]
        ends += 1
    places: dict[Likeness, list[int]] = {}
    for place in range(len(view) - ends - 1, start - 1, -1):
        places.setdefault(log.likeness(view[place]), []).append(place)
    cursor = start
    for index in range(start, len(likenesses) - ends):
        candidates = places.get(likenesses[index], [])
        while candidates and candidates[-1] < cursor:
            candidates.pop()
        if candidates:
            cursor = candidates.pop() + 1
            found[index] = view[cursor - 1]
    return found


def reset_view(log: LaneLog, drafts: Sequence[Draft | int], place: Place, *, keep: int = 0, fresh_tail: bool = False) -> Reset:
    """Edits from the view of `log` to the prompt `drafts`, in which a number is the seq of a logged message.

    The first `keep` messages of the view stay in front of it. With `fresh_tail` what follows the last message that stayed is
    said now, not put by the edits: unless it was logged and never shown, it is logged anew. The view of `log` is left as it
    is: the caller applies the edits.
    """
    kept, view = log.view[:keep], log.view[keep:]
    found = match(log, view, [_likeness(log, draft) for draft in drafts])
    changes = _changed_results(log, set(view).difference(seq for seq in found if seq is not None), drafts, found)
    stayed = {seq for seq in found if seq is not None}
    tail_start = _tail_start(drafts, found, is_shorter=len(stayed) < len(view)) if fresh_tail else len(drafts)
    seqs = _logged(log, drafts, found, place, tail_start)
    tail = tuple(seqs[tail_start:])
    gaps = _gaps(view, seqs[:tail_start], stayed, kept[-1] if kept else None)
    return Reset(edits=(*changes, *_range_edits(log, gaps)), view=(*kept, *seqs[:tail_start]), tail=tail)


def _tail_start(drafts: Sequence[Draft | int], found: Sequence[int | None], *, is_shorter: bool) -> int:
    """Behind the last message that stayed; a summary behind it belongs to the edits where something was taken."""
    stayed = (index + 1 for index, seq in enumerate(found) if seq is not None)
    summaries = (index + 1 for index, draft in enumerate(drafts) if is_shorter and not isinstance(draft, int) and draft.origin == "summary")
    return max((*stayed, *summaries), default=0)


def _changed_results(log: LaneLog, gone: set[int], drafts: Sequence[Draft | int], found: list[int | None]) -> list[Edit]:
    """State edits for tool results that are there with another content; `found` learns that they stayed."""
    by_shape: dict[ToolShape, int] = {}
    for gone_seq in sorted(gone, reverse=True):
        message = log.messages[gone_seq - 1]
        shape = _shape(message.role, [(block.kind, block.tool_id) for block in message.blocks])
        if shape is not None:
            by_shape[shape] = gone_seq
    places = {seq: place for place, seq in enumerate(log.view)} if by_shape else {}
    limits = _next_places(found, places)
    edits: list[Edit] = []
    reached = -1
    for index, draft in enumerate(drafts if by_shape else ()):
        seq = found[index]
        if seq is None and not isinstance(draft, int):
            shape = _shape(draft.role, [(piece.kind, piece.tool_id) for piece, _ in draft.pieces])
            seq = by_shape.get(shape) if shape is not None else None
            if seq is None or not reached < places[seq] < limits[index]:
                continue
            found[index] = seq
            edits.extend(_state_edits(log, seq, draft))
        reached = places[seq] if seq is not None else reached
    return edits


def _next_places(found: Sequence[int | None], places: dict[int, int]) -> list[int]:
    """For each message of the next prompt the place in the view of the next one that stayed."""
    limits = [len(places)] * len(found)
    for index in range(len(found) - 2, -1, -1):
        following = found[index + 1]
        limits[index] = limits[index + 1] if following is None else places.get(following, len(places))
    return limits


def _state_edits(log: LaneLog, seq: int, draft: Draft) -> list[Edit]:
    message = log.messages[seq - 1]
    edits = []
    for block, (piece, body) in zip(message.blocks, draft.pieces, strict=True):
        if piece.digest != block.body.digest:
            verb = result_verb(body.text or "", block.body.chars)
            edits.append(Edit(verb=verb, block=block.id, state=STATE_OF[verb], body=log.body(body.text or "")))
    log.alter(seq, _likeness(log, draft))
    return edits


def _likeness(log: LaneLog, draft: Draft | int) -> Likeness:
    return log.likeness(draft) if isinstance(draft, int) else draft.likeness


def _shape(role: str, blocks: list[tuple[str, str | None]]) -> ToolShape | None:
    """Role and blocks of a message that holds tool blocks; None for one that nothing but its text tells from others."""
    return (role, tuple(blocks)) if any(tool_id for _, tool_id in blocks) else None


def _logged(log: LaneLog, drafts: Sequence[Draft | int], found: list[int | None], place: Place, tail_start: int) -> list[int]:
    """The seqs of the next prompt: matched ones, ones that were logged before and come back, and new ones."""
    used = {seq for seq in found if seq is not None}
    seqs = list[int]()
    for index, (draft, seq) in enumerate(zip(drafts, found, strict=True)):
        if seq is None and isinstance(draft, int):
            seq = draft
            if seq in used:
                continue  # a reference to a message that stands in the prompt already
        elif seq is None and not isinstance(draft, int):
            seq = log.newest.get(draft.likeness)
            if seq is None or seq in used or (index >= tail_start and seq not in log.unshown):
                seq = log.append(draft, place, shown=False).seq
        if seq is not None:
            used.add(seq)
            seqs.append(seq)
    return seqs


def _gaps(view: Sequence[int], seqs: Sequence[int], stayed: set[int], before: int | None) -> list[_Gap]:
    """What was taken and put between the messages that stayed, from the beginning of the view on."""
    gaps = [_Gap(before=before)]
    for seq in seqs:
        if seq in stayed:
            gaps.append(_Gap(before=seq))
        else:
            gaps[-1].puts.append(seq)
    index = 0
    for seq in view:
        if seq in stayed:
            index += 1
        else:
            gaps[index].takes.append(seq)
    first, follower = gaps[0], gaps[1].before if len(gaps) > 1 else None
    if first.puts and not first.takes and first.before is None and follower is not None:
        first.takes.append(follower)  # nothing stands before it, so it steps aside and comes back behind the new ones
        first.puts.append(follower)
    return gaps


def _range_edits(log: LaneLog, gaps: list[_Gap]) -> list[Edit]:
    """One edit a gap; where one of them puts a summary, it stands for all that was taken without a replacement."""
    summary = next((gap for gap in reversed(gaps) if any(log.messages[seq - 1].origin == "summary" for seq in gap.puts)), None)
    if summary is not None:
        for gap in gaps:
            if gap is not summary and not gap.puts:
                summary.takes.extend(gap.takes)
                gap.takes.clear()
    edits = (_edit(log, gap, is_summary=gap is summary) for gap in gaps)
    return [edit for edit in edits if edit.takes or edit.puts]


def _edit(log: LaneLog, gap: _Gap, *, is_summary: bool) -> Edit:
    verb: Verb = "summarise" if is_summary else "remove" if not gap.puts else "restore" if not gap.takes else "replace"
    after = log.blocks_of([gap.before])[-1:] if gap.before is not None and gap.puts else ()
    return Edit(verb=verb, takes=log.blocks_of(gap.takes), puts=tuple(gap.puts), after=after[0] if after else None)
