"""Whether this installation works: database, queue, tokenizers, store, limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import redis
from django.conf import settings
from django.db import connection
from django.db.models import Count, Q

from compaction.counters.bpe import versions
from compaction.counters.models import ENCODINGS
from ctxweb.checks import SQLITE_IN_FORCE
from ctxweb.home import Home
from ctxweb.models import Body, Job, Project, Session, Source, TokenCount
from ctxweb.queries.jobs import last_finished
from ctxweb.queries.roots import absence_told
from ctxweb.serve.broker import answers, embedded_client

QUEUE_SECONDS = 0.5
State = Literal["ok", "warning", "failed"]
LIMITS = (
    # setting and environment variable, unit, what it bounds
    ("CTXWEB_MAX_UPLOAD_BYTES", "bytes", "a source, as it is sent or found"),
    ("CTXWEB_MAX_EXPANDED_BYTES", "bytes", "a source once it is unpacked"),
    ("CTXWEB_MAX_LINE_BYTES", "bytes", "a record that is parsed; a longer one is kept and not parsed"),
    ("CTXWEB_MAX_JSON_DEPTH", "levels", "nesting of a record that is parsed"),
    ("CTXWEB_MAX_RECORDS", "records", "records of a source"),
    ("CTXWEB_MAX_POST_BYTES", "bytes", "a request that is no upload"),
    ("CTXWEB_PAGE_ROWS", "rows", "a window of rows of a page or of its JSON twin"),
    ("CTXWEB_DIFF_LINES", "lines", "each text of a difference; what lies behind is not compared"),
    ("CTXWEB_DIFF_CHARS", "characters", "each text of a difference; what lies behind is not compared"),
    ("CTXWEB_CHECKPOINT_CHARS", "characters", "the range of a checkpoint; the oldest blocks beyond are left out and counted"),
    ("CTXWEB_BODY_PREVIEW_BYTES", "bytes", "a text that is sent unasked"),
    ("CTXWEB_SEARCH_SECONDS", "seconds", "a search"),
    ("CTXWEB_UNIT_TEXTS", "texts", "the texts on which units are held against exact tokens; of more, as many are taken evenly"),
    ("CTXWEB_RULES_BLOCKS", "blocks", "the blocks of all prompts of a lane that is checked as a whole by the rules of providers"),
    ("CTXWEB_CONCURRENT_IMPORTS", "imports", "imports at the same time"),
    ("CTXWEB_CONCURRENT_SUMMARIES", "summaries", "summaries at the same time"),
    ("CTXWEB_SUMMARY_MAX_TOKENS", "tokens", "a summary, and the answer of a model"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must work: `found` is what was measured, `advice` what to do where it does not hold."""

    name: str
    state: State
    found: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    name: str
    value: int
    unit: str
    bounds: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What a part of the state folder takes, in bytes."""

    name: str
    path: str
    files: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """A public tokenizer: how many distinct texts were counted under it, and how many of these in pieces, so only nearly."""

    encoding: str
    texts: int
    in_pieces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`api_token` is the place of the token's file, never the token."""

    checks: tuple[Check, ...]
    tokenizers: tuple[Tokenizer, ...]
    counters: str
    last_finished: datetime | None
    waiting: int
    folders: tuple[Folder, ...]
    limits: tuple[Limit, ...]
    home: str
    api_token: str
    sessions: int
    sources: int
    bodies: int


def health(*, home: Home, now: datetime) -> Health:
    """Everything that the page shows, as it stands at `now`."""
    waiting = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.LEASED)).count()
    finished = last_finished().values_list("ended_at", flat=True).first()
    return Health(
        checks=(*_database_checks(), _queue_check(home, waiting), *_root_checks()),
        tokenizers=_tokenizers(),
        counters=_counters(),
        last_finished=finished,
        waiting=waiting,
        folders=tuple(_folders(home)),
        limits=tuple(Limit(name=name, value=getattr(settings, name), unit=unit, bounds=bounds) for name, unit, bounds in LIMITS),
        home=str(home.root),
        api_token=str(home.api_token),
        sessions=Session.objects.filter(current__isnull=False).count(),
        sources=Source.objects.count(),
        bodies=Body.objects.count(),
    )


def _database_checks() -> Iterator[Check]:
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("SHOW server_version")
            yield Check(name="PostgreSQL", state="ok", found=str(cursor.fetchone()[0]), advice="")
            return
        for pragma, expected, setting in SQLITE_IN_FORCE:
            cursor.execute(f"PRAGMA {pragma}")
            found = cursor.fetchone()[0]
            holds = found == expected
            advice = "" if holds else f"Should be {expected}: DATABASES needs {setting}."
            yield Check(name=f"SQLite {pragma}", state="ok" if holds else "failed", found=str(found), advice=advice)
        mode = getattr(connection, "transaction_mode", None)
        holds = mode == "IMMEDIATE"
        advice = "" if holds else "Should be IMMEDIATE: DATABASES needs OPTIONS.transaction_mode."
        yield Check(name="SQLite transaction mode", state="ok" if holds else "failed", found=str(mode), advice=advice)


def _root_checks() -> Iterator[Check]:
    """The folders of each project that has some."""
    for project in Project.objects.order_by("pk"):
        told, roots = absence_told(project), len({*project.transcript_roots, *project.artifact_roots})
        if roots:
            found = "not every root can be read" if told else f"{roots:,} can be read"
            yield Check(name=f"Roots of project {project.pk}", state="warning" if told else "ok", found=found, advice=told)


def _queue_check(home: Home, waiting: int) -> Check:
    """The queue is only a doorbell: without it jobs wait for the sweeper, nothing is lost."""
    if answers(_broker(home)):
        return Check(name="Queue", state="ok", found="answers", advice="")
    advice = "Jobs wait until the broker answers: start everything with `manage.py serve`, or set REDIS_URL."
    return Check(name="Queue", state="failed" if waiting else "warning", found="no answer", advice=advice)


def _broker(home: Home) -> redis.Redis:
    if settings.REDIS_URL:
        return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=QUEUE_SECONDS, socket_connect_timeout=QUEUE_SECONDS)
    return embedded_client(home)


def _tokenizers() -> tuple[Tokenizer, ...]:
    rows = TokenCount.objects.values("encoding").annotate(texts=Count("pk"), in_pieces=Count("pk", filter=Q(exact=False)))
    found = {row["encoding"]: row for row in rows.order_by("encoding")}
    unused = {"texts": 0, "in_pieces": 0}
    return tuple(Tokenizer(**({"encoding": name} | unused | found.get(name, {}))) for name in ENCODINGS)


def _counters() -> str:
    """The packages that count, with their versions."""
    slow, fast = versions()
    return f"tiktoken {slow} defines the count" + (f", toktok-rs {fast} is there as the fast path" if fast else ", there is no fast path")


def _folders(home: Home) -> Iterator[Folder]:
    parts = (
        ("database", home.database),
        ("raw sources", home.blobs),
        ("uploads", home.uploads),
        ("broker", home.broker),
        ("log", home.log),
    )
    for name, path in parts:
        files = [file for file in _files(path) if file.is_file()]
        yield Folder(name=name, path=str(path), files=len(files), size=sum(file.stat().st_size for file in files))


def _files(path: Path) -> list[Path]:
    """The files under a folder, or a file with those that belong to it (SQLite's log)."""
    return list(path.rglob("*")) if path.is_dir() else list(path.parent.glob(f"{path.name}*"))
