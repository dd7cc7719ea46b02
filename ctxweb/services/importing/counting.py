"""The counting stage: each distinct body of a source is counted once under the encoding of its session's model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models import Exists, OuterRef

from compaction.counters import bpe
from compaction.counters.agreement import agrees
from ctxweb.jobs import JobRun
from ctxweb.models import Body, TokenCount
from ctxweb.services.importing.tables import batches, rows_insert

BATCH_CHARS = 1_000_000
_COLUMNS = ("body_id", "encoding", "tokens", "exact")


def bodies_count(*, run: JobRun, digests: set[bytes], encoding: str) -> None:
    """Count those bodies of the source that have no count under the encoding yet, in committed batches."""
    done = 0
    for some in batches(sorted(digests)):
        for ids in _uncounted(some, encoding):
            _count(run, ids, encoding, done, len(digests))
        done += len(some)


def _uncounted(digests: list[bytes], encoding: str) -> Iterator[list[int]]:
    """Ids of bodies without a count, in lists of about BATCH_CHARS characters of text."""
    counted = Exists(TokenCount.objects.filter(body=OuterRef("pk"), encoding=encoding))
    yield from _by_chars(list(Body.objects.filter(~counted, digest__in=digests).values_list("id", "chars")))


def _by_chars(rows: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    ids: list[int] = []
    size = 0
    for body_id, chars in rows:
        ids.append(body_id)
        size += chars
        if size >= BATCH_CHARS:
            yield ids
            ids, size = [], 0
    if ids:
        yield ids


def _count(run: JobRun, ids: list[int], encoding: str, done: int, total: int) -> None:
    texts = dict(Body.objects.filter(id__in=ids).values_list("id", "text"))
    figures = bpe.count_batch(list(texts.values()), encoding, fast=agrees(encoding))
    rows = [(body_id, encoding, figure.tokens, figure.exact) for body_id, figure in zip(texts, figures, strict=True)]
    with run.commit(stage="counting", unit="texts", done=done, total=total):
        rows_insert(TokenCount, _COLUMNS, rows, skip_known=True)  # another import may have been faster
