"""What the pages of checkpoints say in sentences."""

from __future__ import annotations

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.page import counted

TRIGGER_WORDS = {
    # trigger of a record or of a job: what people read
    "auto": "automatic",
    "manual": "by hand",
    "agent": "by the agent",
    "overflow": "prompt too long",
    "idle": "after a pause",
    "hook": "by a hook",
    "model_switch": "model changed",
    "server": "by the provider",
    "api": "by the API",
    "unknown": "",
}
KIND_WORDS = {
    # kind of item: what a list of them is called, its icon
    "request": ("requests", "user"),
    "constraint": ("constraints", "denied"),
    "fact": ("decisions", "assistant"),
    "task": ("open tasks", "tool_use"),
    "error": ("errors", "corrupt"),
    "url": ("addresses", "link"),
    "hash": ("hashes", "overhead"),
    "path": ("files", "tool_result"),
    "identifier": ("identifiers", "thinking"),
    "number": ("numbers", "overhead"),
}
OBJECTION_WORDS = {
    "empty": "it is empty",
    "sentinel_only": "it says almost nothing",
    "override_phrase": "it tells its reader to drop what was said before",
    "missing_sections": "sections that were asked for are missing",
    "frame_leaked": "it holds the mark around its prompt",
    "longer_than_range": "it is longer than its range",
    "strange_url": "an address that the range does not hold",
    "tool_url": "an address that only tools brought up",
    "strange_instruction": "an instruction that the range does not hold",
    "repeats_itself": "its lines repeat each other",
}
CONTRADICTION_WORDS = {
    "other_choice": "another choice",
    "other_figure": "another figure",
    "denied": "denied on one side only",
    "said_done": "said to be done, and it is not",
}
STATE_WORDS = {"superseded": "came too late", "trial": "a trial", "failed": "the record says that it failed"}


def finding_of(last: Checkpoint | None, figures: Figures | None, *, used: int, unused: int) -> tuple[str, str]:
    """The answer line of the list: what the last checkpoint stands for, and what it kept of it."""
    if last is None:
        return "No checkpoint stands for anything in this session.", ""
    more = f", {unused:,} more not used" if unused else ""
    first = f"{counted(used, 'checkpoint')}{more}. " if used + unused > 1 else ""
    return f"{first}{stands_for(last)}", kept_of(last, figures)


def stands_for(checkpoint: Checkpoint) -> str:
    """`Checkpoint 2 stands for 329 blocks in 2,340 tokens.`"""
    if not checkpoint.has_range:
        return f"The file begins with checkpoint {checkpoint.key}: what it stands for is not in it."
    size = f" in {checkpoint.tokens:,} tokens" if checkpoint.tokens is not None else ""
    if checkpoint.is_unused:
        return f"Checkpoint {checkpoint.key} was made of {counted(checkpoint.blocks, 'block')}{size}, and was not used."
    return f"Checkpoint {checkpoint.key} stands for {counted(checkpoint.blocks, 'block')}{size}."


def kept_of(checkpoint: Checkpoint, figures: Figures | None) -> str:
    """What it kept of the things that were said or used."""
    if not checkpoint.is_readable:
        return "The provider keeps its text to itself, or a part of it, so nobody can tell what it lacks."
    if figures is None:
        return "What it kept is not known." if checkpoint.has_range else ""
    if not figures.items:
        return "Nothing in its range was said or used that it could keep."
    kept, changed = figures.kept, figures.changed
    told = f"It keeps {kept:,} of {counted(figures.items, 'thing')} that were said or used there"
    return f"{told}, and {changed:,} changed." if changed else f"{told}."


def calls_of(checkpoint: Checkpoint) -> str:
    """The calls whose prompts the range grew up in."""
    first, last = checkpoint.from_call or 0, checkpoint.to_call or 0
    return f"call {last:,}" if first == last else f"calls {first:,}–{last:,}"


def low_of(checkpoint: Checkpoint, figures: Figures | None) -> str:
    """What it means that a checkpoint in use kept almost nothing; empty where it kept more."""
    if figures is None or not figures.is_low or checkpoint.is_unused:
        return ""
    first = f"It kept almost nothing: {figures.kept:,} of {figures.items:,}."
    calls = calls_of(checkpoint)
    if checkpoint.origin == "made":
        return f"{first} An agent that went on from it would have to read again what it needs of {calls}."
    return f"{first} What the agent needed of {calls} was gone, unless it read it again."


def made_by(checkpoint: Checkpoint) -> str:
    """Who wrote it."""
    if checkpoint.origin == "recorded":
        return "the harness"
    return "an extract by rules" if checkpoint.is_extract else checkpoint.model or checkpoint.summarizer


def caution_of(checkpoint: Checkpoint) -> str:
    """What its text is, wherever it is shown."""
    return "an extract by rules, not evidence" if checkpoint.is_extract else "model output, not evidence"


def trigger_of(checkpoint: Checkpoint) -> str:
    return TRIGGER_WORDS.get(checkpoint.trigger, checkpoint.trigger.replace("_", " "))


def state_of(checkpoint: Checkpoint) -> str:
    """What is unusual about it; empty where it is in use."""
    if checkpoint.state in ("ok", "kept"):
        return "not on the active path" if checkpoint.is_detached else ""
    return STATE_WORDS.get(checkpoint.state, checkpoint.state)
