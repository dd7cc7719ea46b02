"""Durable state from files: `durable.json` beside a session file, and records of type `durable` inside a message list."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings

from compaction.durable.canonical import Item, state_from
from compaction.durable.values import Domain, DurableContextState
from compaction.errors import DurableError
from compaction.typed_json import to_json
from ctxweb.durable_merge import merged
from ctxweb.importers.physical.unpack import Member
from ctxweb.models import DurableVersion, Record, Revision, Session, Source
from ctxweb.services.durable_proposals import CONFLICT, proposal_add
from ctxweb.services.durable_versions import Author, Written, version_append
from ctxweb.services.record_read import RecordUnreadable, record_read

BESIDE = "durable.json"
SUFFIX = ".durable.json"  # `talk.durable.json` belongs to `talk.jsonl`
MOST_VERSIONS_READ = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableImport:
    """What an import came to for one session: its version now, whether that is new, and the conflicts that it left."""

    session: str
    version: int
    is_new: bool
    conflicts: int


class DurableFileError(Exception):
    """A file of durable state that cannot be used. The message names it, the place and the field."""


def durable_import(*, session: Session, given: object, author: Author) -> DurableImport:
    """Add what a state says to that of the session; what contradicts it is kept as a conflict. The same import again changes
    nothing. Raises DurableError."""
    state = state_from(given, most_items=settings.CTXWEB_DURABLE_ITEMS)
    conflicts: list[tuple[Domain, Item]] = []
    earlier = _Earlier(session.public_id)

    def make(before: DurableContextState) -> DurableContextState:
        found = merged(before, state, known=earlier.__contains__)
        conflicts[:] = found.conflicts
        return found.state

    def keep_conflicts(_: int) -> None:
        for domain, item in conflicts:
            proposal_add(session=session.public_id, kind=CONFLICT, domain=domain, item=item, author=author)

    written: Written = version_append(
        project=session.project, session=session.public_id, expected=None, author=author, make=make, together=keep_conflicts
    )
    number = 0 if written.version is None else written.version.number
    return DurableImport(session=session.public_id, version=number, is_new=written.is_new, conflicts=len(conflicts))


def is_durable_file(name: str) -> bool:
    """Whether a file of this name is durable state, and no session."""
    return name == BESIDE or name.endswith(SUFFIX)


def durable_of_import(*, sources: Iterable[Source], beside: str = "", packed: Sequence[Member] = ()) -> dict[str, Any]:
    """Import what lies inside the sources of an import, beside them in the same archive (`packed`) and, for a file of this machine,
    `beside` it. What became of it, for the result of the job: `{"imported": […], "error": text or None}`."""
    done: list[DurableImport] = []
    sources = list(sources)
    try:
        for member in packed:
            done += filter(None, [durable_packed(member=member, sources=sources)])
        for source in sources:
            done += durable_inside(source=source)
            if beside:
                sessions = Session.objects.filter(current__source=source).select_related("project")
                done += filter(None, [durable_beside(path=Path(beside), sessions=sessions)])
    except DurableFileError as error:
        return {"imported": [asdict(one) for one in done], "error": str(error)}
    return {"imported": [asdict(one) for one in done], "error": None}


def durable_beside(*, path: Path, sessions: Iterable[Session]) -> DurableImport | None:
    """Import the durable state that lies beside a session file: `<name>.durable.json`, else `durable.json`, which may name
    its session (`session`: native or public id) and otherwise belongs to the one main session of the file. None where there
    is none for these. Raises DurableFileError."""
    file = next((beside for beside in (path.with_name(_stem(path.name) + SUFFIX), path.with_name(BESIDE)) if beside.is_file()), None)
    if file is None:
        return None
    given = _read(file)
    session = _owner(given.pop("session", None), list(sessions), is_named=file.name != BESIDE or _is_alone(path))
    if session is None:
        return None
    try:
        return durable_import(session=session, given=given, author=_author(file.name))
    except DurableError as error:
        raise DurableFileError(f"{file.name}: {_placed(error)}") from error


def durable_packed(*, member: Member, sources: Sequence[Source]) -> DurableImport | None:
    """Import the durable state in an archive: for the session file of its folder that it is named after, or the only one there.
    None where there is none. Raises DurableFileError."""
    place = PurePosixPath(member.name or "")
    near = [source for source in sources if PurePosixPath(source.member).parent == place.parent]
    if place.name != BESIDE:
        near = [source for source in near if _stem(PurePosixPath(source.member).name) + SUFFIX == place.name]
    with io.BufferedReader(member.open()) as stream:  # type: ignore[type-var]  # a raw stream, as in an import
        given = _object_of(stream.read(settings.CTXWEB_MAX_LINE_BYTES + 1), str(place))
    sessions = list(Session.objects.filter(current__source__in=near).select_related("project"))
    session = _owner(given.pop("session", None), sessions, is_named=len(near) == 1)
    if session is None:
        return None
    try:
        return durable_import(session=session, given=given, author=_author(place.name))
    except DurableError as error:
        raise DurableFileError(f"{place}: {_placed(error)}") from error


def durable_inside(*, source: Source) -> list[DurableImport]:
    """Import the records of type `durable` of a source, each for the lane that it stands in. Raises DurableFileError."""
    done = []
    for session, given, record in _inside(source):
        try:
            done.append(durable_import(session=session, given=given, author=_author(Path(source.name).name)))
        except DurableError as error:
            raise DurableFileError(f"record {record}: {_placed(error)}") from error
    return done


def _inside(source: Source) -> Iterator[tuple[Session, object, int]]:
    if source.format != "message_list":
        return
    revisions = list(Revision.objects.filter(source=source, session__isnull=False).select_related("session__project").order_by("pk"))
    for record in Record.objects.filter(source=source, type__in=("durable", "header")).order_by("number"):
        try:
            value = json.loads(record_read(source=source, offset=record.offset, length=record.length))
        except (RecordUnreadable, ValueError) as error:
            raise DurableFileError(f"record {record.number} cannot be read again: import the file once more") from error
        if record.type == "durable":
            owner = next((one.session for one in revisions if _holds(one, record.number)), None)
            if owner is not None:
                yield owner, value["state"], record.number
        else:
            yield from _in_one_object(value, revisions, record.number)


def _in_one_object(header: Mapping[str, Any], revisions: list[Revision], number: int) -> Iterator[tuple[Session, object, int]]:
    """A file of one JSON object: its lanes came in the order of their records."""
    lane = 0
    for place, entry in enumerate(header.get("records") or ()):
        lane += entry.get("type") == "lane" and place > 0
        if entry.get("type") == "durable" and lane < len(revisions):
            owner = revisions[lane].session
            if owner is not None:
                yield owner, entry["state"], number


def _holds(revision: Revision, number: int) -> bool:
    return any(first <= number <= last for first, last in revision.records)


class _Earlier:
    """The items of all versions of a state, read when the first one is asked for."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._texts: set[str] | None = None

    def __contains__(self, item: object) -> bool:
        if self._texts is None:
            self._texts = set()
            states = DurableVersion.objects.filter(session=self._session).order_by("-number").values_list("state", flat=True)
            for state in states[:MOST_VERSIONS_READ].iterator(chunk_size=20):
                self._texts.update(_text(one) for items in json.loads(state).values() for one in items)
        return _text(to_json(item)) in self._texts


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            raw = stream.read(settings.CTXWEB_MAX_LINE_BYTES + 1)
    except OSError as error:
        raise DurableFileError(f"{file.name} cannot be read ({error.strerror})") from error
    return _object_of(raw, file.name)


