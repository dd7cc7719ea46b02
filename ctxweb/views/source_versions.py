"""Versions of a session's durable state: who changed it, when and why, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.durable import VersionRow
from ctxweb.queries.durable_versions import (
    ChangeRow,
    DifferenceTwin,
    VersionTwin,
    difference_twin,
    version_twin,
    versions_window,
)
from ctxweb.queries.readable import readable_session
from ctxweb.views import asked
from ctxweb.views.source_words import DOMAIN_WORDS, field_word, item_text
from ctxweb.views.windows import first_rows, page_rows

CHANGES = 40  # of a window
TEXT_CHARS = 300  # of one side of a field
MORE = "versions-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsPage:
    address: str
    finding: str
    versions: tuple[VersionRow, ...]
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldLine:
    """One field of a change; an empty side is a field that was not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """An item that was added, removed or changed."""

    word: str
    domain: str
    id: str
    text: str
    fields: tuple[FieldLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPage:
    """What a version changed against `against` (0: nothing)."""

    address: str
    finding: str
    version: VersionTwin
    against: int
    reordered: tuple[str, ...]
    total: int
    lines: tuple[ChangeLine, ...]
    previous: str | None
    following: str | None
    more: str | None


@require_safe
def source_versions(request: HttpRequest, session_id: str) -> HttpResponse:
    session, _ = readable_session(public_id=session_id)
    limit = page_rows() if request.headers.get("HX-Request") else first_rows()
    window = versions_window(session=session, after=asked.number(request.GET, "after"), limit=limit)
    newest = window.versions[0].number if window.versions else 0
    page = VersionsPage(
        address=addresses.sources(session_id),
        finding=f"The state is at version {newest:,}." if newest else "There is no version yet.",
        versions=window.versions,
        more=addresses.source_versions(session_id, after=window.next) if window.next else None,
    )
    twin = addresses.api_session(session_id, "durable/versions")
    frame = session_frame(request, session, tab="sources", title=f"Versions · {newest:,}", json=twin)
    return show(request, template="sources/versions.html", frame=frame, page=page, fragments={MORE: "sources/_version_rows.html"})


@require_safe
def source_version(request: HttpRequest, session_id: str, number: int) -> HttpResponse:
    session, _ = readable_session(public_id=session_id)
    against = asked.number(request.GET, "against")
    version = version_twin(session=session, number=number)
    found = difference_twin(session=session, before=against, after=number)
    start = asked.number(request.GET, "after") or 0
    has_more = len(found.changes) > start + CHANGES
    page = VersionPage(
        address=addresses.source_versions(session_id),
        finding=_finding(version, found),
        version=version,
        against=found.before,
        reordered=tuple(DOMAIN_WORDS[name] for name in found.reordered),
        total=len(found.changes),
        lines=tuple(map(_line, found.changes[start : start + CHANGES])),
        previous=addresses.source_version(session_id, version.parent) if version.parent else None,
        following=_following(session_id, number, session),
        more=addresses.source_version(session_id, number, against=against, after=start + CHANGES) if has_more else None,
    )
    twin = addresses.with_query(addresses.api_session(session_id, f"durable/versions/{number}/difference"), against=against)
    frame = session_frame(request, session, tab="sources", title=f"Version {number:,}", json=twin)
    return show(request, template="sources/version.html", frame=frame, page=page)


def _following(session_id: str, number: int, session: Any) -> str | None:
    newest = versions_window(session=session, after=None, limit=1).versions[0].number
    return addresses.source_version(session_id, number + 1) if number < newest else None


def _finding(version: VersionTwin, found: DifferenceTwin) -> str:
    counts = {word: sum(one.change == word for one in found.changes) for word in ("added", "changed", "removed")}
    said = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count) or "nothing changed but its order"
    return f"Version {version.number:,} against {f'version {found.before:,}' if found.before else 'nothing'}: {said}."


def _line(change: ChangeRow) -> ChangeLine:
    return ChangeLine(
        word=change.change,
        domain=DOMAIN_WORDS[change.domain],
        id=change.id,
        text=item_text(change.after or change.before or {})[:TEXT_CHARS],
        fields=tuple(_fields(change)),
    )


def _fields(change: ChangeRow) -> Iterator[FieldLine]:
    for one in change.fields:
        yield FieldLine(name=field_word(one.field), before=_said(one.before), after=_said(one.after))
    side: dict[str, Any] = change.after or change.before or {}
    for name in () if change.fields else ("source_pointer", "source_id", "status"):
        if name in side:
            value = _said(side[name])
            yield FieldLine(name=field_word(name), before="" if change.after else value, after=value if change.after else "")


def _said(value: object) -> str:
    if isinstance(value, list):
        return counted(len(value), "entry").replace("entrys", "entries")
    text = "–" if value is None else str(value)
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}…"
