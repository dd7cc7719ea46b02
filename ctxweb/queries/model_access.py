"""Which models may write summaries here, what they cost, what was spent, and which are not called for now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from ctxweb.llm.registry import configured
from ctxweb.models import Breaker, Project, SummaryCall

NANO = 1_000_000_000
SPENT = Sum(Coalesce("cost_nano", "reserved_nano"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizerRow:
    """A summarizer. `problem` says what to set; `host` is where its server is. Prices in US dollars for a million tokens, `as_of` the
    day of a list price. A breaker that is open says until when."""

    id: str
    label: str
    is_model: bool
    problem: str
    model: str
    host: str
    has_key: bool
    window: int | None
    price_input: str
    price_output: str
    as_of: date | None
    failures: int
    open_until: datetime | None
    last_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CapRow:
    """What may be spent, and what was or is reserved: in nano-dollars. Of the sessions `spent` is that of the one that spent most."""

    name: str
    variable: str
    cap: int
    spent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    summarizers: tuple[SummarizerRow, ...]
    caps: tuple[CapRow, ...]
    prefix_allowed: bool


def model_access(*, project: Project) -> ModelAccess:
    """The access of a project."""
    breakers = {(row.summarizer, row.model): row for row in Breaker.objects.filter(project=project)}
    calls = SummaryCall.objects.filter(project=project)
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    spent = {
        "SESSION": _most(calls),
        "DAY": _sum(calls.filter(started_at__gte=today)),
        "PROJECT": _sum(calls),
    }
    words = {"SESSION": "each session", "DAY": "a day (UTC)", "PROJECT": "the project"}
    return ModelAccess(
        summarizers=tuple(_row(name, breakers) for name in configured(settings)),
        caps=tuple(
            CapRow(name=words[name], variable=f"CTXWEB_SUMMARY_{name}_CAP_USD", cap=_cap(name), spent=figure)
            for name, figure in spent.items()
        ),
        prefix_allowed=project.prefix_summaries,
    )


def _row(summarizer: str, breakers: dict[tuple[str, str], Breaker]) -> SummarizerRow:
    found = configured(settings)[summarizer]
    breaker, price = breakers.get((summarizer, found.model)), found.prices
    return SummarizerRow(
        id=summarizer,
        label=found.kind.label,
        is_model=found.kind.is_model,
        problem=found.problem,
        model=found.model,
        host=found.host,
        has_key=found.has_key,
        window=found.window,
        price_input="" if price is None else f"{price.input:f}",
        price_output="" if price is None else f"{price.output:f}",
        as_of=None if price is None else price.as_of,
        failures=0 if breaker is None else breaker.failures,
        open_until=None if breaker is None else breaker.open_until,
        last_code="" if breaker is None else breaker.last_code,
    )


def _cap(name: str) -> int:
    return int(getattr(settings, f"CTXWEB_SUMMARY_{name}_CAP_USD") * NANO)


def _most(calls: QuerySet[SummaryCall]) -> int:
    return calls.values("session").annotate(spent=SPENT).aggregate(most=Max("spent"))["most"] or 0


def _sum(calls: QuerySet[SummaryCall]) -> int:
    return calls.aggregate(spent=SPENT)["spent"] or 0
