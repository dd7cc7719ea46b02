"""Sentences and balances of the replay page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxweb.layer_runs import in_both
from ctxweb.page import counted
from ctxweb.queries.replay import ReplayDetail

FINDINGS = {
    # code of a finding: what it means for the replay
    "would_have_failed": "would have failed: too long for the window after all layers",
    "view_limit_exceeded": "the view stays at or above the hard limit after all layers",
    "orphans_kept": "orphans kept as plain blocks",
    "starts_from_summary": "the session starts from a summary",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A figure of a balance over its name; `action` colours a layer."""

    sign: str
    figure: int
    word: str
    action: str = ""


def finding_of(detail: ReplayDetail) -> str:
    """The answer: how often it fires, and what it takes."""
    if not detail.firings:
        return f"{detail.policy.id} does not fire in these {counted(detail.calls, 'call')}."
    own, exact = detail.arrived.own - detail.last.own, detail.arrived.exact - detail.last.exact
    times = counted(detail.firings, "time")
    return f"{detail.policy.id} fires {times} and takes {in_both(own, exact, detail.unit_title)}."


def detail_of(detail: ReplayDetail) -> str:
    """The peak in both units, and what is sent in all."""
    parts = []
    if detail.peak_call is not None:
        peak = in_both(detail.peak.own, detail.peak.exact, detail.unit_title)
        parts.append(f"Largest view: {peak}, at call {detail.peak_call:,}.")
    if detail.recorded_sent:
        parts.append(f"All calls: ≈ {_millions(detail.sent)} tokens sent, {_millions(detail.recorded_sent)} recorded.")
    return " ".join(parts)


def _millions(tokens: int) -> str:
    return f"{tokens / 1_000_000:,.1f} M" if tokens >= 1_000_000 else f"{tokens:,}"


def trigger_label(detail: ReplayDetail) -> str:
    """The trigger beside its line: `80,000 (chars/4)`."""
    return "" if detail.trigger is None else f"{detail.trigger:,.0f} ({detail.unit_title})"


def notes_of(detail: ReplayDetail) -> tuple[str, ...]:
    """What a reader must be told, the findings first."""
    found = [f"{FINDINGS.get(each.code, each.code.replace('_', ' '))}: {each.detail}" for each in detail.findings]
    hidden = [] if detail.hidden else ["What the prompt holds beside its messages is not known: it counts 0."]
    return (*(text[0].upper() + text[1:] for text in found), *hidden)


def balances_of(detail: ReplayDetail) -> tuple[tuple[str, tuple[Term, ...]], ...]:
    """Everything that arrived − what each layer took = the view of the last call, in the policy's unit and in exact tokens."""
    own = tuple(_terms(detail, exact=False))
    return (
        ((detail.unit_title, own),)
        if detail.unit == "exact"
        else ((detail.unit_title, own), ("exact tokens", tuple(_terms(detail, exact=True))))
    )


def _terms(detail: ReplayDetail, *, exact: bool) -> Iterator[Term]:
    yield Term(sign="", figure=detail.arrived.exact if exact else detail.arrived.own, word="arrived")
    for layer in detail.layers:
        taken = layer.exact if exact else layer.own
        if layer.edits:
            yield Term(sign="−" if taken >= 0 else "+", figure=abs(taken), word=layer.title, action=layer.action)
    yield Term(sign="=", figure=detail.last.exact if exact else detail.last.own, word="last call")
