"""The versions of a session's durable state, and how two of them differ."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.http import Http404

from compaction.durable.succession import difference
from ctxweb.durable_rows import confirmed_of, shown, shown_item, state_of
from ctxweb.importers.values import clean_text
from ctxweb.models import DurableVersion, Session
from ctxweb.queries.durable import VersionRow, version_row


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsWindow:
    """The versions of a state, the newest first."""

    session: str
    versions: tuple[VersionRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTwin(VersionRow):
    """One version. `state` is its canonical JSON, exactly what `sha256` is of; `confirmed` is the SHA-256 of each source at
    its last confirmation."""

    session: str
    state: str
    confirmed: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """An item that was `added`, `removed` or `changed`; `fields` say how."""

    domain: str
    id: str
    change: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceTwin:
    """What became of version `before` (0: nothing) in version `after`; `reordered` are lists whose items changed places."""

    session: str
    before: int
    after: int
    changes: tuple[ChangeRow, ...]
    reordered: tuple[str, ...]


def versions_window(*, session: Session, after: int | None, limit: int) -> VersionsWindow:
    versions = DurableVersion.objects.filter(session=session.public_id).defer("state", "confirmed").order_by("-number")
    window = list((versions if after is None else versions.filter(number__lt=after))[: limit + 1])
    shown = window[:limit]
    return VersionsWindow(
        session=session.public_id,
        versions=tuple(map(version_row, shown)),
        next=str(shown[-1].number) if len(window) > limit else None,
    )


def version_twin(*, session: Session, number: int) -> VersionTwin:
    """Raises Http404."""
    version = _readable_version(session, number)
    row = version_row(version)
    copied = {field.name: getattr(row, field.name) for field in fields(VersionRow)}
    confirmed = {clean_text(pointer): digest for pointer, digest in confirmed_of(version).items()}
    return VersionTwin(**copied, session=session.public_id, state=version.state, confirmed=confirmed)


def difference_twin(*, session: Session, before: int | None, after: int) -> DifferenceTwin:
    """`before` None: the parent of `after`; 0: nothing. Raises Http404."""
    newer = _readable_version(session, after)
    number = (newer.parent or 0) if before is None else before
    older = _readable_version(session, number) if number else None
    found = difference(state_of(older), state_of(newer))
    changes = tuple(
        ChangeRow(
            domain=one.domain,
            id=clean_text(one.id),
            change=one.change,
            before=None if one.before is None else shown_item(one.before),
            after=None if one.after is None else shown_item(one.after),
            fields=tuple(FieldRow(field=field.field, before=shown(field.before), after=shown(field.after)) for field in one.fields),
        )
        for one in found.changes
    )
    return DifferenceTwin(session=session.public_id, before=number, after=after, changes=changes, reordered=found.reordered)


def _readable_version(session: Session, number: int) -> DurableVersion:
    found = DurableVersion.objects.filter(session=session.public_id, number=number).first()
    if found is None:
        raise Http404
    return found
