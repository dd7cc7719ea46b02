"""Removing what is no longer, or not yet, part of what readers see."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ctxweb.models import AddedBlock, Block, Compaction, Finding, History, LedgerEntry, Message, ModelCall, Record, Revision, Source, Span
from ctxweb.services.importing.tables import rows_delete

Commit = Callable[[], AbstractContextManager[Any]]


def revision_remove(*, revision_id: int, commit: Commit) -> None:
    """Remove a revision that no session shows, with its rows, in batches."""
    for history_id in list(History.objects.filter(revision_id=revision_id).values_list("pk", flat=True)):
        history_remove(history_id=history_id, commit=commit)
    for rows in (Finding, ModelCall, Block, Message):
        rows_delete(rows, commit=commit, revision_id=revision_id)
    rows_delete(Revision, commit=commit, pk=revision_id)


def history_remove(*, history_id: int, commit: Commit) -> None:
    """Remove a history with its rows, in batches. Texts that it brought stay: bodies are shared."""
    for table in (Span, LedgerEntry, Compaction, AddedBlock):
        rows_delete(table, commit=commit, history_id=history_id)
    rows_delete(History, commit=commit, pk=history_id)


def source_remove(*, source: Source, commit: Commit) -> None:
    """Remove a source that was never shown, with its records and unfinished revisions; the raw bytes are the caller's."""
    for revision_id in list(Revision.objects.filter(source=source).values_list("pk", flat=True)):
        revision_remove(revision_id=revision_id, commit=commit)
    rows_delete(Record, commit=commit, source_id=source.pk)
    rows_delete(Source, commit=commit, pk=source.pk)


def revisions_sweep(*, commit: Commit) -> None:
    """Remove the revisions that another one contains."""
    for revision_id in list(Revision.objects.filter(state=Revision.State.DISCARDED).values_list("pk", flat=True)):
        revision_remove(revision_id=revision_id, commit=commit)
