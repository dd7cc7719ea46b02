"""Full-text search over all sessions: words, parts of code, Chinese. The index finds words, a bounded scan finds the rest."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Max, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce, Greatest, Lower, NullIf, StrIndex, Substr

from ctxweb.models import Block, Body, Message, Session
from ctxweb.search_text import words_of
from ctxweb.vocabulary import kind_of

MOST_BODIES = 200  # found for one page
MOST_GROUPS = 20  # sessions on one page
HITS_SHOWN = 4  # of one session among others
HITS_ALONE = 120  # of a session that is searched alone, so that the page stays under 100 KB
SCAN_STEP = 4_000  # bodies of one step of a scan
LEAD = 60  # characters of an excerpt before the match
EXCERPT = 220
LONGEST_QUESTION = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBodies:
    """Ids of bodies, newest first. `scanned`: the index had nothing, so texts were read; `complete`: all of them were."""

    ids: tuple[int, ...]
    scanned: bool
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    text: str
    match: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A block whose text matches. `excerpt` is the text around the first match, in pieces."""

    seq: int
    i: int
    kind: str
    role: str
    at: datetime | None
    excerpt: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHits:
    id: str
    name: str
    format: str
    lane: str
    ended_at: datetime | None
    hits: tuple[Hit, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """`found` blocks in `groups`, sessions by their newest body, hits in the order of the file.

    `capped`: there is more than is shown. `seconds` is the limit of a scan.
    """

    q: str
    session: str
    groups: tuple[SessionHits, ...]
    found: int
    capped: bool
    scanned: bool
    complete: bool
    seconds: int


def search_page(*, q: str, session: str = "") -> SearchPage:
    """What is found for `q` in the published sessions, or in the session of that public id alone."""
    q = q.strip()[:LONGEST_QUESTION]
    found = bodies_with(q=q, most=MOST_BODIES + 1, session=session)
    blocks = _blocks(found.ids[:MOST_BODIES], session)
    shown = blocks[:HITS_ALONE] if session else _first_of_each(blocks)
    return SearchPage(
        q=q,
        session=session,
        groups=_groups(shown, blocks, q),
        found=len(blocks),
        capped=len(found.ids) > MOST_BODIES or len({block.revision_id for block in blocks}) > MOST_GROUPS,
        scanned=found.scanned,
        complete=found.complete,
        seconds=settings.CTXWEB_SEARCH_SECONDS,
    )


def bodies_with(*, q: str, most: int, session: str = "") -> FoundBodies:
    """Up to `most` bodies that hold every term of `q`: by the index, or by a scan where it finds none."""
    terms = q.split()
    if not terms:
        return FoundBodies(ids=(), scanned=False, complete=True)
    phrases = [words for term in terms if (words := words_of(term))]
    ids = _indexed(phrases, most=most, session=session) if phrases else ()
    if ids:
        return FoundBodies(ids=ids, scanned=False, complete=True)
    return _scanned(terms, most=most, session=session)


def _indexed(phrases: Sequence[tuple[str, ...]], *, most: int, session: str) -> tuple[int, ...]:
    sqlite = connection.vendor == "sqlite"
    ids = "SELECT rowid AS id FROM ctxweb_body_words WHERE words MATCH %s" if sqlite else (
        "SELECT body_id AS id FROM ctxweb_body_words WHERE words @@ to_tsquery('simple', %s)"
    )  # fmt: skip
    parameters: list[str | int] = [_sqlite_question(phrases) if sqlite else _postgres_question(phrases)]
    if session:
        ids = (
            f"SELECT id FROM ({ids}) AS found WHERE id IN (SELECT block.body_id FROM ctxweb_block AS block "
            "JOIN ctxweb_session AS own ON own.current_id = block.revision_id WHERE own.public_id = %s)"
        )
        parameters.append(session)
    with transaction.atomic(), connection.cursor() as cursor:
        if not sqlite:
            cursor.execute("SET LOCAL statement_timeout = %s", [settings.CTXWEB_SEARCH_SECONDS * 1000])
        cursor.execute(f"SELECT DISTINCT id FROM ({ids}) AS matching ORDER BY id DESC LIMIT %s", [*parameters, most])
        return tuple(row[0] for row in cursor.fetchall())


def _sqlite_question(phrases: Sequence[tuple[str, ...]]) -> str:
    """Words of a term side by side, the last one open at its end; all terms."""
    return " ".join(" + ".join(f'"{word}"' for word in words) + " *" for words in phrases)


def _postgres_question(phrases: Sequence[tuple[str, ...]]) -> str:
    return " & ".join("(" + " <-> ".join(f"'{word}'" for word in words) + ":*)" for words in phrases)


def _scanned(terms: Sequence[str], *, most: int, session: str) -> FoundBodies:
    """Read texts from the newest back, until enough are found or the time is over."""
    deadline = time.monotonic() + settings.CTXWEB_SEARCH_SECONDS
    bodies = Body.objects.all()
    if session:
        revision = Session.objects.filter(public_id=session).values("current_id")
        bodies = bodies.filter(pk__in=Block.objects.filter(revision_id__in=revision).values("body_id"))
    for term in terms:
        bodies = bodies.filter(text__icontains=term)
    upper = (Body.objects.aggregate(last=Max("pk"))["last"] or 0) + 1
    found: list[int] = []
    while upper > 1 and len(found) < most:
        if time.monotonic() > deadline:
            return FoundBodies(ids=tuple(found), scanned=True, complete=False)
        step = bodies.filter(pk__lt=upper, pk__gte=upper - SCAN_STEP).order_by("-pk")
        found.extend(step.values_list("pk", flat=True)[: most - len(found)])
        upper -= SCAN_STEP
    return FoundBodies(ids=tuple(found), scanned=True, complete=True)


def _blocks(bodies: Sequence[int], session: str) -> list[Block]:
    """The blocks of published sessions that hold these bodies: sessions by their newest body, in the order of the file within each."""
    message = Message.objects.filter(revision=OuterRef("revision"), seq=OuterRef("seq"))
    published = Session.objects.filter(current__isnull=False)
    if session:
        published = published.filter(public_id=session)
    found = list(
        Block.objects.filter(body_id__in=bodies, revision_id__in=published.values("current_id"))
        .annotate(
            role=Subquery(message.values("role")[:1]),
            origin=Subquery(message.values("origin")[:1]),
            at=Subquery(message.values("at")[:1]),
        )
        .only("revision_id", "seq", "i", "kind", "body_id")
        .order_by("-body_id", "revision_id", "seq", "i")[: MOST_BODIES * 2]
    )
    places = {revision: at for at, revision in enumerate(dict.fromkeys(block.revision_id for block in found))}
    return sorted(found, key=lambda block: (places[block.revision_id], block.seq, block.i))


def _first_of_each(blocks: Sequence[Block]) -> list[Block]:
    """The first hits of each of the first sessions."""
    kept: list[Block] = []
    counts: dict[int, int] = {}
    for block in blocks:
        have = counts.get(block.revision_id, 0)
        if have >= HITS_SHOWN or (not have and len(counts) >= MOST_GROUPS):
            continue
        counts[block.revision_id] = have + 1
        kept.append(block)
    return kept


def _groups(shown: Sequence[Block], blocks: Sequence[Block], q: str) -> tuple[SessionHits, ...]:
    excerpts = _excerpts({block.body_id for block in shown}, q)
    sessions = {session.current_id: session for session in Session.objects.filter(current_id__in={block.revision_id for block in shown})}
    groups = []
    for revision in dict.fromkeys(block.revision_id for block in shown):
        session = sessions[revision]
        own = [block for block in shown if block.revision_id == revision]
        groups.append(
            SessionHits(
                id=session.public_id,
                name=session.title or session.native_id or session.public_id,
                format=session.format,
                lane=session.lane,
                ended_at=session.ended_at,
                hits=tuple(_hit(block, excerpts[block.body_id]) for block in own),
                more=sum(block.revision_id == revision for block in blocks) - len(own),
            )
        )
    return tuple(groups)


def _hit(block: Block, excerpt: tuple[Piece, ...]) -> Hit:
    role, origin = block.role, block.origin  # type: ignore[attr-defined]  # annotated by `_blocks`
    return Hit(
        seq=block.seq,
        i=block.i,
        kind=kind_of(kind=block.kind, role=role, origin=origin),
        role=role,
        at=block.at,  # type: ignore[attr-defined]
        excerpt=excerpt,
    )


def _excerpts(bodies: set[int], q: str) -> dict[int, tuple[Piece, ...]]:
    """Text around the first match of each body; the database cuts it, so that a long text stays where it is."""
    terms = q.split()
    needles = [terms[0].lower(), *words_of(terms[0])[:1]] if terms else []
    first = Coalesce(*(NullIf(StrIndex(Lower("text"), Value(needle)), Value(0)) for needle in needles), Value(1), Value(1))
    excerpt = Substr("text", Greatest(F("found") - LEAD, Value(1)), EXCERPT)
    rows = Body.objects.filter(pk__in=bodies).annotate(found=first).values_list("pk", "found", excerpt)
    return {pk: _pieces(text, terms, cut=found > LEAD) for pk, found, text in rows}


def _pieces(text: str, terms: Sequence[str], *, cut: bool) -> tuple[Piece, ...]:
    """The excerpt on one line, with the matches apart: whole terms, else their words, which the text joins by other signs."""
    line = " ".join(text.split())
    words = [word for term in terms for word in words_of(term)]
    pattern = _any_of(terms) if _any_of(terms).search(line) else _any_of(words)
    pieces, start = [Piece(text="…", match=False)] if cut else [], 0
    for match in pattern.finditer(line) if pattern.pattern else ():
        if match.start() > start:
            pieces.append(Piece(text=line[start : match.start()], match=False))
        pieces.append(Piece(text=match.group(), match=True))
        start = match.end()
    if start < len(line):
        pieces.append(Piece(text=line[start:], match=False))
    return tuple(pieces)


def _any_of(needles: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(needle) for needle in sorted(needles, key=len, reverse=True)), re.IGNORECASE)
