"""Forms that change durable state by hand: their fields, and what is wrong with them, each at its field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from compaction.errors import DurableError
from ctxweb import addresses
from ctxweb.models import Session
from ctxweb.page import session_frame, show
from ctxweb.services.durable_proposals import ProposalDecided
from ctxweb.services.durable_versions import Author, VersionMoved
from ctxweb.views import asked
from ctxweb.views.names import keep_name, known_name

MOST_FIELD_CHARS = 100_000
ORIGIN = "page"
MOVED = (
    "Somebody changed the state while you wrote: it is at version {current:,} now. What you wrote is still here. "
    "See what changed, then send it again if it still holds."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field. `lines` is the height of a text area, 0 for one line; `options` make it a choice (value, words)."""

    name: str
    label: str
    value: str = ""
    lines: int = 0
    hint: str = ""
    wrong: str = ""
    options: tuple[tuple[str, str], ...] = ()
    is_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A text beside the fields: what is there, and what would take its place."""

    title: str
    text: str
    pointer: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPage:
    """A form that makes the next version. `wrong` is what no field is to blame for, `newer` leads to a version that came
    between."""

    title: str
    detail: str
    action: str
    back: str
    submit: str
    version: int
    fields: tuple[Field, ...]
    sides: tuple[Side, ...] = ()
    wrong: str = ""
    newer: str | None = None


Change = Callable[[Mapping[str, str], Author, int], str]
"""Makes the change from the fields, by an author, for the version; returns where to go. It raises DurableError, VersionMoved."""

WHY = Field(name="reason", label="Why", hint="kept with the version")


def name_field(request: HttpRequest) -> Field:
    return Field(
        name="author", label="Your name", value=known_name(request), is_name=True, hint="recorded as claimed: there are no accounts here"
    )


def answer_form(request: HttpRequest, session: Session, page: FormPage, change: Change, *, json: str) -> HttpResponse:
    """The form, or what sending it came to: the next page, or the form again with what is wrong."""
    status = HTTPStatus.OK
    if request.method == "POST":
        values = {field.name: _value(request, field.name) for field in page.fields}
        try:
            author = Author(name=values["author"], origin=ORIGIN, reason=values.get("reason", ""))
            response = HttpResponseRedirect(change(values, author, asked.number(request.POST, "version") or 0))
            return keep_name(response, values["author"])
        except DurableError as error:
            page, status = with_error(_filled(page, values), error), HTTPStatus.UNPROCESSABLE_ENTITY
        except ProposalDecided as error:
            page, status = replace(_filled(page, values), wrong=str(error)), HTTPStatus.CONFLICT
        except VersionMoved as moved:
            page, status = (
                _moved(_filled(page, values), session.public_id, asked.number(request.POST, "version"), moved.current),
                HTTPStatus.CONFLICT,
            )
    frame = session_frame(request, session, tab="sources", title=page.title, json=json)
    return show(request, template="sources/form.html", frame=frame, page=page, status=status)


def with_error(page: FormPage, error: DurableError) -> FormPage:
    """The form with what is wrong at the field that the error names, above all of them where it names none of these."""
    named = "reason" if error.code == "removal_without_reason" else error.figures.get("field", "")
    said = f"{str(error)[:1].upper()}{str(error)[1:]}."
    if named not in {field.name for field in page.fields}:
        return replace(page, wrong=said)
    return replace(page, fields=tuple(replace(field, wrong=said) if field.name == named else field for field in page.fields))


def _moved(page: FormPage, session: str, given: int | None, current: int) -> FormPage:
    newer = addresses.source_version(session, current, against=given) if current else None
    return replace(page, version=current, wrong=MOVED.format(current=current), newer=newer)


def _filled(page: FormPage, values: Mapping[str, str]) -> FormPage:
    return replace(page, fields=tuple(replace(field, value=values[field.name]) for field in page.fields))


def _value(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\r\n", "\n")[:MOST_FIELD_CHARS]
