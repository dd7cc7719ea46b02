"""Sentences, labels and balance lines of the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.transcript import USER_ACTIONS
from ctxweb.models import Session
from ctxweb.page import counted
from ctxweb.queries.ledger import CompactionRow
from ctxweb.queries.ledger_sums import LayerSum, LedgerTotals

CLOSE_PERCENT = 5.0  # a change in unexplained tokens below this share of the size before is within the estimates' error
EVIDENCE_WORDS = {
    "cache_read_before": "cache read before",
    "cache_read_after": "cache read after",
    "gap_seconds": "seconds since the call before",
    "version_before": "producer before",
    "version_after": "producer after",
    "residual": "unexplained step",
}


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


def finding_of(session: Session, totals: LedgerTotals, layers: Sequence[LayerSum], *, filtered: bool) -> tuple[str, str]:
    """The answer line: what was found, and the rest."""
    if not totals.unfiltered:
        unrecorded = f"{counted(session.inferred_drops, 'drop')} in the reported size have no record." if session.inferred_drops else ""
        return "No record says that anything left the view.", unrecorded
    if not totals.edits:
        return "No edit matches these filters.", ""
    who = f"The {layers[0].layer.replace('_', ' ')} layer" if len(layers) == 1 else f"{len(layers)} layers"
    found = "matching edits" if filtered else "edits"
    finding = f"{who} made {totals.edits:,} {found} in {counted(totals.compactions, 'compaction')}: "
    finding += f"≈ {totals.tokens_before:,} → {totals.tokens_after:,} tokens."
    unsent = f"{counted(totals.never_sent, 'block')} of these {'was' if totals.never_sent == 1 else 'were'} never sent to the model."
    return finding, unsent if totals.never_sent else ""


def title_of(row: CompactionRow) -> str:
    if row.origin == "inferred":
        name = f"Drop {row.index}, inferred" if row.removed >= row.added else f"Rise {row.index}, inferred"
    elif row.mechanism in USER_ACTIONS:
        name = f"The user’s {row.mechanism}"
    elif row.index is None:
        name = "Stored outside before it was sent" if row.mechanism == "spill" else row.mechanism.replace("_", " ").capitalize()
    else:
        name = f"Compaction {row.index}"
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


def balances_of(row: CompactionRow) -> tuple[Balance, ...]:
    return tuple(balance for balance in (_reported(row), _estimated(row)) if balance is not None)


def _estimated(row: CompactionRow) -> Balance | None:
    if row.origin == "inferred":
        return None
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
    return Balance(name=name, terms=terms, percent=sizes.change_share, close=sizes.change_share <= CLOSE_PERCENT)


def evidence_of(row: CompactionRow) -> tuple[str, ...]:
    """What speaks for an inferred event, and what a record says on a scale of its own."""
    said = [
        f"{EVIDENCE_WORDS.get(name, name.replace('_', ' '))} {_shown(value)}" for name, value in row.evidence.items() if value is not None
    ]
    if row.origin != "inferred" and (row.tokens_before is not None or row.tokens_after is not None):
        scale = "counting messages only" if row.scale == "messages" else "by its own count"
        said.insert(0, f"the record says {_shown(row.tokens_before)} → {_shown(row.tokens_after)} tokens, {scale}")
    return tuple(said)


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}".replace("-", "−") if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
