"""The full-text index: one entry for each distinct body, written in the transaction that stores the body.

How to ask it (the words of a question come from `ctxweb.search_text.words_of`, which cuts as the index was cut):

- SQLite: table `ctxweb_body_words`, FTS5 without content, rowid = body id.
  `SELECT rowid FROM ctxweb_body_words WHERE words MATCH '"get" + "user" + "nam" *' ORDER BY rowid DESC LIMIT 50`:
  the words of one term as a phrase (they stand side by side in the text), the last one open at its end; several terms
  are joined by a blank. Write each word in double quotes. The text for a snippet comes from `Body.text`.
- PostgreSQL: table `ctxweb_body_words(body_id, part, words tsvector)`; a long body has several parts.
  `SELECT DISTINCT body_id FROM ctxweb_body_words WHERE words @@ to_tsquery('simple', '''get'' <-> ''user'' <-> ''nam'':*')`.
- A substring that does not begin at a word (`etUser`, one Chinese character inside a longer run on PostgreSQL) is not in
  the index. Fall back to a scan that is bounded in time: `Body.objects.filter(text__contains=q)`, newest bodies first,
  in id ranges of some thousands until enough are found or CTXWEB_SEARCH_SECONDS are over.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from ctxweb.search_text import segmented, words_of

PART_CHARS = 200_000  # a tsvector holds at most 1 MiB
_SQLITE_INSERT = "INSERT INTO ctxweb_body_words(rowid, words) VALUES (%s, %s)"
_POSTGRES_INSERT = (
    "INSERT INTO ctxweb_body_words(body_id, part, words) VALUES (%s, %s, to_tsvector('simple', %s)) "
    "ON CONFLICT (body_id, part) DO UPDATE SET words = excluded.words"
)


def bodies_index(*, bodies: Iterable[tuple[int, str]]) -> None:
    """Index new bodies, given as (id, text); within the transaction that stored them."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(_SQLITE_INSERT, [(body_id, segmented(text)) for body_id, text in bodies])
        else:
            cursor.executemany(_POSTGRES_INSERT, [row for body_id, text in bodies for row in _parts(body_id, text)])


def index_clear() -> None:
    """Forget all entries, before a rebuild."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO ctxweb_body_words(ctxweb_body_words) VALUES ('delete-all')")
        else:
            cursor.execute("TRUNCATE ctxweb_body_words")


def _parts(body_id: int, text: str) -> Iterable[tuple[int, int, str]]:
    """Bare words, because PostgreSQL's parser takes a path or an address for one word; cut at blanks, so that none is halved."""
    words = " ".join(words_of(text))
    part, start = 0, 0
    while start < len(words):
        end = min(start + PART_CHARS, len(words))
        if end < len(words):
            blank = words.rfind(" ", start, end)
            end = blank if blank > start else end
        yield body_id, part, words[start:end]
        part, start = part + 1, end
