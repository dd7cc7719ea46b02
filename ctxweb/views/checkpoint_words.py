"""What the pages of checkpoints say in sentences."""

from __future__ import annotations

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.page import counted

TRIGGER_WORDS = {
    # trigger of a record or of a job: what people read
    "auto": "automatic",
    "manual": "asked for by hand",
    "agent": "asked for by the agent",
    "overflow": "the prompt was too long",
    "idle": "after a pause",
    "hook": "by a hook",
    "model_switch": "the model changed",
    "server": "by the provider",
    "api": "asked for by the API",
    "unknown": "",
}
UNUSED = ("refused", "superseded", "trial")
STATE_WORDS = {"superseded": "came too late", "trial": "a trial", "failed": "the record says that it failed"}


def finding_of(last: Checkpoint | None, figures: Figures | None, *, total: int) -> tuple[str, str]:
    """The answer line of the list: what the last checkpoint stands for, and what it kept of it."""
    if last is None:
        return "No checkpoint stands for anything in this session.", ""
    first = f"{counted(total, 'checkpoint')}. " if total > 1 else ""
    return f"{first}{stands_for(last)}", kept_of(last, figures)


def stands_for(checkpoint: Checkpoint) -> str:
    """`Checkpoint 2 stands for 329 blocks in 2,340 tokens.`"""
    if not checkpoint.has_range:
        return f"The file begins with checkpoint {checkpoint.key}: what it stands for is not in it."
    size = f" in {checkpoint.tokens:,} tokens" if checkpoint.tokens is not None else ""
    if checkpoint.state in UNUSED:
        return f"Checkpoint {checkpoint.key} was made of {counted(checkpoint.blocks, 'block')}{size}, and was not used."
    return f"Checkpoint {checkpoint.key} stands for {counted(checkpoint.blocks, 'block')}{size}."


def kept_of(checkpoint: Checkpoint, figures: Figures | None) -> str:
    """What it kept of the things that were said or used."""
    if not checkpoint.is_readable:
        return "The provider keeps its text to itself, so nobody can tell what it holds."
    if figures is None:
        return "What it kept is not known." if checkpoint.has_range else ""
    if not figures.items:
        return "Nothing in its range was said or used that it could keep."
    kept, changed = figures.kept, figures.changed
    told = f"It keeps {kept:,} of {counted(figures.items, 'thing')} that were said or used there"
    return f"{told}, and {changed:,} changed." if changed else f"{told}."


def made_by(checkpoint: Checkpoint) -> str:
    """Who wrote it."""
    if checkpoint.origin == "recorded":
        return "the agent’s harness"
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
