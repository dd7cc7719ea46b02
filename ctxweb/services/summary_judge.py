"""Whether a summary may stand for its range: what containment says of it, and the rules of the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.checkpoints import checkpoint_text
from compaction.containment import Objection, is_refused, objections
from compaction.errors import EditError
from compaction.retention.canaries import Canary, planted
from compaction.summary_prompt import SUMMARY_SECTIONS
from ctxweb.services.summary_range import SummaryRange

TOO_LONG = ("longer_than_range", "not_smaller")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`reason` is the code of the gravest objection, or of the rule of the view that is broken; empty where the summary may stand."""

    objections: tuple[Objection, ...]
    reason: str


def summary_verdict(*, text: str, found: SummaryRange, is_model: bool, nonce: str, put: Sequence[Canary]) -> Verdict:
    """What is wrong with a summary of the range."""
    expected = SUMMARY_SECTIONS if is_model else ()
    wrong = objections(text, planted(found.pieces, put), expected=expected, nonce=nonce, count=found.count)
    return Verdict(objections=wrong, reason=_reason(text, found, wrong))


def _reason(text: str, found: SummaryRange, wrong: Sequence[Objection]) -> str:
    if is_refused(wrong):
        return next(one.code for one in wrong if one.grave)
    if found.count(checkpoint_text(text)) >= found.tokens:
        return "not_smaller"
    try:
        found.replaced_by(text)
    except EditError:
        return "protocol"
    return ""
