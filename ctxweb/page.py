"""The frame around every page: title, JSON twin, and on a session's pages its header and its tabs with their answers.

A new tab is one file of views and one line in `TABS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from compaction.policies import POLICIES
from ctxweb import addresses
from ctxweb.checkpoints.rows import checkpoint_count
from ctxweb.models import History, Session
from ctxweb.queries.report import SOUND
from ctxweb.queries.source_counts import NO_SOURCES, SourceCounts, session_sources
from ctxweb.vocabulary import FORMAT_NAMES

THEMES = ("light", "dark")  # anything else follows the system
THEME_COOKIE = "ctxweb_theme"
NAV = (
    # section, word, address
    ("sessions", "Sessions", addresses.SESSIONS),
    ("audit", "Audit", addresses.AUDIT),
    ("jobs", "Jobs", addresses.JOBS),
    ("settings", "Settings", addresses.SETTINGS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the reader has selected, so that a change of tab keeps it: a call number, a block `seq.i`, and a replay that was
    kept, by its public id, with the number of blocks that it removed; how the session's sources stand; and its number of
    checkpoints."""

    call: int | None = None
    block: str | None = None
    history: str = ""
    removed: int = 0
    sources: SourceCounts = NO_SOURCES
    checkpoints: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TabKind:
    """One page of a session. `address` is None where the tab has nothing to show; `alert` marks an answer that is a warning.
    `calm` is what the answer of a watched tab is while there is nothing to warn of."""

    id: str
    label: str
    key: str
    address: Callable[[Session, Chosen], str | None]
    answer: Callable[[Session, Chosen], str]
    alert: Callable[[Session, Chosen], bool] = lambda session, chosen: False
    calm: Callable[[Chosen], str] = lambda chosen: ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    label: str
    answer: str
    address: str
    key: str
    alert: bool
    calm: str
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """Identification of a session. Token figures are those that the provider reported; None is unknown.
    `size` is that of the whole file, of which the lane is only a part where `shares_file`."""

    public_id: str
    name: str
    parent: str | None
    lane: str
    format: str
    producer_version: str
    model: str
    calls: int
    records: int
    size: int | None
    shares_file: bool
    started_at: datetime | None
    ended_at: datetime | None
    peak: int | None
    window: int | None
    window_is_assumed: bool
    sent: int | None
    cached_share: float | None
    output: int | None
    output_is_low: bool
    tabs: tuple[Tab, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """`h` and `h_more` are the query of links that stay in the history shown, with `?` or behind another parameter: empty for the
    recorded one."""

    title: str
    section: str
    json: str
    theme: str
    session: SessionHeader | None
    h: str = ""
    h_more: str = ""
    nav: tuple[tuple[str, str, str], ...] = NAV


def counted(count: int, word: str) -> str:
    """`1 drop`, `3 drops`, `1,302 blocks`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def session_name(session: Session) -> str:
    """What a person calls it: its title, else the id in the file, else ours."""
    return session.title or session.native_id or session.public_id


def _compactions_answer(session: Session, chosen: Chosen) -> str:
    parts = []
    if session.recorded_compactions:
        parts.append(counted(session.recorded_compactions, "compaction"))
    if session.inferred_drops:
        parts.append(f"{session.inferred_drops:,} not recorded")
    return ", ".join(parts) or "no compaction"


def _fate_address(session: Session, chosen: Chosen) -> str | None:
    if chosen.block is None:
        return None
    seq, _, i = chosen.block.partition(".")
    return addresses.fate(session.public_id, int(seq), int(i), h=chosen.history)


def _ledger_answer(session: Session, chosen: Chosen) -> str:
    removed = chosen.removed if chosen.history else session.removed_blocks
    return f"{removed:,} removed" if removed else "nothing removed"


def _not_understood(session: Session) -> int:
    return sum(count for verdict, count in session.verdicts.items() if verdict not in SOUND)


def _import_answer(session: Session, chosen: Chosen) -> str:
    odd = _not_understood(session)
    return f"{session.record_count - odd:,} of {session.record_count:,}"


TABS: tuple[TabKind, ...] = (
    TabKind(
        id="overview",
        label="Overview",
        key="g o",
        address=lambda session, chosen: addresses.overview(session.public_id, call=chosen.call),
        answer=_compactions_answer,
    ),
    TabKind(
        id="messages",
        label="Messages",
        key="g m",
        address=lambda session, chosen: addresses.messages(session.public_id),
        answer=lambda session, chosen: f"{session.message_count:,}",
    ),
    TabKind(
        id="view",
        label="View",
        key="g v",
        address=lambda session, chosen: (
            addresses.view(session.public_id, chosen.call or session.call_count, h=chosen.history) if session.call_count else None
        ),
        answer=lambda session, chosen: f"call {chosen.call or session.call_count:,}",
    ),
    TabKind(
        id="ledger",
        label="Ledger",
        key="g l",
        address=lambda session, chosen: addresses.ledger(session.public_id, h=chosen.history),
        answer=_ledger_answer,
    ),
    TabKind(
        id="fate",
        label="Fate",
        key="g f",
        address=_fate_address,
        answer=lambda session, chosen: f"block {chosen.block}",
    ),
    TabKind(
        id="checkpoints",
        label="Checkpoints",
        key="g c",
        address=lambda session, chosen: addresses.checkpoints(session.public_id),
        answer=lambda session, chosen: f"{chosen.checkpoints:,}" if chosen.checkpoints else "none",
    ),
    TabKind(
        id="replay",
        label="Replay",
        key="g r",
        address=lambda session, chosen: addresses.replay(session.public_id) if session.call_count else None,
        answer=lambda session, chosen: f"{len(POLICIES)} policies",
    ),
    TabKind(
        id="sources",
        label="Sources",
        key="g d",
        address=lambda session, chosen: addresses.sources(session.public_id),
        answer=lambda session, chosen: chosen.sources.said,
        alert=lambda session, chosen: bool(chosen.sources.worst),
        calm=lambda chosen: chosen.sources.calm,
    ),
    TabKind(
        id="import",
        label="Import",
        key="g i",
        address=lambda session, chosen: addresses.import_report(session.public_id),
        answer=_import_answer,
        alert=lambda session, chosen: _not_understood(session) > 0,
    ),
)


def _tabs(session: Session, current: str, chosen: Chosen) -> tuple[Tab, ...]:
    tabs = []
    for kind in TABS:
        address = kind.address(session, chosen)
        if address is not None:
            tabs.append(
                Tab(
                    label=kind.label,
                    answer=kind.answer(session, chosen),
                    address=address,
                    key=kind.key,
                    alert=kind.alert(session, chosen),
                    calm=kind.calm(chosen),
                    current=kind.id == current,
                )
            )
    return tuple(tabs)


def _shares_file(session: Session) -> bool:
    """Whether the lane is only a part of the records of its file."""
    return session.current is not None and session.record_count < session.current.source.record_count


def session_header(session: Session, *, tab: str, chosen: Chosen) -> SessionHeader:
    """The header of a session's page. Load the session with `select_related("current__source", "parent")`."""
    sent = [session.input_tokens, session.cache_write_tokens, session.cache_read_tokens]
    total = sum(part or 0 for part in sent) if session.input_tokens is not None else None
    return SessionHeader(
        public_id=session.public_id,
        name=session_name(session),
        parent=session.parent.public_id if session.parent else None,
        lane=session.lane,
        format=FORMAT_NAMES.get(session.format, session.format),
        producer_version=session.producer_version,
        model=session.model,
        calls=session.call_count,
        records=session.record_count,
        size=session.current.source.size if session.current else None,
        shares_file=_shares_file(session),
        started_at=session.started_at,
        ended_at=session.ended_at,
        peak=session.peak_context,
        window=session.window,
        window_is_assumed=session.window_is_assumed,
        sent=total,
        cached_share=(session.cache_read_tokens or 0) / total if total else None,
        output=session.output_tokens,
        output_is_low="output_unreliable" in session.usage_flags,
        tabs=_tabs(session, tab, chosen),
    )


def frame(request: HttpRequest, *, title: str, section: str, json: str) -> Frame:
    """The frame of a page that belongs to no session."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return Frame(title=title, section=section, json=json, theme=theme if theme in THEMES else "", session=None)


def session_frame(
    request: HttpRequest,
    session: Session,
    *,
    tab: str,
    title: str,
    json: str,
    call: int | None = None,
    block: str | None = None,
    history: History | None = None,
) -> Frame:
    """The frame of a session's page: `tab` is its id in `TABS`, `title` its answer; `call`, `block` and `history` are selected."""
    replayed = history if history is not None and history.origin == "replayed" else None
    chosen = Chosen(
        call=call,
        block=block,
        history=replayed.public_id if replayed else "",
        removed=int(replayed.report.get("removed_blocks", 0)) if replayed else 0,
        sources=session_sources(session=session.public_id),
        checkpoints=checkpoint_count(session=session),
    )
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return Frame(
        title=f"{title} · {session_name(session)}",
        section="sessions",
        json=json,
        theme=theme if theme in THEMES else "",
        session=session_header(session, tab=tab, chosen=chosen),
        h=f"?h={chosen.history}" if chosen.history else "",
        h_more=f"&h={chosen.history}" if chosen.history else "",
    )


def show(
    request: HttpRequest, *, template: str, frame: Frame, page: Any, fragments: Mapping[str, str] | None = None, status: int = 200
) -> HttpResponse:
    """Render the whole page, or the fragment whose target htmx named.

    `fragments` maps the id of an element to the template of what is inside it. Templates see `frame` and `page`, nothing else.
    """
    htmx = getattr(request, "htmx", None)
    if htmx and not htmx.history_restore_request and fragments and htmx.target in fragments:
        template = fragments[htmx.target]
    response = render(request, template, {"frame": frame, "page": page}, status=status)
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response
