"""Sentences, labels and balance lines of the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.transcript import USER_ACTIONS
from ctxweb.layer_runs import in_both
from ctxweb.models import Session
from ctxweb.page import counted
from ctxweb.queries.ledger import FIRST_EDITS, CompactionRow
from ctxweb.queries.ledger_sums import LedgerTotals
from ctxweb.templatetags.blocks import duration

CLOSE_PERCENT = 5.0  # a change in unexplained tokens below this share of the size before is within the estimates' error


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A figure of a balance line over its name; `sign` stands in front of it."""

    sign: str
    figure: int
    word: str
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """A sum that holds exactly; `close` and `percent` say how large the unexplained change is, None without one."""

    name: str
    terms: tuple[Term, ...]
    percent: float | None
    close: bool


def replay_finding_of(policy: str, totals: LedgerTotals, *, filtered: bool, unit: str) -> tuple[str, str]:
    """The answer line of a replay's ledger, in the unit that decided and in exact tokens."""
    if not totals.unfiltered:
        return f"{policy} would have removed nothing: it did not fire.", ""
    if not totals.edits:
        return "No edit matches these filters.", ""
    own, exact = (sum(getattr(layer, name) or 0 for layer in totals.layers) for name in ("own_removed", "exact_removed"))
    found = counted(totals.edits, "matching edit" if filtered else "edit")
    names = {layer.layer for layer in totals.layers}
    layers = "one layer" if len(names) == 1 else f"{len(names)} layers"
    unsent = f"{counted(totals.never_sent, 'block')} of these {'was' if totals.never_sent == 1 else 'were'} never sent to the model."
    finding = f"{policy} would have made {found} with {layers} and taken {in_both(own, exact, unit)}."
    return finding, unsent if totals.never_sent else ""


def finding_of(session: Session, totals: LedgerTotals, *, filtered: bool, drops: int) -> tuple[str, str]:
    """The answer line: what was found, and the rest; `drops` are the inferred ones that the filters leave where they ask for these."""
    if drops:
        return f"{counted(drops, 'drop')} in the reported size {'has' if drops == 1 else 'have'} no record.", ""
    if not totals.unfiltered:
        unrecorded = f"{counted(session.inferred_drops, 'drop')} in the reported size have no record." if session.inferred_drops else ""
        return "No record says that anything left the view.", unrecorded
    if not totals.edits:
        return "No edit matches these filters.", ""
    layers = totals.layers
    who = f"The {layers[0].layer.replace('_', ' ')} layer" if len(layers) == 1 else f"{len(layers)} layers"
    found = counted(totals.edits, "matching edit" if filtered else "edit")
    finding = f"{who} made {found} in {counted(totals.compactions, 'compaction')} and took ≈ {totals.removed:,} tokens."
    unsent = f"{counted(totals.never_sent, 'block')} of these {'was' if totals.never_sent == 1 else 'were'} never sent to the model."
    return finding, unsent if totals.never_sent else ""


def said_of(totals: LedgerTotals, rows: Sequence[CompactionRow], *, drops: int) -> str:
    """How much of the ledger the filters leave, and what of it is in this window."""
    here = f"{_lower(name_of(rows[0]))} here" if len(rows) == 1 else f"{counted(len(rows), 'compaction')} here"
    if drops:
        return f"{counted(drops, 'inferred drop')}, without edits · {here}"
    return f"{totals.edits:,} of {counted(totals.unfiltered, 'edit')}, the first {FIRST_EDITS} of each layer · {here}"


def chip_of(rows: Sequence[CompactionRow], ordinal: int) -> str:
    """What a filter by the compaction `ordinal` is called."""
    return _lower(name_of(rows[0])) if rows else f"compaction {ordinal:,}"


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def name_of(row: CompactionRow) -> str:
    if row.origin == "inferred":
        return f"Drop {row.index}, inferred"
    if row.mechanism in USER_ACTIONS:
        return f"The user’s {row.mechanism}"
    if row.origin == "replayed":
        return f"Compaction {row.ordinal}"
    if row.index is None:
        return "A result stored outside" if row.mechanism == "spill" else row.mechanism.replace("_", " ").capitalize()
    return f"Compaction {row.index}"


def title_of(row: CompactionRow) -> str:
    name = f"{name_of(row)}," if row.origin == "inferred" and row.before_call else name_of(row)
    return f"{name} before call {row.before_call:,}" if row.before_call else f"{name}, after the last call"


def labels_of(row: CompactionRow) -> tuple[str, ...]:
    labels = [row.mechanism.replace("_", " ")] if row.mechanism != "unknown" and row.mechanism not in USER_ACTIONS else []
    if row.mechanism in USER_ACTIONS:
        labels.append("user action, no policy")
    if row.trigger != "unknown":
        labels.append(row.trigger.replace("_", " "))
    if row.status != "ok":
        labels.append(row.status)
    if row.detached:
        labels.append("not on the active path")
    if row.never_sent:
        labels.append(f"{row.never_sent:,} never sent")
    return (*labels, *(flag.replace("_", " ") for flag in row.flags))


