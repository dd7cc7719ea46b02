"""Sentences of the fate page: birth, end, and the rule that ended it."""

from __future__ import annotations

from ctxweb.page import counted
from ctxweb.queries.fate import BlockFate, FateEdit

DONE = {
    "summarise": "replaced it by a summary",
    "clear": "cleared it",
    "truncate": "cut it short",
    "replace": "put a placeholder in its place",
    "spill": "moved it out of the prompt",
    "remove": "took it",
    "restore": "brought it back",
}


def finding_of(fate: BlockFate) -> str:
    block = fate.block.block
    taking = [edit for edit in fate.edits if not edit.adds and not edit.detached]
    if fate.born is None:
        return f"Block {block} was in no prompt: {_unseen(fate, taking)}."
    calls = f"call {fate.born:,}" if fate.born == fate.last_seen else f"calls {fate.born:,}–{fate.last_seen or fate.calls:,}"
    if fate.block.end == "visible":
        changed = f"; {_named(taking[-1])} {DONE[taking[-1].action]}" if taking else ""
        return f"Block {block} has been visible since call {fate.born:,}{changed}."
    if not taking:
        return f"Block {block} was visible in {calls}; no record tells what took it."
    return f"Block {block} was visible in {calls}; {_named(taking[-1])} {DONE[taking[-1].action]}."


def _unseen(fate: BlockFate, taking: list[FateEdit]) -> str:
    if taking:
        return f"{_named(taking[0])} {DONE[taking[0].action]} before it was ever sent"
    if fate.visible == "unknown":
        return "it is an attachment, which may have been sent"
    if fate.visible == "no":
        return "records of its kind are not sent to the model"
    return "no call followed it" if not fate.abandoned else "its branch was abandoned before a call followed"


def _named(edit: FateEdit) -> str:
    if edit.index is not None:
        return f"compaction {edit.index}"
    return {"rewind": "the user’s rewind", "revert": "the user’s revert", "clear": "the user’s clear"}.get(edit.mechanism, "an edit")


def detail_of(fate: BlockFate) -> str:
    parts = []
    if fate.sent:
        parts.append(f"It was sent with {counted(fate.sent, 'call')}, ≈ {fate.sent_tokens:,} tokens in all.")
    if fate.carried_by:
        names = ", ".join(f"block {carrier.block}" for carrier in fate.carried_by[:3])
        parts.append(f"In its place stands {names}.")
    return " ".join(parts)