def _object_of(raw: bytes, name: str) -> dict[str, Any]:
    if len(raw) > settings.CTXWEB_MAX_LINE_BYTES:
        raise DurableFileError(f"{name} has more than {settings.CTXWEB_MAX_LINE_BYTES:,} bytes: make it smaller")
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise DurableFileError(f"{name} is no JSON object: write the lists of a durable state")
    return given


def _owner(named: object, sessions: list[Session], *, is_named: bool) -> Session | None:
    if named is not None:
        return next((one for one in sessions if named in (one.public_id, one.native_id)), None)
    main = [one for one in sessions if one.lane == "main"]
    return main[0] if is_named and len(main) == 1 else None


def _is_alone(path: Path) -> bool:
    """Whether no other file beside it could be the session that a `durable.json` without a name belongs to."""
    return not any(
        other.is_file() and other.name != path.name and not is_durable_file(other.name) and other.suffix == path.suffix
        for other in path.parent.iterdir()
    )


def _stem(name: str) -> str:
    return name.split(".jsonl", 1)[0].split(".json", 1)[0]


def _author(name: str) -> Author:
    return Author(name="import", origin="import", reason=f"Imported from {name}"[:500])


def _placed(error: DurableError) -> str:
    return f"{error.place}: {error}" if error.place else str(error)