def balance_of(row: CompactionRow, *, unit: str = "") -> Balance:
    """The reported sizes with what moved between them; the estimates alone where a size is unknown. Of a replay, in the unit
    that decided, layer by layer."""
    return layer_balance(row, unit=unit) if unit else _reported(row) or _estimated(row)


def layer_balance(row: CompactionRow, *, unit: str, exact: bool = False) -> Balance:
    """What each layer that ran took, in the policy's own unit or in exact tokens: before − … = after."""
    before, after = (row.exact_before, row.exact_after) if exact else (row.own_before, row.own_after)
    ran = [run for run in row.reports if run.edits]
    changes = [(run.title, run.exact_before - run.exact_after if exact else run.own_before - run.own_after) for run in ran]
    terms = (
        Term(sign="", figure=before or 0, word="before", is_estimate=False),
        *(Term(sign="−" if taken >= 0 else "+", figure=abs(taken), word=title, is_estimate=False) for title, taken in changes),
        Term(sign="=", figure=after or 0, word="after", is_estimate=False),
    )
    return Balance(name=unit, terms=terms, percent=None, close=True)


def estimates_of(row: CompactionRow) -> str:
    """The balance of the estimates in one line; empty where it is the only one and stands above, or nothing moved."""
    if row.origin == "replayed":
        return f"{_exact(row)}; estimates: ≈ {row.estimate_before:,} − {row.removed:,} + {row.added:,} = ≈ {row.estimate_after:,}"
    if row.reported is None or row.origin == "inferred":
        return ""
    return f"estimates: ≈ {row.estimate_before:,} − {row.removed:,} + {row.added:,} = ≈ {row.estimate_after:,}"


def _exact(row: CompactionRow) -> str:
    terms = layer_balance(row, unit="exact tokens", exact=True).terms
    return "exact tokens: " + " ".join(f"{term.sign} {term.figure:,}".strip() for term in terms)


def _estimated(row: CompactionRow) -> Balance:
    terms = (
        Term(sign="", figure=row.estimate_before, word="before", is_estimate=True),
        Term(sign="−", figure=row.removed, word="removed", is_estimate=True),
        Term(sign="+", figure=row.added, word="added", is_estimate=True),
        Term(sign="=", figure=row.estimate_after, word="after", is_estimate=True),
    )
    return Balance(name="estimates", terms=terms, percent=None, close=True)


def _reported(row: CompactionRow) -> Balance | None:
    sizes = row.reported
    if sizes is None:
        return None
    middle = (
        Term(sign="+", figure=sizes.entered, word="came", is_estimate=True),
        Term(sign="−", figure=sizes.removed, word="removed", is_estimate=True),
        Term(sign="+", figure=sizes.added, word="added", is_estimate=True),
    )
    change = Term(sign="−" if sizes.change < 0 else "+", figure=abs(sizes.change), word="change in unexplained", is_estimate=False)
    terms = (
        Term(sign="", figure=sizes.before, word="before, reported", is_estimate=False),
        *(term for term in middle if term.figure),
        change,
        Term(sign="=", figure=sizes.after, word="after, reported", is_estimate=False),
    )
    name = "reported" if sizes.together == 1 else f"reported, {sizes.together} compactions together"
    percent = None if row.origin == "inferred" else sizes.change_share  # there the change is the event itself
    return Balance(name=name, terms=terms, percent=percent, close=sizes.change_share <= CLOSE_PERCENT)


def evidence_of(row: CompactionRow) -> tuple[str, ...]:
    """What speaks for an inferred event, or what a record says on a scale of its own."""
    if row.origin == "inferred":
        return _inferred(row.evidence)
    if row.origin == "replayed" or (row.tokens_before is None and row.tokens_after is None):
        return ()
    scale = "counting messages only" if row.scale == "messages" else "by its own count"
    return (f"the record says {_figure(row.tokens_before)} → {_figure(row.tokens_after)} tokens, {scale}",)


def _inferred(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    said = []
    if evidence.get("amount") is not None:
        said.append(f"≈ {_figure(evidence['amount'])} tokens less than the log explains")
    if evidence.get("cache_read_before") is not None or evidence.get("cache_read_after") is not None:
        said.append(f"cache read {_figure(evidence.get('cache_read_before'))} → {_figure(evidence.get('cache_read_after'))}")
    if evidence.get("gap") is not None and evidence.get("previous") is not None:
        said.append(f"{duration(evidence['gap'] / 1000)} after call {evidence['previous']:,}")
    before, after = evidence.get("version_before"), evidence.get("version_after")
    if before and after and before != after:
        said.append(f"producer {before} → {after}")
    return tuple(said)


def _figure(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
