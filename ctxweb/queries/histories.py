"""The histories of a session: the recorded one, and the replays that were kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxweb.layer_runs import unit_word
from ctxweb.models import History
from ctxweb.queries.readable import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """One history. `set` are the limits that were set beyond the policy's own, `unit` how its own figures are called; both are
    empty for the recorded one."""

    id: str
    origin: str
    policy: str
    title: str
    set: tuple[str, ...]
    count: str
    summaries: str
    unit: str
    compactions: int
    created_at: datetime
    pinned: bool

    @property
    def word(self) -> str:
        """`recorded`, or `workbuddy-s14, trigger 60,000`."""
        return "recorded" if self.origin == "recorded" else ", ".join((self.policy, *self.set, *self._unusual()))

    def _unusual(self) -> tuple[str, ...]:
        counted = ("exact count",) if self.count == "exact" else ()
        return counted if self.summaries in ("", "stub") else (*counted, f"{self.summaries} summaries")


def lane_histories(*, lane: Lane) -> tuple[HistoryRow, ...]:
    """The recorded history first, then the replays, newest first."""
    rows = History.objects.filter(revision=lane.revision).defer("bins", "policy_data").order_by("-created_at", "-pk")
    found = [history_row(row) for row in rows]
    return tuple(sorted(found, key=lambda row: row.origin != "recorded"))


def history_row(history: History) -> HistoryRow:
    told: dict[str, Any] = history.settings
    return HistoryRow(
        id=history.public_id,
        origin=history.origin,
        policy=history.policy,
        title=str(history.report.get("title", "")),
        set=tuple(f"{name} {_written(value)}" for name, value in told.get("limits", {}).items()),
        count=str(told.get("count", "")),
        summaries=str(told.get("summaries", "")),
        unit=unit_word(history.unit) if history.unit else "",
        compactions=int(history.report.get("compactions", 0)),
        created_at=history.created_at,
        pinned=history.pinned,
    )


def _written(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
