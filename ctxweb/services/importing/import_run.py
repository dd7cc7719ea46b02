"""One run of an import job: member by member through parsing, counting and publishing, going on where the last run ended."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.db import transaction

from compaction.transcript import Lane
from ctxweb.importers.base import Importer
from ctxweb.importers.physical import PhysicalError
from ctxweb.importers.physical.head import Head
from ctxweb.importers.physical.unpack import Member
from ctxweb.jobs import JobRun
from ctxweb.models import Revision, Source
from ctxweb.services.durable_import import durable_of_import, is_durable_file
from ctxweb.services.importing.bodies import tokens_of
from ctxweb.services.importing.counting import bodies_count
from ctxweb.services.importing.counting_apart import bodies_count_apart
from ctxweb.services.importing.errors import ImportInterrupted, ImportRefused
from ctxweb.services.importing.intake import growth_of, head_of, importer_of, members_of, records_of, survey
from ctxweb.services.importing.lanes import encoding_of, facts_of, records_of_lanes
from ctxweb.services.importing.parsing import Parsed, source_parse
from ctxweb.services.importing.publishing import CURSOR, lane_publish
from ctxweb.services.importing.removing import revision_remove, revisions_sweep, source_remove
from ctxweb.services.importing.showing import Growth, source_show
from ctxweb.storage import blob_delete

READ_BUFFER = 256 * 1024
COUNT_APART_BYTES = 32 * 1024**2  # above this the tokenizer and the reader's structures together would need too much memory


def import_run(run: JobRun) -> None:
    """Import the stored file `params["sha256"]`; end the job with `result = {"outcomes": […], "durable": {…}}`.

    `durable` is what became of the durable state inside it and, where `params["beside"]` names the file that it was read from,
    beside it. An outcome is `{"member", "status", "revisions"}`, or with status `failed` `{"member", "status", "error"}`.
    """
    sha256 = str(run.job.params["sha256"])
    cursor: dict[str, Any] = run.job.cursor or {"member": 0, "outcomes": []}
    try:
        members = members_of(sha256=sha256)
    except PhysicalError as error:
        raise ImportRefused(error.code, str(error)) from error
    durable_files = [member for member in members if is_durable_file(PurePosixPath(member.name or "").name)]
    lanes = [member for member in members if member not in durable_files] or members
    for place, member in enumerate(lanes):
        if place >= cursor["member"]:
            _member_import(run, sha256, member, cursor)
    _clean(run, sha256)
    shown = [key for outcome in cursor["outcomes"] for key, _ in outcome.get("revisions", ())]
    sources = Source.objects.filter(revisions__in=shown).distinct().order_by("pk")
    durable = durable_of_import(sources=sources, beside=str(run.job.params.get("beside", "")), packed=durable_files)
    if durable["error"]:
        run.note(durable["error"])
    run.end("succeeded", result={"outcomes": cursor["outcomes"], "durable": durable})


def _member_import(run: JobRun, sha256: str, member: Member, cursor: dict[str, Any]) -> None:
    try:
        outcome = _known(member)
        if outcome is None:
            _Import.of(run, sha256, member, cursor).go()
            return
    except (PhysicalError, ImportRefused) as error:
        outcome = {"status": "failed", "error": {"code": error.code, "message": str(error)}}
    _unfinished_remove(run, sha256, member)
    with run.commit(cursor=_advanced(cursor, member, outcome)):
        pass


def _unfinished_remove(run: JobRun, sha256: str, member: Member) -> None:
    source = Source.objects.filter(sha256=sha256, member=member.name or "").exclude(state=Source.State.READY).first()
    if source is not None:
        source_remove(source=source, commit=run.commit)


def _known(member: Member) -> dict[str, Any] | None:
    """The outcome for a stream that is known as a whole, or as the beginning of a source."""
    found = survey(member=member)
    source = found.same or found.longer
    if source is None:
        return None
    return {"status": "unchanged", "revisions": revisions_of(source=source)}


def revisions_of(*, source: Source) -> list[list[Any]]:
    """What the published revisions of a source are: [[id, "unchanged"], …]."""
    shown = Revision.objects.filter(source=source, state__in=(Revision.State.READY, Revision.State.SUPERSEDED))
    return [[key, "unchanged"] for key in shown.order_by("pk").values_list("pk", flat=True)]


def _advanced(cursor: dict[str, Any], member: Member, outcome: dict[str, Any]) -> dict[str, Any]:
    """The cursor behind this member; what an import of it had noted is dropped."""
    outcomes = [*cursor["outcomes"], {"member": member.name or "", **outcome}]
    place = cursor["member"] + 1
    cursor.clear()
    cursor.update(member=place, outcomes=outcomes)
    return cursor


def _clean(run: JobRun, sha256: str) -> None:
    """What no source needs any more: shorter readings, their bytes, and bytes that turned out to be known."""
    revisions_sweep(commit=run.commit)
    for name in {sha256, *run.job.params.get("replaced", ())}:
        blob_release(sha256=name)


def blob_release(*, sha256: str) -> None:
    """Delete raw bytes that no source refers to."""
    with transaction.atomic():  # no other import can begin to use them in the meantime
        if not Source.objects.filter(sha256=sha256).exists():
            blob_delete(sha256=sha256)


def _strays_remove(run: JobRun, source: Source, cursor: dict[str, Any]) -> None:
    """Unfinished revisions that the cursor does not know: those of an import that was given up and is begun anew."""
    known = {*cursor.get("done", ()), cursor.get("revision", 0)}
    strays = Revision.objects.filter(source=source, state=Revision.State.IMPORTING).exclude(pk__in=known)
    for revision_id in list(strays.values_list("pk", flat=True)):
        revision_remove(revision_id=revision_id, commit=run.commit)


@dataclass(slots=True)
class _Import:
    """The import of one source."""

    run: JobRun
    member: Member
    cursor: dict[str, Any]
    source: Source
    head: Head
    importer: Importer
    growth: Growth | None

    @classmethod
    def of(cls, run: JobRun, sha256: str, member: Member, cursor: dict[str, Any]) -> _Import:
        found = survey(member=member)
        head = head_of(member=member)
        importer = importer_of(head=head)
        growth = growth_of(shorter=found.shorter, head=head, importer=importer)
        basis = [growth.base.pk, growth.kept] if growth else []
        if cursor.get("basis", basis) != basis:  # another import has changed what this one was to go on from
            _unfinished_remove(run, sha256, member)
            cursor = {name: cursor[name] for name in ("member", "outcomes")}
        values = {
            "name": str(run.job.params["name"]), "stream_sha256": found.sha256, "stream_size": found.size, "opening": found.opening,
            "size": run.job.params["size"], "format": importer.id, "layout": head.layout,
        }  # fmt: skip
        cursor["basis"] = basis
        with run.commit(is_progress=False, stage="parsing", cursor=cursor):
            source, _ = Source.objects.get_or_create(sha256=sha256, member=member.name or "", defaults=values)
        _strays_remove(run, source, cursor)
        return cls(run=run, member=member, cursor=cursor, source=source, head=head, importer=importer, growth=growth)

    def go(self) -> None:
        parsed = self._parse()
        lanes = list(parsed.reader.lanes())
        if not lanes:
            raise ImportRefused("no_session", "The source is of a known format, but holds no message of a session.")
        facts = [facts_of(lane=lane, format_id=self.importer.id) for lane in lanes]
        for encoding in sorted({encoding_of(lane) for lane in lanes}):
            self._count(parsed.digests, encoding)
        owned = records_of_lanes(lanes=lanes, parsed=parsed)
        self._note_source(parsed)
        self._publish(lanes, facts, owned, parsed.digests)
        self._show()

    def _parse(self) -> Parsed:
        kept = self.growth.kept if self.growth else 0
        with self._open() as stream, self._open() as again:
            records = records_of(stream=stream, head=self.head, importer=self.importer, is_cut=self.member.is_cut)
            parsed = source_parse(run=self.run, source=self.source, records=records, stream=again, reader=self.importer.reader(), kept=kept)
        if self.head.layout == "lines" and parsed.end != self.source.stream_size:
            raise ImportRefused(
                "records_lost", f"The records end at byte {parsed.end:,} of {self.source.stream_size:,}: report this source."
            )
        return parsed

    def _count(self, digests: set[bytes], encoding: str) -> None:
        count = bodies_count_apart if (self.source.stream_size or 0) > COUNT_APART_BYTES else bodies_count
        count(run=self.run, digests=digests, encoding=encoding)

    def _open(self) -> Any:
        return io.BufferedReader(self.member.open(), READ_BUFFER)

    def _note_source(self, parsed: Parsed) -> None:
        self.source.record_count = len(parsed.verdicts)
        self.source.verdicts = parsed.counts()
        self.source.unknown_types = dict(parsed.unknown_types)
        self.source.flag_counts = dict(parsed.flags)

    def _publish(
        self, lanes: list[Lane], facts: list[dict[str, Any]], owned: list[tuple[list[list[int]], dict[str, int]]], digests: set[bytes]
    ) -> None:
        self.cursor.setdefault("lane", 0)
        self.cursor.setdefault("done", [])
        for place, (lane, told, (ranges, verdicts)) in enumerate(zip(lanes, facts, owned, strict=True)):
            if place < self.cursor["lane"]:
                continue
            self.cursor.update({**CURSOR, **self.cursor})
            tokens = tokens_of(digests=digests, encoding=told["encoding"])
            if lane is lanes[-1]:
                digests.clear()  # the fold is where the most memory is needed
            lane_publish(
                run=self.run,
                cursor=self.cursor,
                source=self.source,
                lane=lane,
                facts=told,
                records=ranges,
                verdicts=verdicts,
                tokens=tokens,
            )
            self.cursor.update(CURSOR, lane=place + 1, done=[*self.cursor["done"], self.cursor["revision"]])

    def _show(self) -> None:
        source, done = self.source, self.cursor["done"]
        replaced = [self.growth.base.sha256] if self.growth else []
        params = {**self.run.job.params, "replaced": [*self.run.job.params.get("replaced", ()), *replaced]}
        outcome: dict[str, Any] = {"status": "imported", "revisions": []}
        cursor = _advanced(self.cursor, self.member, outcome)
        with self.run.commit(cursor=cursor, params=params):
            self._require_unchanged()
            source.save(update_fields=["record_count", "verdicts", "unknown_types", "flag_counts"])
            by_id = Revision.objects.in_bulk(done)
            shown = source_show(source=source, revisions=[by_id[key] for key in done], growth=self.growth)
            cursor["outcomes"][-1]["revisions"] = [[each.revision, each.status] for each in shown]

    def _require_unchanged(self) -> None:
        """Raise ImportInterrupted where another import got here first; the next run sees what it left."""
        twin = Source.objects.filter(stream_sha256=self.source.stream_sha256, state=Source.State.READY).exclude(pk=self.source.pk)
        lost = self.growth is not None and not Source.objects.filter(pk=self.growth.base.pk, state=Source.State.READY).exists()
        if lost or twin.exists():
            raise ImportInterrupted("overtaken", "Another import of the same session ended in the meantime; this one starts again.")
