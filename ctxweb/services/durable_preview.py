"""What the next call would get of a session's durable state: the exact text, bound to looks made now, and its exact tokens."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass

from compaction.counters.bpe import O200K_BASE, count_batch
from compaction.errors import SourceSystemError
from compaction.render import render_durable_context
from compaction.sources.resolver import resolve_durable_sources
from ctxweb.durable_rows import last_version, state_of
from ctxweb.models import Session
from ctxweb.sources.resolving import project_resolver

PIECE_CHARS = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewTwin:
    """Characters `start` … `end` (not included) of the text that version `version` renders to; `next` is where it goes on.

    `tokens` are exact, under `encoding`. `statuses` count the sources that were looked at for it, in this round: these looks
    write nothing. Where the machine could not look, `trouble` says why and there is no text.
    """

    session: str
    version: int
    encoding: str
    tokens: int
    chars: int
    statuses: dict[str, int]
    trouble: str
    start: int
    end: int
    text: str
    next: int | None


def durable_preview(*, session: Session, start: int = 0, chars: int = PIECE_CHARS) -> PreviewTwin:
    """The text from character `start` on, at most `chars` of them."""
    version = last_version(session=session.public_id)
    state = state_of(version)
    run = secrets.token_hex(8)
    trouble, text, statuses = "", "", Counter[str]()
    try:
        with project_resolver(project=session.project, pointers=state.pointers) as opened:
            resolutions = resolve_durable_sources(state, opened.resolver, run=run)
    except SourceSystemError as error:
        trouble = str(error)
    else:
        text = render_durable_context(state, resolutions, run=run)
        statuses = Counter(one.status for one in resolutions)
    encoding = session.encoding or O200K_BASE.id
    piece = text[start : start + chars]
    return PreviewTwin(
        session=session.public_id,
        version=0 if version is None else version.number,
        encoding=encoding,
        tokens=count_batch([text], encoding)[0].tokens if text else 0,
        chars=len(text),
        statuses=dict(statuses),
        trouble=trouble,
        start=start,
        end=start + len(piece),
        text=piece,
        next=start + len(piece) if start + len(piece) < len(text) else None,
    )
