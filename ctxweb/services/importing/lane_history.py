"""The recorded history of a lane: its fold, with the drops that no record shows, and what the calls around each say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from compaction.analysis.estimates import Estimator, constants_for
from compaction.analysis.residuals import Inferred, fit, merge_inferred
from compaction.history import FoldedCompaction, History, fold
from compaction.messages import Message
from compaction.transcript import Finding, Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneHistory:
    """`unexplained` and `anchors` are by call number; `evidence` of inferred drops is by ordinal."""

    history: History
    unexplained: Mapping[int, int]
    anchors: Mapping[int, int]
    evidence: Mapping[int, dict[str, Any]]
    findings: tuple[Finding, ...]

    def beside(self, folded: FoldedCompaction) -> dict[str, Any]:
        """What the calls around a compaction report. `entered` is what else came into the view between them, booked to
        the first compaction at its place, so that the change of the estimates adds up."""
        after = folded.before_call
        call = None if after is None else self.history.calls[after - 1]
        before = None if call is None else call.previous
        return {
            "reported_before": self._reported(before),
            "reported_after": self._reported(after),
            "unexplained_before": None if before is None else self.unexplained.get(before),
            "unexplained_after": None if after is None else self.unexplained.get(after),
            "entered": self._entered(folded, before, after),
            "evidence": self.evidence.get(folded.ordinal, {}),
        }

    def _reported(self, n: int | None) -> int | None:
        return None if n is None else self.history.calls[n - 1].usage.prompt_tokens

    def _entered(self, folded: FoldedCompaction, before: int | None, after: int | None) -> int:
        at_place = [other for other in self.history.compactions if other.before_call == after]
        if after is None or at_place[0].ordinal != folded.ordinal:
            return 0
        change = self.history.sizes[after - 1].estimate - (0 if before is None else self.history.sizes[before - 1].estimate)
        return change + sum(other.removed - other.added for other in at_place)


def lane_fold(
    *, lane: Lane, facts: Mapping[str, Any], tokens: Mapping[bytes, int], on_message: Callable[[Message, Estimator], None]
) -> LaneHistory:
    """Fold a lane whose bodies are counted; `on_message` is given each message as it comes, with its texts if it has any."""
    estimator = Estimator(constants_for(facts["model"], facts["source_format"]), tokens)
    history = fold(lane.events, estimator, on_message=lambda message: on_message(message, estimator))
    found = fit(history.calls, history.sizes, history.compactions)
    merged = merge_inferred(history, found.inferred)
    return LaneHistory(
        history=merged,
        unexplained={call.n: call.unexplained for call in found.calls if call.unexplained is not None},
        anchors={call.n: call.anchor for call in found.calls if call.reported is not None},
        evidence=_evidence(merged, found.inferred),
        findings=(*history.findings, *(_rise(event) for event in found.inferred if event.kind == "rise")),
    )


def _evidence(history: History, inferred: tuple[Inferred, ...]) -> dict[int, dict[str, Any]]:
    """What speaks for each inferred drop, by the ordinal that it has in the history. A compaction that an importer inferred
    from the logged prompts is its own evidence."""
    events = {(event.line, event.before_call): event for event in inferred if event.kind == "drop"}
    drops = (folded for folded in history.compactions if folded.compaction.origin == "inferred")
    found = ((folded.ordinal, events.get((folded.compaction.line, folded.before_call or 0))) for folded in drops)
    return {ordinal: asdict(event) for ordinal, event in found if event is not None}


def _rise(event: Inferred) -> Finding:
    detail = f"call {event.before_call}: the prompt grew by {event.amount:,} tokens more than the log explains"
    return Finding(code="inferred_rise", line=event.line, detail=detail)
