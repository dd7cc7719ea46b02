"""What the reported prompt sizes say about the reconstructed views: unexplained tokens, epochs, and inferred events.

The residual of a call is the growth that the provider reported since the call before it on its path, minus the growth
that the views explain. Where it jumps by more than 2,000 tokens and 3 % of the prompt, something happened that the log
does not tell: an inferred drop or rise. An epoch is a run of calls without such a jump or a recorded compaction; its
first call is the anchor from which the sizes of the others are predicted. Measured on 35 Claude Code sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compaction.history import CallSize, FoldedCompaction, History
from compaction.transcript import Compaction, ModelCall

JUMP_TOKENS = 2000
JUMP_SHARE = 0.03
BLIND_JUMP_SHARE = 0.10  # of the prompt before, where the log holds nothing that could be estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """A jump of the reported size that no record explains. `amount` is its size in tokens, always positive.

    `reported_before` is the prompt of `previous`, the call before it on its path. The rest is evidence: cache reads of
    both calls, the gap between them in milliseconds, and the producer's versions; None where it is not known.
    """

    kind: Literal["drop", "rise"]
    before_call: int
    previous: int
    line: int
    amount: int
    reported_before: int
    reported_after: int
    cache_read_before: int | None
    cache_read_after: int | None
    gap: int | None
    version_before: str | None
    version_after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFit:
    """How the view of call `n` explains its reported prompt. None: not reported, or no earlier call to compare with.

    `unexplained` = `reported` − `estimate`: system prompt, tools and reminders that are not in the log, and the error
    of the estimate. `anchor` is the first call of the epoch; there the hidden part is taken over. `step` and `epoch`
    are the predicted minus the reported size, from the call before and from the anchor; `growth` is what the views
    grew by since the anchor. `recorded`: a recorded compaction lies directly before the call.
    """

    n: int
    previous: int | None
    anchor: int
    reported: int | None
    estimate: int
    unexplained: int | None
    residual: int | None
    step: int | None
    epoch: int | None
    growth: int | None
    recorded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """All calls of a lane, and the inferred events between them, in file order."""

    calls: tuple[CallFit, ...]
    inferred: tuple[Inferred, ...]

    @property
    def epochs(self) -> int:
        """How many runs of calls have an anchor of their own and a reported call."""
        return len({call.anchor for call in self.calls if call.reported is not None})


def fit(calls: Sequence[ModelCall], sizes: Sequence[CallSize], compactions: Iterable[FoldedCompaction]) -> Fit:
    """Epochs, unexplained tokens and inferred events of one lane; `calls` and `sizes` are those of its history."""
    recorded = recorded_events(compactions)
    by_number = {call.n: call for call in calls}
    estimates = {size.n: size for size in sizes}
    fits: dict[int, CallFit] = {}
    inferred: list[Inferred] = []
    for call in calls:
        before = fits.get(_reported_before(call, by_number) or 0)
        found = _fit(call, estimates[call.n], before, recorded, by_number)
        event = _jump(found, by_number, estimates)
        if event is not None:
            inferred.append(event)
        fits[call.n] = _anchored(found, before, event, by_number, fits)
    return Fit(calls=tuple(fits.values()), inferred=tuple(inferred))


def recorded_events(compactions: Iterable[FoldedCompaction]) -> dict[int, list[FoldedCompaction]]:
    """The recorded compactions that changed a prompt, by the first call that saw their result.

    The user's own actions are not among them: the views follow them, and a call's path leads around what was rewound.
    """
    events: dict[int, list[FoldedCompaction]] = {}
    for folded in compactions:
        compaction = folded.compaction
        if folded.index is not None and folded.before_call is not None and (compaction.origin, compaction.status) == ("recorded", "ok"):
            events.setdefault(folded.before_call, []).append(folded)
    return events


def threshold(reported: int) -> float:
    """The residual beyond which a call with this prompt size holds an event that the log does not tell."""
    return max(JUMP_TOKENS, JUMP_SHARE * reported)


def merge_inferred(history: History, inferred: Iterable[Inferred]) -> History:
    """The history with the inferred drops among its compactions, in file order, all numbered anew; the ledger follows."""
    drops = [_as_folded(event, history) for event in inferred if event.kind == "drop"]
    if not drops:
        return history
    merged = sorted([*history.compactions, *drops], key=_line_of)
    ordinals = {folded.ordinal: number for number, folded in enumerate(merged, start=1) if folded.ordinal}
    counted = 0
    compactions = []
    for number, folded in enumerate(merged, start=1):
        counted += folded.index is not None
        compactions.append(replace(folded, ordinal=number, index=None if folded.index is None else counted))
    ledger = tuple(replace(entry, compaction=ordinals[entry.compaction]) for entry in history.ledger)
    return replace(history, compactions=tuple(compactions), ledger=ledger)


def _line_of(folded: FoldedCompaction) -> int:
    return folded.compaction.line


def _as_folded(event: Inferred, history: History) -> FoldedCompaction:
    estimate = history.sizes[event.before_call - 1].estimate
    compaction = Compaction(
        mechanism="unknown",
        line=event.line,
        origin="inferred",
        tokens_before=event.reported_before,
        tokens_after=event.reported_after,
        at=history.calls[event.before_call - 1].at,
    )
    return FoldedCompaction(
        ordinal=0,
        index=0,
        compaction=compaction,
        before_call=event.before_call,
        estimate_before=estimate,
        removed=0,
        added=0,
        estimate_after=estimate,
        edits=0,
        never_sent=0,
    )


def _reported_before(call: ModelCall, by_number: Mapping[int, ModelCall]) -> int | None:
    """The nearest call before this one on its path whose prompt size is known; before a fresh start, in the file."""
    previous = _before(call)
    while previous and by_number[previous].usage.prompt_tokens is None:
        previous = _before(by_number[previous])
    return previous or None


def _before(call: ModelCall) -> int:
    return call.n - 1 if call.previous is None else call.previous


def _fit(
    call: ModelCall, size: CallSize, before: CallFit | None, recorded: Mapping[int, object], by_number: Mapping[int, ModelCall]
) -> CallFit:
    reported = call.usage.prompt_tokens
    residual = None
    if reported is not None and before is not None and before.reported is not None:
        residual = (reported - before.reported) - (size.estimate - before.estimate)
    return CallFit(
        n=call.n,
        previous=None if before is None else before.n,
        anchor=call.n,
        reported=reported,
        estimate=size.estimate,
        unexplained=None if reported is None else reported - size.estimate,
        residual=residual,
        step=None if residual is None else -residual,
        epoch=None,
        growth=None,
        recorded=call.n in recorded or _went_back_behind(call, size, before, recorded, by_number),
    )


def _went_back_behind(
    call: ModelCall, size: CallSize, before: CallFit | None, recorded: Mapping[int, object], by_number: Mapping[int, ModelCall]
) -> bool:
    """Whether the call is a second try after a compaction whose result another call saw first."""
    if before is None or size.estimate >= before.estimate:
        return False
    return any(before.n < n < call.n and by_number[n].previous == call.previous for n in recorded)


def _jump(found: CallFit, by_number: Mapping[int, ModelCall], estimates: Mapping[int, CallSize]) -> Inferred | None:
    if found.residual is None or found.reported is None or found.previous is None or found.recorded:
        return None
    call, before = by_number[found.n], by_number[found.previous]
    reported_before = before.usage.prompt_tokens or 0
    if _switched(before, call):
        return None
    limit = threshold(found.reported)
    if not estimates[found.n].blocks:
        limit = max(JUMP_TOKENS, BLIND_JUMP_SHARE * reported_before)
    if abs(found.residual) <= limit:
        return None
    return Inferred(
        kind="drop" if found.residual < 0 else "rise",
        before_call=call.n,
        previous=before.n,
        line=call.line,
        amount=abs(found.residual),
        reported_before=reported_before,
        reported_after=found.reported,
        cache_read_before=before.usage.cache_read_tokens,
        cache_read_after=call.usage.cache_read_tokens,
        gap=None if call.at is None or before.at is None else call.at - before.at,
        version_before=before.producer_version,
        version_after=call.producer_version,
    )


def _switched(before: ModelCall, call: ModelCall) -> bool:
    return before.model is not None and call.model is not None and before.model != call.model


def _anchored(
    found: CallFit, before: CallFit | None, event: Inferred | None, by_number: Mapping[int, ModelCall], fits: Mapping[int, CallFit]
) -> CallFit:
    """The call in its epoch: it begins one after an event or a change of model, else it belongs to the one before."""
    if before is None or event is not None or found.recorded or _switched(by_number[before.n], by_number[found.n]):
        return replace(found, step=None)
    anchor = fits[before.anchor]
    growth = found.estimate - anchor.estimate
    if found.reported is None or anchor.reported is None:
        return replace(found, anchor=anchor.n)
    return replace(found, anchor=anchor.n, growth=growth, epoch=anchor.reported + growth - found.reported)
