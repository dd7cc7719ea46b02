"""Calls that a policy could not have made, and what a replay tells its reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.replay.replayable import Replayable
from compaction.transcript import Finding

FailureCode = Literal["view_limit_exceeded", "would_have_failed"]
"""At or above the hard limit after all layers; or too long for the window, also after the one retry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A call that the policy could not have made: `size` against `limit`, in the policy's unit or in tokens."""

    code: FailureCode
    call: int
    size: int
    limit: int


ORPHANS_KEPT = "orphans_kept"
STARTS_FROM_SUMMARY = "starts_from_summary"


def findings_of(session: Replayable, failures: Sequence[Failure]) -> tuple[Finding, ...]:
    """One finding for neighbouring calls that failed alike, and one for what the transcript lacks."""
    return (*_about_transcript(session), *(_finding(session, run) for run in _runs(session, failures)))


def _about_transcript(session: Replayable) -> Iterator[Finding]:
    if session.orphans:
        first = session.orphans[0]
        detail = f"{len(session.orphans)} tool blocks without another half, the first is {first}"
        yield Finding(code=ORPHANS_KEPT, seq=first.seq, detail=detail)
    if session.starts_from_summary:
        yield Finding(code=STARTS_FROM_SUMMARY, seq=session.arrivals[0].seqs[0], detail="what it stands for is in no message")


def _runs(session: Replayable, failures: Sequence[Failure]) -> Iterator[list[Failure]]:
    """Failures of one code before calls that follow each other on the active path."""
    following = dict(zip(session.active, session.active[1:], strict=False))
    open_runs: dict[str, list[Failure]] = {}
    for failure in failures:
        run = open_runs.get(failure.code)
        if run is not None and following.get(run[-1].call) == failure.call:
            run.append(failure)
        else:
            if run is not None:
                yield run
            open_runs[failure.code] = [failure]
    yield from open_runs.values()


def _finding(session: Replayable, run: Sequence[Failure]) -> Finding:
    first, last = run[0], run[-1]
    calls = f"call {first.call}" if first is last else f"calls {first.call}–{last.call}"
    line = session.calls[first.call - 1].line
    return Finding(code=first.code, line=line, detail=f"{calls}: {first.size:,} for a limit of {first.limit:,}")
