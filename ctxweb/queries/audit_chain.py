"""Whether the audit of a project is what was written: its chain, its head, its anchors and its sign-offs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from compaction.sources.chain import Head, check_chain
from compaction.sources.verify_bundle import canonical
from ctxweb.audit_anchors import anchors_read
from ctxweb.audit_rows import SIGNED_OFF, audit_key, entries_of, head_of, sign_off_row
from ctxweb.models import AuditEntry, SignOff

MOST_BREAKS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainBreak:
    """A place where the audit does not hold, from entry `first` to `last`. `kind` is a word of `verify_bundle`, or `sign_off`."""

    kind: str
    first: int
    last: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainState:
    """What became of a check. Entries up to `anchored_to` are vouched for by an anchor outside the database (None: none
    are); who has the key and the database could have written those after it again."""

    project: str
    holds: bool
    count: int
    head: str
    anchors: int
    anchored_to: int | None
    breaks: tuple[ChainBreak, ...]


def audit_chain(*, project_id: str) -> ChainState:
    """Check all entries with the key of this installation: one pass, whose time grows with their number."""
    anchors = [anchor.head for anchor in anchors_read(project_id=project_id)]
    rows = AuditEntry.objects.filter(project_id=project_id).order_by("pk")
    kept = head_of(project_id=project_id) or Head()
    report = check_chain(entries_of(rows), head=kept, anchors=anchors, key=audit_key())
    breaks = [ChainBreak(**asdict(one)) for one in report.breaks] + list(_sign_off_breaks(project_id))
    return ChainState(
        project=project_id,
        holds=not breaks,
        count=report.count,
        head=str(report.head),
        anchors=len(anchors),
        anchored_to=report.anchored_to,
        breaks=tuple(breaks[:MOST_BREAKS]),
    )


def _sign_off_breaks(project_id: str) -> Iterator[ChainBreak]:
    """Each sign-off has its entry, and each such entry its sign-off, unchanged."""
    entries = AuditEntry.objects.filter(project_id=project_id, status=SIGNED_OFF).values_list("seq", "digest")
    open_entries = dict(entries)
    for values in SignOff.objects.filter(project_id=project_id).order_by("seq").values():
        digest = hashlib.sha256(canonical(sign_off_row(values))).hexdigest()
        if open_entries.pop(values["seq"], "") != digest:
            yield _sign_off_break(values["seq"], "the sign-off is not the one that its entry was made for")
    for seq in sorted(open_entries):
        yield _sign_off_break(seq, "the sign-off of this entry is gone")


def _sign_off_break(seq: int, says: str) -> ChainBreak:
    return ChainBreak(kind="sign_off", first=seq, last=seq, says=says)
