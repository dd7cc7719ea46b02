"""One session and its model calls, as the JSON twin of the overview gives them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ctxweb.models import History, ModelCall, Revision, Session
from ctxweb.queries.became import Became, became
from ctxweb.queries.happenings import Happening, happenings
from ctxweb.queries.overview import ReadoutPage, readout_page
from ctxweb.queries.readout import Readout
from ctxweb.queries.report import FindingRow, findings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Sums over the model calls in four disjoint buckets, as reported; None is unknown."""

    input_tokens: int | None
    cache_write_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLink:
    id: str
    origin: str
    policy: str
    compactions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetail:
    """A lane with its counts. `peak_context` is the largest reported prompt. `call` is the selected call, where one was asked for."""

    id: str
    native_id: str
    parent: str | None
    lane: str
    lanes: tuple[str, ...]
    name: str
    format: str
    producer: str
    producer_version: str
    model: str
    cwd: str
    git_branch: str
    encoding: str
    context_window: int | None
    window_is_assumed: bool
    started_at: datetime | None
    ended_at: datetime | None
    source: str
    sha256: str
    records: int
    verdicts: dict[str, int]
    messages: int
    messages_logged: int
    blocks: int
    model_calls: int
    tool_calls: int
    tool_results: int
    images: int
    usage: Usage
    usage_flags: list[str]
    peak_context: int | None
    recorded_compactions: int
    inferred_drops: int
    removed_blocks: int
    histories: tuple[HistoryLink, ...]
    happenings: tuple[Happening, ...]
    became: Became
    findings: int
    warnings: tuple[FindingRow, ...]
    call: Readout | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One model call. Token figures are reported, `estimate` is that of its view; `unexplained` is the difference."""

    n: int
    seq: int | None
    line: int
    at: datetime | None
    model: str
    previous: int | None
    abandoned: bool
    inherited: bool
    prompt_tokens: int | None
    input_tokens: int | None
    cache_write_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None
    output_reliable: bool
    estimate: int | None
    unexplained: int | None
    fidelity: str
    blocks: int
    kinds: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsWindow:
    total: int
    calls: tuple[CallRow, ...]
    next: str | None


def session_detail(*, session: Session, revision: Revision, history: History, call: int | None) -> SessionDetail:
    selected = readout_page(session=session, history=history, call=call, stack=None) if call is not None else None
    return SessionDetail(
        id=session.public_id,
        native_id=session.native_id,
        parent=session.parent.public_id if session.parent else None,
        lane=session.lane,
        lanes=tuple(session.lanes.filter(current__isnull=False).order_by("pk").values_list("public_id", flat=True)),
        name=session.title or session.native_id or session.public_id,
        format=session.format,
        producer=session.producer,
        producer_version=session.producer_version,
        model=session.model,
        cwd=session.cwd,
        git_branch=session.git_branch,
        encoding=session.encoding,
        context_window=session.window,
        window_is_assumed=session.window_is_assumed,
        started_at=session.started_at,
        ended_at=session.ended_at,
        source=revision.source.name,
        sha256=revision.source.sha256,
        records=session.record_count,
        verdicts=session.verdicts,
        messages=session.message_count,
        messages_logged=session.messages_logged,
        blocks=session.block_count,
        model_calls=session.call_count,
        tool_calls=session.tool_calls,
        tool_results=session.tool_results,
        images=session.images,
        usage=Usage(
            input_tokens=session.input_tokens,
            cache_write_tokens=session.cache_write_tokens,
            cache_read_tokens=session.cache_read_tokens,
            output_tokens=session.output_tokens,
        ),
        usage_flags=session.usage_flags,
        peak_context=session.peak_context,
        recorded_compactions=session.recorded_compactions,
        inferred_drops=session.inferred_drops,
        removed_blocks=session.removed_blocks,
        histories=_histories(revision, session),
        happenings=happenings(history=history),
        became=became(history=history),
        findings=session.findings,
        warnings=findings_of(revision),
        call=_call(selected),
    )


def _call(selected: ReadoutPage | None) -> Readout | None:
    return None if selected is None else selected.selected


def _histories(revision: Revision, session: Session) -> tuple[HistoryLink, ...]:
    return tuple(
        HistoryLink(
            id=history.public_id,
            origin=history.origin,
            policy=history.policy,
            compactions=(
                session.recorded_compactions + session.inferred_drops
                if history.origin == "recorded"
                else int(history.report.get("compactions", 0))
            ),
        )
        for history in revision.histories.defer("bins", "policy_data").order_by("pk")
    )


def calls_window(*, session: Session, revision: Revision, after: int, limit: int) -> CallsWindow:
    """The calls behind number `after`."""
    rows = list(ModelCall.objects.filter(revision=revision, n__gt=after).order_by("n")[: limit + 1])
    shown = rows[:limit]
    return CallsWindow(
        total=session.call_count,
        calls=tuple(_call_row(row) for row in shown),
        next=str(shown[-1].n) if len(rows) > limit else None,
    )


def _call_row(row: ModelCall) -> CallRow:
    return CallRow(
        n=row.n,
        seq=row.seq,
        line=row.line,
        at=row.at,
        model=row.model,
        previous=row.previous,
        abandoned=row.abandoned,
        inherited=row.inherited,
        prompt_tokens=row.prompt_tokens,
        input_tokens=row.input_tokens,
        cache_write_tokens=row.cache_write_tokens,
        cache_read_tokens=row.cache_read_tokens,
        output_tokens=row.output_tokens,
        output_reliable=row.output_reliable,
        estimate=row.estimate,
        unexplained=row.unexplained,
        fidelity=row.fidelity,
        blocks=row.block_count,
        kinds=row.kinds,
    )
