"""The fold, the estimates and the detector on real sessions: the marks of the shared specification (analysis.md 0, 9)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from compaction.analysis.cache import cache_health
from compaction.analysis.estimates import Constants, Estimator, constants_for
from compaction.analysis.fidelity import FidelityReport, Spread, fidelity_report
from compaction.analysis.residuals import fit
from compaction.counters import bpe
from compaction.history import History, fold, view_at
from compaction.transcript import Lane
from ctxweb.importers.claude_code import IMPORTER
from ctxweb.importers.physical import ReadLimits, read_records
from tests.oracle import Seen, plain_views
from tests.shared import SHARED, needs_shared

pytestmark = [needs_shared, pytest.mark.nodb]


class Expected(NamedTuple):
    """Calls before which a drop or a rise is inferred, recorded drops, and the share of exact cache reads (percent)."""

    drops: tuple[int, ...]
    rises: tuple[int, ...]
    recorded: int
    cache: int


SESSIONS = {
    "codemie-ai__codemie-code__conv-c3a574c5": Expected((), (), 0, 31),
    "entireio__cli__23-72de7ea2ff-0": Expected((78,), (), 1, 97),
    "entireio__cli__25-730c662552-0": Expected((), (5, 88), 2, 90),
    "entireio__cli__37-995ebed6e4-2": Expected((35,), (), 0, 95),
    "entireio__cli__68-60e2316a8a-0": Expected((), (), 0, 97),
    "entireio__cli__86-9d11344fce-1": Expected((), (70,), 1, 95),
    "entireio__cli__8c-fa910f8ef9-5": Expected((25, 36), (3,), 0, 100),
    "entireio__cli__91-b42542f24f-0": Expected((), (31,), 1, 98),
    "entireio__cli__9b-04c3d92e38-4": Expected((), (), 1, 100),
    "entireio__cli__b0-dc55b3a1dc-1": Expected((30,), (), 3, 86),
    "entireio__cli__b6-f735fbac66-0": Expected((19,), (134,), 2, 96),
    "entireio__cli__bc-cb77bb88fa-1": Expected((), (), 2, 90),
    "entireio__cli__f5-dab3d95bc1-0": Expected((), (), 2, 94),
    "entireio__cli__fc-99c919b212-0": Expected((), (), 1, 98),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    lane: Lane
    history: History
    constants: Constants
    report: FidelityReport


@cache
def reading(name: str) -> Reading:
    reader = IMPORTER.reader()
    texts: dict[bytes, str] = {}
    path = Path(SHARED / "corpus" / "claude_code" / f"{name}.jsonl")
    with path.open("rb") as stream:
        for record in read_records(stream, limits=ReadLimits(), layout="lines", looks_like_record=IMPORTER.looks_like_record):
            texts.update((body.digest, body.text) for body in reader.feed(record).bodies if body.text is not None)
    figures = bpe.count_batch(list(texts.values()), "o200k_base", fast=True)
    counts = {digest: figure.tokens for digest, figure in zip(texts, figures, strict=True)}
    lane = max(reader.lanes(), key=lambda lane: len(lane.record_numbers))
    lane = _listed(lane)
    constants = constants_for(lane.model, "claude_code")
    history = fold(lane.events, Estimator(constants, counts))
    report = fidelity_report(history.calls, history.sizes, history.compactions, constants)
    return Reading(lane=lane, history=history, constants=constants, report=report)


def _listed(lane: Lane) -> Lane:
    return Lane(key=lane.key, native_id=lane.native_id, kind=lane.kind, model=lane.model, events=list(lane.events))


@pytest.mark.parametrize("name", SESSIONS)
def test_the_view_at_every_call_equals_the_plain_step_by_step_fold(name: str) -> None:
    history = reading(name).history
    for n, expected in plain_views(reading(name).lane.events):
        seen = [Seen(span.block, span.state, None if span.body is None else span.body.digest) for span in view_at(history, n)]
        assert seen == expected, f"call {n}"


@pytest.mark.parametrize("name", SESSIONS)
def test_each_compaction_balances(name: str) -> None:
    for folded in reading(name).history.compactions:
        assert folded.estimate_before - folded.removed + folded.added == folded.estimate_after


@pytest.mark.parametrize("name", SESSIONS)
def test_silent_drops_and_rises_are_inferred_where_the_specification_saw_them(name: str) -> None:
    history = reading(name).history
    inferred = fit(history.calls, history.sizes, history.compactions).inferred
    assert tuple(event.before_call for event in inferred if event.kind == "drop") == SESSIONS[name].drops
    assert tuple(event.before_call for event in inferred if event.kind == "rise") == SESSIONS[name].rises


@pytest.mark.parametrize("name", SESSIONS)
def test_every_recorded_drop_is_found_with_its_record_hidden(name: str) -> None:
    report = reading(name).report
    assert report.recorded_found == report.recorded_drops == SESSIONS[name].recorded


@pytest.mark.parametrize("name", SESSIONS)
def test_the_cache_rule_is_exact_as_often_as_the_specification_saw(name: str) -> None:
    share = reading(name).report.cache.exact_share
    assert share is not None
    assert abs(100 * share - SESSIONS[name].cache) < 1.5


def test_the_cache_rule_is_exact_in_nine_of_ten_calls_of_healthy_sessions() -> None:
    healthy = [reading(name).report.cache for name in SESSIONS if name.startswith("entireio")]
    assert sum(cache.exact for cache in healthy) >= 0.9 * sum(cache.calls for cache in healthy)
    assert cache_health(()).exact_share is None


def test_pooled_errors_keep_the_marks() -> None:
    reports = [reading(name).report for name in SESSIONS]
    step = Spread.of(error for report in reports for error in report.step_errors)
    epoch = Spread.of(error for report in reports for error in report.epoch_errors)
    assert step.median is not None
    assert step.p95 is not None
    assert epoch.median is not None
    assert epoch.p95 is not None
    assert (step.median <= 0.1, step.p95 <= 1, epoch.median <= 1.5, epoch.p95 <= 5) == (True,) * 4
    assert sum(report.drops for report in reports) <= 0.02 * sum(report.calls for report in reports)
