"""The session formats that can be read. Adding one is a file beside these and a line in `IMPORTERS`."""

from __future__ import annotations

from ctxweb.importers import (
    anthropic_messages,
    claude_code,
    codex,
    dsh,
    learn_claude_code,
    message_list,
    openai_messages,
    workbuddy,
)
from ctxweb.importers.base import Importer
from ctxweb.importers.physical import Head

LEAST_SCORE = 0.5

IMPORTERS: tuple[Importer, ...] = (
    claude_code.IMPORTER,
    codex.IMPORTER,
    dsh.IMPORTER,
    workbuddy.IMPORTER,
    learn_claude_code.IMPORTER,
    anthropic_messages.IMPORTER,
    openai_messages.IMPORTER,
    message_list.IMPORTER,
)


def recognise(head: Head) -> Importer | None:
    """The format that is surest of a source, by its content alone; None where none is sure enough. The first of equals."""
    score, importer = max(((importer.sniff(head), importer) for importer in IMPORTERS), key=lambda scored: scored[0])
    return importer if score >= LEAST_SCORE else None
