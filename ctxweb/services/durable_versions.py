"""Versions of a session's durable state. Each change is a new one; nothing is overwritten.

The only code that writes them. Nothing that summarises or compacts can reach it: an import contract and a test say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from compaction.durable.canonical import state_digest, state_to_json
from compaction.durable.fields import required_text
from compaction.durable.succession import Difference, check_successor
from compaction.durable.values import DurableContextState
from compaction.errors import DurableError
from ctxweb.durable_rows import INDEX_COLUMNS, confirmed_of, index_rows, items_of, last_version, pointer_of, pointers_of, state_of
from ctxweb.importers.values import clean_text
from ctxweb.models import DurableItem, DurableVersion, Project
from ctxweb.services.importing.tables import rows_insert
from ctxweb.services.source_confirm import digests_now
from ctxweb.synced import synced

MOST_AUTHOR_CHARS = 200
MOST_REASON_CHARS = 10_000
Make = Callable[[DurableContextState], DurableContextState]
Confirm = Callable[[Project, Sequence[str]], Mapping[str, str]]
Together = Callable[[int], None]
TRIES = 20  # a change for whichever version is the last is made again when another one was faster


class VersionMoved(Exception):
    """The state is no longer at the version that the change was made for. `current` is the one it is at, 0 for none."""

    def __init__(self, current: int) -> None:
        super().__init__(f"The durable state is at version {current} now: read it, and make the change to that.")
        self.current = current


class VersionTaken(Exception):
    """Another writer made the version of this number first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who changes the state: `name` as given, `origin` the way in (`api`, `page`, `import`), and why."""

    name: str
    origin: str
    reason: str = ""

    def __post_init__(self) -> None:
        name = required_text(self.name, "author")
        if len(name) > MOST_AUTHOR_CHARS:
            raise DurableError(f"author has more than {MOST_AUTHOR_CHARS} characters: shorten it", code="too_long", field="author")
        if len(self.reason) > MOST_REASON_CHARS:
            raise DurableError(f"reason has more than {MOST_REASON_CHARS:,} characters: shorten it", code="too_long", field="reason")
        object.__setattr__(self, "name", clean_text(name))
        object.__setattr__(self, "reason", clean_text(self.reason.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The last version after a change, and whether the change made it: one that changes nothing makes none."""

    version: DurableVersion | None
    is_new: bool


def nothing_else(number: int) -> None:
    """Nothing is written together with a version."""


def version_append(
    *,
    project: Project,
    session: str,
    expected: int | None,
    author: Author,
    make: Make,
    confirm: Confirm = digests_now,
    together: Together = nothing_else,
) -> Written:
    """The next version of the state of a session (its public id), made from the last one.

    `expected` is the version that the change is made for (0: there is none), None for whichever is the last. `confirm`
    gives the digests of sources that are available now; it may read files, so it is asked before the lock is taken.
    `together` writes what belongs to the version, in its transaction; it is told the number that the state is at then.
    Raises VersionMoved, and DurableError where the change cannot be.
    """
    for _ in range(TRIES):
        last = last_version(session=session)
        number = 0 if last is None else last.number
        if expected is not None and expected != number:
            raise VersionMoved(number)
        before = state_of(last)
        after = make(before)
        found = check_successor(before, after, reason=author.reason)
        digests = {} if found.is_empty else _confirmed(project, last, after, found, confirm)
        try:
            with synced():
                if _number(session) == number:
                    made = last if found.is_empty else _insert(project, session, last, after, author, digests)
                    together(0 if made is None else made.number)
                    return Written(version=made, is_new=not found.is_empty)
        except VersionTaken:
            pass  # on PostgreSQL two may make one number: the second is late
    raise VersionMoved(_number(session))


def durable_reindex() -> None:
    """Make the index of the last versions again."""
    for session in DurableVersion.objects.order_by("session").values_list("session", flat=True).distinct():
        with transaction.atomic():
            version = last_version(session=session)
            if version is not None:
                _index(version, state_of(version), confirmed_of(version))


def _number(session: str) -> int:
    """The number of the last version, 0 for none."""
    return DurableVersion.objects.filter(session=session).aggregate(last=Max("number"))["last"] or 0


def _insert(
    project: Project, session: str, last: DurableVersion | None, state: DurableContextState, author: Author, digests: Mapping[str, str]
) -> DurableVersion:
    """Write the version and its index. Raises VersionTaken."""
    made = DurableVersion(
        project=project,
        session=session,
        number=1 if last is None else last.number + 1,
        parent=None if last is None else last.number,
        state=state_to_json(state),
        sha256=state_digest(state),
        confirmed=json.dumps(digests, sort_keys=True, separators=(",", ":")),
        author=author.name,
        reason=author.reason,
        origin=author.origin,
        at=timezone.now(),
    )
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError:
        raise VersionTaken from None
    _index(made, state, digests)
    return made


def _index(version: DurableVersion, state: DurableContextState, digests: Mapping[str, str]) -> None:
    DurableItem.objects.filter(session=version.session)._raw_delete("default")
    rows_insert(DurableItem, INDEX_COLUMNS, index_rows(version, state, digests))


def _confirmed(
    project: Project, last: DurableVersion | None, after: DurableContextState, found: Difference, confirm: Confirm
) -> dict[str, str]:
    """Digests of the sources of all items: those of items that were confirmed anew as they are now, the others as they were."""
    anew = pointers_of(change.after for change in found.changes if change.after is not None and _is_confirmed_anew(change.fields))
    kept = confirmed_of(last)
    there = {pointer: kept[pointer] for item in items_of(after) if (pointer := pointer_of(item)) in kept and pointer not in anew}
    return there | (dict(confirm(project, anew)) if anew else {})


def _is_confirmed_anew(fields: Sequence[object]) -> bool:
    """Whether an added item, or a change, is a confirmation: a new time or another source."""
    names = {getattr(field, "field", "") for field in fields}
    return not fields or bool(names & {"last_confirmed_at", "source_pointer", "source_id", "captured_at"})
