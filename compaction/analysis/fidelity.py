"""How well the reconstructed views of a lane explain its reported usage: the report of `manage.py fidelity`.

Errors are |predicted − reported| / reported in percent, of growth |predicted − reported| / |growth since the anchor|.
The first call of an epoch is left out, since nothing is predicted there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compaction.analysis.cache import CacheHealth, cache_health, cache_reads
from compaction.analysis.estimates import Constants
from compaction.analysis.residuals import CallFit, Fit, fit, recorded_events, threshold
from compaction.history import CallSize, FoldedCompaction
from compaction.transcript import ModelCall

GROWTH_TOKENS = 5000  # growth below this is too small to divide by


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and 95th percentile, in percent; None where there is nothing to measure."""

    median: float | None
    p95: float | None

    @classmethod
    def of(cls, errors: Iterable[float]) -> Spread:
        """The spread of errors in percent, in any order."""
        ordered = sorted(errors)
        return cls(median=_quantile(ordered, 0.5), p95=_quantile(ordered, 0.95))


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityReport:
    """One lane. `recorded_found`: recorded drops that the residual finds when the records of them are hidden from it."""

    calls: int
    step_errors: tuple[float, ...]
    epoch_errors: tuple[float, ...]
    growth_errors: tuple[float, ...]
    epochs: int
    drops: int
    rises: int
    recorded_drops: int
    recorded_found: int
    cache: CacheHealth
    constants: Constants


def fidelity_report(
    calls: Sequence[ModelCall], sizes: Sequence[CallSize], compactions: Sequence[FoldedCompaction], constants: Constants
) -> FidelityReport:
    """The report on one lane; `calls`, `sizes` and `compactions` are those of its history."""
    found = fit(calls, sizes, compactions)
    events = recorded_events(compactions)
    drops = {event.before_call for event in found.inferred if event.kind == "drop"}
    hidden = [_hidden_residual(call, events[call.n]) for call in found.calls if call.n in events and call.residual is not None]
    return FidelityReport(
        calls=len(calls),
        step_errors=tuple(100 * abs(call.step) / call.reported for call in found.calls if call.step is not None and call.reported),
        epoch_errors=tuple(100 * abs(call.epoch) / call.reported for call in found.calls if call.epoch is not None and call.reported),
        growth_errors=tuple(_growth_errors(found)),
        epochs=found.epochs,
        drops=len(drops),
        rises=len(found.inferred) - len(drops),
        recorded_drops=len(hidden),
        recorded_found=sum(residual < -limit for residual, limit in hidden),
        cache=cache_health(cache_reads(calls, drops | events.keys())),
        constants=constants,
    )


def _hidden_residual(call: CallFit, events: Sequence[FoldedCompaction]) -> tuple[int, float]:
    """The residual of a call as if the compactions before it were not in the log, and its threshold."""
    taken = sum(folded.removed - folded.added for folded in events)
    return (call.residual or 0) - taken, threshold(call.reported or 0)


def _growth_errors(found: Fit) -> Iterable[float]:
    for call in found.calls:
        if call.epoch is not None and call.growth is not None and call.growth > GROWTH_TOKENS:
            yield 100 * abs(call.epoch) / call.growth


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """By linear interpolation between the two nearest values."""
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
