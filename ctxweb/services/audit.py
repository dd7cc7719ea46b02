"""The audit of a project: what was found behind source pointers, and who signed it off, appended to one hash chain and never
changed. What an entry is, and how its hash is made, stands in `compaction/sources/chain.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from compaction.sources import resolver
from compaction.sources.chain import NOTHING, Head, Look, append_all
from compaction.sources.resolution import SourceResolution
from compaction.sources.verify_bundle import canonical
from ctxweb.audit_anchors import anchor_if_due
from ctxweb.audit_rows import COLUMNS, SIGNED_OFF, audit_key, entry_row, latest_entries, sign_off_row, time_text
from ctxweb.importers.values import clean_text
from ctxweb.models import AuditEntry, AuditHead, Project, SignOff
from ctxweb.services.importing.tables import rows_insert
from ctxweb.storable import pointer_key
from ctxweb.synced import synced

POLICY_VERSION = "1"  # of who may look at which source
MOST_NAME_CHARS = 200
MOST_NOTE_CHARS = 10_000


class SignOffRefused(Exception):
    """A sign-off that cannot be recorded. `field` names what is wrong with it."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What an append came to: the end of the chain after it, and how many entries it wrote."""

    seq: int
    hash: str
    written: int


def resolutions_append(
    *,
    project: Project,
    resolutions: Sequence[SourceResolution],
    actor: str,
    run: str,
    started_at: datetime,
    finished_at: datetime,
    only_changes: bool = False,
) -> Appended:
    """Append one entry for each resolution, in their order, in one transaction with the head of the chain.

    `actor`: who had it looked up: `schedule`, `watch`, or the name of a person as it was given.
    `run`: the id of the round, the same for all its batches (at most 60 characters); jobs give their public id.
    `started_at`, `finished_at`: when this batch was looked up, with a time zone.
    `only_changes`: for the watch of an open page: writes only what differs (status, reason, digest) from the last entry of its
    pointer. Scheduled and requested checks leave it False and always write.

    Within a caller's transaction (`JobRun.commit`) it becomes part of it: call it last there, because it holds the head's lock
    until the commit. Batches of 500 and more are the cheap way. Excerpts are not written. A `SourceSystemError` is no
    resolution: it never comes here. After the commit an anchor goes to the file of anchors when one is due.
    """
    times = {"started_at": time_text(started_at), "finished_at": time_text(finished_at)}
    looks = [_look(one, actor=actor, run=run, times=times) for one in resolutions]
    with synced():
        head = _locked_head(project)
        if only_changes:
            looks = _changed(project, looks)
        return _append(project, head, looks)


def sign_off(*, project: Project, subject: str, name: str, note: str, now: datetime | None = None) -> SignOff:
    """Record a person's word on a session (`session:<public id>`) or on the project (`project:<id>`): an entry of the chain
    that holds the digest of the name, the note and the time. There are no accounts here, so the name is recorded as claimed.

    Raises SignOffRefused for a blank name or a text that is too long.
    """
    name, note = clean_text(" ".join(name.split())), clean_text(note.strip())
    if not name or len(name) > MOST_NAME_CHARS:
        raise SignOffRefused(f"name is empty or longer than {MOST_NAME_CHARS} characters: write who signs off", field="name")
    if len(note) > MOST_NOTE_CHARS:
        raise SignOffRefused(f"note has more than {MOST_NOTE_CHARS:,} characters: shorten it", field="note")
    at = time_text(now or timezone.now())
    with synced():
        head = _locked_head(project)
        made = SignOff(project=project, seq=head.seq + 1, subject=subject, name=name, note=note, at=at)
        made.save(force_insert=True)
        digest = hashlib.sha256(canonical(sign_off_row(vars(made)))).hexdigest()
        look = Look(
            pointer=subject,
            status=SIGNED_OFF,
            digest=digest,
            reason="claimed",
            actor=name,
            policy_version=POLICY_VERSION,
            resolver_version=resolver.VERSION,
            started_at=at,
            finished_at=at,
            run="",
        )
        _append(project, head, [look])
    return made


def anchors_sweep() -> None:
    """Write the anchors that are due: those of the last entries of a chain that nobody has appended to since."""
    for head in AuditHead.objects.filter(seq__gt=0):
        anchor_if_due(project_id=head.project_id, head=Head(head.seq, head.hash), now=timezone.now())


def _look(resolution: SourceResolution, *, actor: str, run: str, times: dict[str, str]) -> Look:
    return Look(
        pointer=pointer_key(resolution.pointer),
        status=resolution.status,
        digest=resolution.evidence_sha256 or "",
        reason=resolution.reason,
        actor=clean_text(actor)[:MOST_NAME_CHARS],
        policy_version=POLICY_VERSION,
        resolver_version=resolver.VERSION,
        run=run,
        **times,
    )


def _changed(project: Project, looks: list[Look]) -> list[Look]:
    last = latest_entries(project_id=project.pk, pointers=[look.pointer for look in looks])
    return [look for look in looks if look.pointer not in last or _finding(last[look.pointer]) != _finding(look)]


def _finding(of: AuditEntry | Look) -> tuple[str, str, str]:
    return of.status, of.reason, of.digest


def _locked_head(project: Project) -> Head:
    """The head, held until the commit: no second writer can append to the same end."""
    row, _ = AuditHead.objects.select_for_update().get_or_create(project=project, defaults={"hash": NOTHING})
    return Head(row.seq, row.hash)


def _append(project: Project, head: Head, looks: list[Look]) -> Appended:
    entries = list(append_all(head, iter(looks), tenant=project.pk, key=audit_key()))
    if not entries:
        return Appended(seq=head.seq, hash=head.hash, written=0)
    rows_insert(AuditEntry, COLUMNS, map(entry_row, entries))
    end = Head(entries[-1].seq, entries[-1].hash)
    AuditHead.objects.filter(project=project).update(seq=end.seq, hash=end.hash)
    transaction.on_commit(partial(anchor_if_due, project_id=project.pk, head=end, now=timezone.now()))
    return Appended(seq=end.seq, hash=end.hash, written=len(entries))
