"""What is found in checkpoints, computed at the first look and kept: a huge range takes up to a second.

What is kept names all that it was computed from: a revision never changes, nor does a summary. So it can never be out of date, and
a write of it that is lost costs one more computation.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from compaction.retention.survival import ChainLink, survival
from compaction.typed_json import to_json
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import VERSION, Figures, Findings, ObjectionFound, figures_of, findings_from, findings_of
from ctxweb.checkpoints.followed import Followed, followed_from, followed_of
from ctxweb.checkpoints.ranges import checkpoint_range, checkpoint_text
from ctxweb.models import CheckpointAnalysis, History, Summary

MOST_SECONDS = 0.5  # that a list of checkpoints computes in one look; the rest is computed in the next ones
CHAIN = 10  # checkpoints of a chain that are followed, the last ones


def checkpoint_findings(*, history: History, checkpoint: Checkpoint) -> Findings | None:
    """What was found in a checkpoint; None where its text or its range cannot be read. `history`: the recorded one."""
    if not checkpoint.has_range or not checkpoint.is_readable:
        return None
    inputs = _inputs(history, [checkpoint])
    kept = _kept(history, checkpoint.key, "findings", inputs)
    if kept is not None:
        return findings_from(kept)
    found = findings_of(checkpoint_range(history=history, checkpoint=checkpoint), checkpoint_text(checkpoint))
    if checkpoint.origin == "made":  # what its job had against it: it knew what it had asked for
        told = Summary.objects.values_list("objections", flat=True).get(public_id=checkpoint.summary)
        found = replace(found, objections=tuple(ObjectionFound(**one) for one in told))
    _keep(history, checkpoint.key, "findings", inputs, found)
    _keep(history, checkpoint.key, "figures", inputs, figures_of(found))
    return found


def checkpoint_figures(*, history: History, checkpoints: Sequence[Checkpoint]) -> dict[str, Figures]:
    """The findings in numbers, by key. What was never computed is, within MOST_SECONDS; what is not in it yet will be in a later look."""
    wanted = [one for one in checkpoints if one.has_range and one.is_readable]
    inputs = {one.key: _inputs(history, [one]) for one in wanted}
    rows = CheckpointAnalysis.objects.filter(session=_session(history), kind="figures", subject__in=inputs)
    found = {row.subject: Figures(**row.data) for row in rows if row.inputs == inputs[row.subject]}
    end = time.monotonic() + MOST_SECONDS
    for one in [one for one in wanted if one.key not in found]:
        findings = checkpoint_findings(history=history, checkpoint=one)  # at least one a look
        if findings is not None:
            found[one.key] = figures_of(findings)
        if time.monotonic() >= end:
            break
    return found


def chain_followed(*, history: History, chain: Sequence[Checkpoint]) -> Followed | None:
    """What became of the items along the last CHAIN checkpoints of a chain, the oldest first; None where there are less than two."""
    links = _followed(chain)
    if len(links) < 2:
        return None
    subject, inputs = "..".join(one.key for one in links), _inputs(history, links)
    kept = _kept(history, subject, "survival", inputs)
    if kept is not None:
        return followed_from(kept)
    ranges = (checkpoint_range(history=history, checkpoint=one).pieces for one in links)
    made = [ChainLink(pieces=pieces, summary=checkpoint_text(one)) for one, pieces in zip(links, ranges, strict=True)]
    found = followed_of(survival(made))
    _keep(history, subject, "survival", inputs, found)
    return found


def followed_keys(chain: Sequence[Checkpoint]) -> tuple[str, ...]:
    """Which checkpoints of a chain are followed."""
    return tuple(one.key for one in _followed(chain))


def _followed(chain: Sequence[Checkpoint]) -> list[Checkpoint]:
    return [one for one in chain if one.has_range and one.is_readable][-CHAIN:]


def _inputs(history: History, checkpoints: Iterable[Checkpoint]) -> str:
    """The digest of all that a result depends on: the analysis, the reading of the file, the checkpoints."""
    revision = history.revision
    parts = [f"{VERSION}", f"{revision.pk} {revision.created_at.isoformat()}"]
    parts += [f"{one.key} {one.compaction} {one.summary} {' '.join(one.bodies)}" for one in checkpoints]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _session(history: History) -> str:
    session = history.revision.session
    return session.public_id if session is not None else ""


def _kept(history: History, subject: str, kind: str, inputs: str) -> Any:
    row = CheckpointAnalysis.objects.filter(session=_session(history), subject=subject, kind=kind).first()
    return row.data if row is not None and row.inputs == inputs else None


def _keep(history: History, subject: str, kind: str, inputs: str, found: object) -> None:
    """Whoever computes the same at the same time writes the same."""
    row = CheckpointAnalysis(session=_session(history), subject=subject, kind=kind, inputs=inputs, data=to_json(found))
    CheckpointAnalysis.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["session", "subject", "kind"], update_fields=["inputs", "data", "made_at"]
    )
