"""Bodies: the texts of blocks, stored and indexed once however often they are repeated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import connection
from django.db.models.functions import Substr

from compaction.counters.sizes import text_sizes
from compaction.messages import Body as TextBody
from ctxweb.models import Body, TokenCount
from ctxweb.services.importing.counts import Counts
from ctxweb.services.importing.tables import batches
from ctxweb.services.search_index import bodies_index

EXCERPT_CHARS = 200
_EXCERPT_SOURCE_CHARS = 1_000  # white space is folded, so an excerpt needs more than its own length
SIZE_COLUMNS = ("utf16", "utf8", "json", "repr", "object_json", "object_repr", "object_compact")
_INSERT = (
    f"INSERT INTO ctxweb_body (digest, text, chars, {', '.join(SIZE_COLUMNS)}) "
    f"VALUES ({', '.join(['%s'] * (3 + len(SIZE_COLUMNS)))}) ON CONFLICT (digest) DO NOTHING RETURNING id"
)
_NUL_SHOWN = "\u2400"  # neither database keeps NUL in text that can be searched


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBody:
    """Where a body is stored, its first words on one line, and its count under the encoding that was asked for."""

    id: int
    excerpt: str
    tokens: int | None
    exact: bool


def bodies_store(*, bodies: Iterable[TextBody]) -> None:
    """Store, measure and index those bodies with a text that are not stored yet; within the caller's transaction."""
    texts = {body.digest: body for body in bodies if body.text is not None}
    for digests in batches(sorted(texts)):  # sorted: two imports at once take the rows' locks in one order
        known = {bytes(digest) for digest in Body.objects.filter(digest__in=digests).values_list("digest", flat=True)}
        new = [digest for digest in digests if digest not in known]
        rows = [(digest, (texts[digest].text or "").replace("\0", _NUL_SHOWN), texts[digest].chars) for digest in new]
        bodies_index(bodies=_insert(rows))


def _insert(rows: list[tuple[bytes, str, int]]) -> list[tuple[int, str]]:
    """Insert the rows; the ids and texts of those that no other import inserted in the meantime."""
    inserted = []
    with connection.cursor() as cursor:
        for digest, text, chars in rows:
            sizes = text_sizes(text)
            cursor.execute(_INSERT, [digest, text, chars, *(getattr(sizes, name) for name in SIZE_COLUMNS)])
            if row := cursor.fetchone():
                inserted.append((row[0], text))
    return inserted


def bodies_stored(*, digests: Iterable[bytes], encoding: str) -> dict[bytes, StoredBody]:
    """The stored bodies of these digests."""
    found: dict[bytes, StoredBody] = {}
    for some in batches(set(digests)):
        counts = _counts(some, encoding)
        rows = Body.objects.filter(digest__in=some).annotate(opening=Substr("text", 1, _EXCERPT_SOURCE_CHARS))
        for body_id, digest, opening in rows.values_list("id", "digest", "opening"):
            tokens, exact = counts.get(body_id, (None, True))
            found[bytes(digest)] = StoredBody(id=body_id, excerpt=excerpt_of(opening), tokens=tokens, exact=exact)
    return found


def excerpt_of(text: str) -> str:
    """The first words of a text on one line, at most EXCERPT_CHARS characters."""
    return " ".join(text[:_EXCERPT_SOURCE_CHARS].split())[:EXCERPT_CHARS]


def tokens_of(*, digests: Iterable[bytes], encoding: str) -> Counts:
    """Counts by digest, for those bodies that are counted under the encoding."""
    return Counts(pair for some in batches(digests) for pair in _tokens(some, encoding))


def _tokens(digests: list[bytes], encoding: str) -> Iterator[tuple[bytes, int]]:
    rows = TokenCount.objects.filter(encoding=encoding, body__digest__in=digests)
    return ((bytes(digest), tokens) for digest, tokens in rows.values_list("body__digest", "tokens"))


def _counts(digests: list[bytes], encoding: str) -> dict[int, tuple[int, bool]]:
    rows = TokenCount.objects.filter(encoding=encoding, body__digest__in=digests)
    return {body_id: (tokens, exact) for body_id, tokens, exact in rows.values_list("body_id", "tokens", "exact")}
