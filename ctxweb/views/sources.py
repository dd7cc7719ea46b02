"""Sources: a session's facts, pending items and evidence, each with the state of its source, which is watched while one looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from compaction.durable.values import Domain
from ctxweb import addresses
from ctxweb.models import Session
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.readable import readable_session
from ctxweb.queries.roots import absence_told
from ctxweb.queries.source_counts import STATUSES, SourceCounts, session_sources
from ctxweb.queries.sources import PARTS, Part, Stored, open_proposals, source_item, source_parts, stored_state
from ctxweb.services.source_jobs import verification_open
from ctxweb.views import asked
from ctxweb.views.names import NAMELESS, known_name
from ctxweb.views.source_panel import ItemPanel, item_panel
from ctxweb.views.source_rows import PartCard, item_row
from ctxweb.views.source_words import ProposalLine, finding_of, proposal_line, title_of
from ctxweb.views.windows import page_rows

FIRST = {"facts": 50, "pending_items": 20, "retrieval_evidence": 12}  # rows that come with the page: it stays under 100 KB
PART_ROWS = 80
PROPOSALS = 8
TITLES = {
    "facts": ("Facts", "fact"),
    "pending_items": ("Pending", "work"),
    "retrieval_evidence": ("Retrieval evidence", "source"),
}
PANEL = "panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLink:
    """A status to filter by: how many sources have it."""

    name: str
    count: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalCard:
    """Items that wait for a person; `more` leads to the next ones."""

    title: str
    total: int
    lines: tuple[ProposalLine, ...]
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesPage:
    """`version` is the number of the state shown, 0 before the first; `selected` the item of the panel."""

    public_id: str
    address: str
    events: str
    badges: str
    finding: str
    roots: str
    detail: str
    version: int
    counts: SourceCounts
    statuses: tuple[StatusLink, ...]
    status: str
    cards: tuple[PartCard, ...]
    proposals: tuple[ProposalCard, ...]
    panel: ItemPanel | None
    is_empty: bool
    is_unmatched: bool
    is_part: bool


@require_safe
def sources(request: HttpRequest, session_id: str) -> HttpResponse:
    session, _ = readable_session(public_id=session_id)
    stored = stored_state(session=session)
    page = _page(request, stored)
    frame = session_frame(
        request, session, tab="sources", title=title_of(page.counts, "Sources"), json=addresses.api_session(session_id, "durable")
    )
    fragments = {PANEL: "sources/_panel.html"} | {f"{name}-more": "sources/_part.html" for name in PARTS}
    return show(request, template="sources/page.html", frame=frame, page=page, fragments=fragments)


@require_POST
def source_verify(request: HttpRequest, session_id: str) -> HttpResponse:
    """Verify all sources of the session, or that of `item`, by a job; go to where one sees it."""
    session, _ = readable_session(public_id=session_id)
    key = asked.text(request.POST, "item", longest=40)
    pointer = source_item(stored=stored_state(session=session), key=key).pointer if key else ""
    actor = known_name(request) or NAMELESS
    job = verification_open(project=session.project, actor=actor, session=session.public_id, pointer=pointer)
    return HttpResponseRedirect(addresses.sources(session_id, item=key) if key else addresses.job(job.public_id))


def _page(request: HttpRequest, stored: Stored) -> SourcesPage:
    session = stored.session
    counts = session_sources(session=session.public_id)
    status = asked.one_of(request.GET, "status", (*STATUSES, "changed"), "")
    part = asked.one_of(request.GET, "part", PARTS, "")
    key = asked.text(request.GET, "item", longest=40)
    parts = source_parts(stored=stored, status=status, windows=_windows(request, part))
    proposals = () if part else _proposals(session, asked.number(request.GET, "proposals") or 0)
    finding, detail = finding_of(counts, stored.number)
    return SourcesPage(
        public_id=session.public_id,
        address=addresses.sources(session.public_id),
        events=addresses.source_events(session.public_id),
        badges=addresses.source_badges(session.public_id),
        finding=finding,
        roots=absence_told(session.project),
        detail=detail,
        version=stored.number,
        counts=counts,
        statuses=_statuses(session.public_id, counts, status),
        status=status,
        cards=tuple(_card(session.public_id, one, status) for one in parts if one.items or one.domain == part),
        proposals=proposals,
        panel=item_panel(stored=stored, key=key, with_excerpt=bool(request.GET.get("excerpt"))) if key else None,
        is_empty=stored.state.is_empty and not proposals,
        is_unmatched=bool(status) and not any(one.items for one in parts),
        is_part=bool(part),
    )


def _windows(request: HttpRequest, part: str) -> list[tuple[Domain, int, int]]:
    after = asked.number(request.GET, "after") or 0
    if part:
        is_more = request.headers.get("HX-Target", "").endswith("-more")
        return [(domain, after, page_rows() if is_more else PART_ROWS) for domain in PARTS if domain == part]
    return [(domain, 0, FIRST[domain]) for domain in PARTS]


def _card(session: str, part: Part, status: str) -> PartCard:
    title, column = TITLES[part.domain]
    matching = counted(part.matching, "item")
    return PartCard(
        name=part.domain,
        title=title,
        column=column,
        said=f"{matching} of {part.total:,}" if status else f"{part.total:,}",
        total=part.total,
        matching=part.matching,
        rows=tuple(map(item_row, part.items)),
        more=addresses.sources(session, status=status, part=part.domain, after=part.next) if part.next else None,
    )


def _statuses(session: str, counts: SourceCounts, status: str) -> tuple[StatusLink, ...]:
    there: Sequence[tuple[str, int]] = [(name, counts.statuses.get(name, 0)) for name in STATUSES] + [("changed", counts.changed)]
    return tuple(
        StatusLink(name=name, count=count, address=addresses.sources(session, status="" if name == status else name), chosen=name == status)
        for name, count in there
        if count or name == status
    )


def _proposals(session: Session, after: int) -> tuple[ProposalCard, ...]:
    cards = []
    for kind, title in (("conflict", "Conflicts"), ("candidate", "Candidates")):
        rows, following, total = open_proposals(session=session, kind=kind, after=after, limit=PROPOSALS)
        more = addresses.sources(session.public_id, proposals=following) if following else None
        lines = tuple(proposal_line(session.public_id, row) for row in rows)
        if lines:
            cards.append(ProposalCard(title=title, total=total, lines=lines, more=more))
    return tuple(cards)
