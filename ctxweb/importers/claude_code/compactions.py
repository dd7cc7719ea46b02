"""What Claude Code records of its compactions, as `Compaction` values with their edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from compaction.analysis.estimates import UNKNOWN_PLACEHOLDER_TOKENS
from compaction.messages import BlockId
from compaction.transcript import Compaction, Edit, Mechanism
from ctxweb.importers.claude_code.entries import Entry, MicroBoundary, Replacement
from ctxweb.importers.claude_code.turns import Turns


class Knows(Protocol):
    def __contains__(self, seq: object, /) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Prompt sizes that the calls around a compaction reported, None where there is no call or no figure."""

    before: int | None = None
    after: int | None = None


def full_compaction(
    entry: Entry, turns: Turns, taken: Iterable[int], summaries: tuple[int, ...], near: Neighbours, *, detached: bool = False
) -> Compaction:
    """The compaction of a boundary, or of a summary without one, which took the messages `taken` and put the `summaries`."""
    takes = tuple(block for seq in taken for block in turns.blocks(seq))
    edit = Edit(verb="summarise" if summaries else "remove", takes=takes, puts=summaries)
    recorded = entry.extra.boundary
    before = recorded.tokens_before if recorded else near.before
    after = recorded.tokens_after if recorded else None
    flags = [] if recorded or before is None else ["tokens_before_from_usage"]
    if after is None and near.after is not None:
        after = near.after
        flags.append("tokens_after_from_usage")
    return Compaction(
        mechanism="summary",
        line=entry.line,
        edits=(edit,) if takes or summaries else (),
        trigger=recorded.trigger if recorded else "unknown",
        tokens_before=before,
        tokens_after=after,
        native_id=entry.uuid,
        at=entry.at,
        detached=detached,
        flags=tuple(flags),
    )


def micro_compaction(entry: Entry, micro: MicroBoundary, turns: Turns, view: Knows, *, detached: bool = False) -> Compaction:
    """The clearing of the results that the record names, as far as the view holds them."""
    edits = tuple(_clear(block) for tool_id in micro.tool_ids for block in _result_blocks(turns, tool_id, view))
    after = micro.tokens_before - micro.saved if micro.tokens_before is not None and micro.saved is not None else None
    return Compaction(
        mechanism="clear_tool_result",
        line=entry.line,
        edits=edits,
        trigger=micro.trigger,
        tokens_before=micro.tokens_before,
        tokens_after=after if after is None or after >= 0 else None,
        scale="messages",
        native_id=entry.uuid,
        at=entry.at,
        detached=detached,
        flags=("cleared_attachments",) if micro.attachments else (),
    )


def content_replacement(entry: Entry, replacements: Iterable[Replacement], turns: Turns, view: Knows) -> Compaction | None:
    """The results whose call an element seems to name get its longest text. The shape is not published: a guess, and marked so."""
    edits = tuple(edit for replacement in replacements for edit in _replace(replacement, turns, view))
    if not edits:
        return None
    flags = ("guessed_shape",)
    return Compaction(mechanism="mask_tool_result", line=entry.line, edits=edits, native_id=entry.uuid, at=entry.at, flags=flags)


def spill(turns: Turns, seq: int) -> Compaction | None:
    """Results of a message that went to a file before they were sent; the view holds their previews."""
    entry = turns.entries[turns.first(seq)]
    edits = tuple(
        Edit(verb="spill", block=BlockId(seq, i), state="spilled", body=piece.block(BlockId(seq, i)).body)
        for i, piece in enumerate(turns.pieces(seq), start=1)
        if piece.rare.state == "spilled"
    )
    return Compaction(mechanism="spill", line=entry.line, edits=edits, trigger="auto", at=entry.at) if edits else None


def user_action(mechanism: Mechanism, entry: Entry, turns: Turns, removed: Iterable[int], restored: tuple[int, ...]) -> Compaction:
    """A rewind to another branch, or a fresh start: what left the view, and what came back with the branch."""
    takes = tuple(block for seq in removed for block in turns.blocks(seq))
    edits = [Edit(verb="remove", takes=takes)] if takes else []
    if restored:
        edits.append(Edit(verb="restore", puts=restored))
    return Compaction(mechanism=mechanism, line=entry.line, edits=tuple(edits), trigger="manual", at=entry.at)


def _clear(block: BlockId) -> Edit:
    return Edit(verb="clear", block=block, state="cleared", unit_tokens=UNKNOWN_PLACEHOLDER_TOKENS)


def _result_blocks(turns: Turns, tool_id: str, view: Knows) -> Iterator[BlockId]:
    for seq in turns.answers.get(tool_id, ()):
        if seq in view:
            for i, piece in enumerate(turns.pieces(seq), start=1):
                if piece.kind == "tool_result" and piece.tool_id == tool_id:
                    yield BlockId(seq, i)


def _replace(replacement: Replacement, turns: Turns, view: Knows) -> Iterator[Edit]:
    tool_id = next((text for text in replacement.words if text in turns.owners), None)
    if tool_id is not None:
        for block in _result_blocks(turns, tool_id, view):
            yield Edit(verb="replace", block=block, state="replaced", body=replacement.body.without_text())
