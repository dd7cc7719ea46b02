"""One checkpoint: its text, what it kept, changed and lost of its range, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.retention.items import ITEM_KINDS
from compaction.retention.retained import OUTCOMES
from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import ClaimFound, DoubtFound, Figures, Findings, ObjectionFound, figures_of
from ctxweb.checkpoints.ranges import checkpoint_text
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.checkpoint_detail import (
    AgainstState,
    CanaryTrial,
    ContradictionFound,
    ItemFilters,
    ItemWindow,
    against_state,
    canary_trial,
    children_of,
    item_window,
)
from ctxweb.queries.checkpoints import checkpoint_in, lane_checkpoints
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.services.checkpoint_analysis import checkpoint_findings
from ctxweb.views import asked
from ctxweb.views.checkpoint_text import ShownText, shown_text
from ctxweb.views.checkpoint_words import KIND_WORDS, caution_of, kept_of, low_of, made_by, stands_for, state_of, trigger_of
from ctxweb.views.choices import Switch

ITEMS = 60  # of a window
MOST_NEIGHBOURS = 8  # differences that the page leads to
MOST_FOUND = 30  # doubts, claims, objections and contradictions that the page lists; the twin has all


@dataclass(frozen=True, slots=True, kw_only=True)
class KindLine:
    """What became of the items of one kind."""

    name: str
    word: str
    icon: str
    total: int
    kept: int
    changed: int
    lost: int
    address: str

    @property
    def share(self) -> float:
        return self.kept / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What speaks against it, the first ones of each sort; `more` of each are in the twin."""

    state: AgainstState
    contradictions: tuple[ContradictionFound, ...]
    doubts: tuple[DoubtFound, ...]
    claims: tuple[ClaimFound, ...]
    objections: tuple[ObjectionFound, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPage:
    """`figures` and `window` are None where text or range cannot be read. `neighbours`: the differences from the checkpoints before
    and after it in its chain. `left_out`: what was too much to be looked at."""

    address: str
    public_id: str
    checkpoint: Checkpoint
    finding: str
    detail: str
    low: str
    caution: str
    by: str
    trigger: str
    state: str
    figures: Figures | None
    range_tokens: int | None
    neighbours: tuple[tuple[str, str], ...]
    left_out: str
    kinds: tuple[KindLine, ...]
    outcomes: tuple[Switch, ...]
    filters: ItemFilters
    window: ItemWindow | None
    more: str | None
    against: Against
    trial: CanaryTrial
    text: ShownText


@require_safe
def checkpoint(request: HttpRequest, session_id: str, key: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    every = lane_checkpoints(lane=lane)
    found = checkpoint_in(every, key)
    filters = ItemFilters(
        outcome=asked.one_of(request.GET, "outcome", OUTCOMES, ""), kind=asked.one_of(request.GET, "kind", ITEM_KINDS, "")
    )
    findings = checkpoint_findings(history=lane.history, checkpoint=found)
    whole = request.GET.get("text") == "all"
    page = _page(lane, every, found, findings, filters, after=asked.number(request.GET, "after") or 0, whole=whole)
    figures = page.figures
    alert = f"({figures.lost:,} lost) " if figures is not None and figures.lost else ""
    frame = session_frame(
        request,
        lane.session,
        tab="checkpoints",
        title=f"{alert}Checkpoint {key}",
        json=addresses.with_query(addresses.api_checkpoint(found.id), **asdict(filters)),
    )
    return show(
        request, template="checkpoints/checkpoint.html", frame=frame, page=page, fragments={"items-more": "checkpoints/_items.html"}
    )


def _page(
    lane: Lane, every: Sequence[Checkpoint], found: Checkpoint, findings: Findings | None, filters: ItemFilters, *, after: int, whole: bool
) -> CheckpointPage:
    session, text = lane.session.public_id, checkpoint_text(found)
    address = addresses.checkpoint(session, found.key)
    figures = figures_of(findings) if findings is not None else None
    window = item_window(findings=findings, filters=filters, after=after, limit=ITEMS) if findings is not None else None
    return CheckpointPage(
        address=address,
        public_id=session,
        checkpoint=found,
        finding=stands_for(found),
        detail=kept_of(found, figures),
        low=low_of(found, figures),
        caution=caution_of(found),
        by=made_by(found),
        trigger=trigger_of(found),
        state=state_of(found),
        figures=figures,
        range_tokens=found.range_tokens or (figures.range_tokens if figures is not None else None),
        neighbours=_neighbours(session, every, found),
        left_out=_left_out(findings) if findings is not None else "",
        kinds=_kinds(figures, address, filters) if figures is not None else (),
        outcomes=_outcomes(figures, address, filters) if figures is not None else (),
        filters=filters,
        window=window,
        more=addresses.with_query(address, **asdict(filters), after=window.next) if window is not None and window.next else None,
        against=_against(session, text, findings),
        trial=canary_trial(checkpoint=found, text=text),
        text=shown_text(found, text, session=session, is_whole=whole),
    )


def _neighbours(session: str, every: Sequence[Checkpoint], found: Checkpoint) -> tuple[tuple[str, str], ...]:
    before = [(found.parent, found.key)] if found.parent else []
    pairs = [*before, *((found.key, child.key) for child in children_of(every, found.key))]
    return tuple((f"{old} → {new}", addresses.checkpoint_diff(session, old, new)) for old, new in pairs[:MOST_NEIGHBOURS])


def _left_out(findings: Findings) -> str:
    """What was too much to be looked at."""
    parts = [
        counted(findings.blocks_left_out, "block") + " of the range" if findings.blocks_left_out else "",
        counted(findings.items_left_out, "item") if findings.items_left_out else "",
        f"{findings.chars_left_out:,} characters of the text" if findings.chars_left_out else "",
    ]
    return ", ".join(filter(None, parts))


def _kinds(figures: Figures, address: str, filters: ItemFilters) -> tuple[KindLine, ...]:
    lines = []
    for kind, counts in figures.counts.items():
        word, icon = KIND_WORDS[kind]
        to = addresses.with_query(address, outcome=filters.outcome, kind=kind) + "#items"
        lines.append(KindLine(name=kind, word=word, icon=icon, total=sum(counts.values()), **counts, address=to))
    return tuple(lines)


def _outcomes(figures: Figures, address: str, filters: ItemFilters) -> tuple[Switch, ...]:
    counts = figures.counts if not filters.kind else {filters.kind: figures.counts.get(filters.kind, {})}
    found = {outcome: sum(count.get(outcome, 0) for count in counts.values()) for outcome in OUTCOMES}
    switches = [("all", "", sum(found.values())), *((outcome, outcome, found[outcome]) for outcome in ("lost", "changed", "kept"))]
    return tuple(
        Switch(
            word=word,
            count=count,
            address=addresses.with_query(address, outcome=outcome, kind=filters.kind) + "#items",
            current=outcome == filters.outcome,
        )
        for word, outcome, count in switches
    )


def _against(session: str, text: str, findings: Findings | None) -> Against:
    state = against_state(session=session, text=text)
    doubts, claims, objections = (findings.doubts, findings.claims, findings.objections) if findings is not None else ((), (), ())
    every = (state.contradictions, doubts, claims, objections)
    return Against(
        state=state,
        contradictions=state.contradictions[:MOST_FOUND],
        doubts=doubts[:MOST_FOUND],
        claims=claims[:MOST_FOUND],
        objections=objections[:MOST_FOUND],
        more=sum(max(0, len(found) - MOST_FOUND) for found in every),
    )
