"""Audit: all sources of a project, what drifted, who checked, who signed off, and the bundle that proves it elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ctxweb import addresses
from ctxweb.models import LOCAL, Project
from ctxweb.page import frame, show
from ctxweb.queries.audit import Drift, drift, readable_project
from ctxweb.queries.audit_chain import ChainState, audit_chain
from ctxweb.queries.audit_sources import CHANGED, AuditSources, SignOffRow, audit_sources, sign_offs
from ctxweb.queries.readable import readable_session
from ctxweb.queries.roots import absence_told
from ctxweb.queries.source_counts import STATUSES, project_sources
from ctxweb.services.audit import SignOffRefused, sign_off
from ctxweb.services.source_jobs import project_verification_open
from ctxweb.views import asked
from ctxweb.views.audit_words import SourceLine, StatusLink, drift_said, since_asked, source_line, status_links
from ctxweb.views.names import NAMELESS, keep_name, known_name
from ctxweb.views.source_words import finding_of, title_of
from ctxweb.views.windows import first_rows, page_rows

SIGN_OFFS = 8
CHAIN_UNASKED = 20_000  # entries that are checked with the page; a longer chain is checked when one asks for it
MORE = "sources-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffForm:
    """`subject` is what is signed off, `wrong` what is wrong with the field `field`."""

    subject: str
    session: str
    name: str
    note: str
    wrong: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """`chain` is None where it is too long to be checked unasked: `check` leads there. `signed` is the entry of a sign-off that
    was just made."""

    address: str
    project: str
    session: str
    finding: str
    detail: str
    roots: str
    drifted: str
    drift_address: str
    since: str
    statuses: tuple[StatusLink, ...]
    status: str
    window: AuditSources
    lines: tuple[SourceLine, ...]
    more: str | None
    chain: ChainState | None
    entries: int
    check: str
    bundle: str
    form: SignOffForm
    sign_offs: tuple[SignOffRow, ...]
    all_sign_offs: str
    signed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a page of the audit is asked for."""

    project: Project
    session: str
    status: str
    after: int


@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    return _answer(request, _wanted(request), None)


@require_POST
def audit_sign_off(request: HttpRequest) -> HttpResponse:
    """Sign off the project, or the session that the form names."""
    wanted = _wanted(request)
    subject = f"session:{wanted.session}" if wanted.session else f"project:{wanted.project.pk}"
    name, note = request.POST.get("name", ""), request.POST.get("note", "")
    try:
        made = sign_off(project=wanted.project, subject=subject, name=name, note=note)
    except SignOffRefused as refused:
        said = f"{str(refused)[:1].upper()}{str(refused)[1:]}."
        form = SignOffForm(subject=subject, session=wanted.session, name=name, note=note, wrong=said, field=refused.field)
        return _answer(request, wanted, form)
    return keep_name(HttpResponseRedirect(addresses.audit(session=wanted.session, signed=made.seq)), made.name)


@require_POST
def audit_verify(request: HttpRequest) -> HttpResponse:
    """Verify all sources of the project, by jobs."""
    project_verification_open(project=readable_project(project_id=LOCAL), actor=known_name(request) or NAMELESS)
    return HttpResponseRedirect(addresses.JOBS)


def _wanted(request: HttpRequest) -> Wanted:
    """Raises Http404 for a session that there is not."""
    given = request.POST if request.method == "POST" else request.GET
    session, project = asked.text(given, "session", longest=40), readable_project(project_id=LOCAL)
    if session:
        project = readable_session(public_id=session)[0].project
    status = asked.one_of(given, "status", (*STATUSES, CHANGED), "")
    return Wanted(project=project, session=session, status=status, after=asked.number(given, "after") or 0)


def _answer(request: HttpRequest, wanted: Wanted, form: SignOffForm | None) -> HttpResponse:
    page = _page(request, wanted, form)
    counts = project_sources(project=wanted.project.pk, session=wanted.session)
    twin = addresses.api_audit("sources", status=wanted.status, session=wanted.session)
    page_frame = frame(request, title=title_of(counts, "Audit"), section="audit", json=twin)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form is not None else HTTPStatus.OK
    return show(request, template="audit/page.html", frame=page_frame, page=page, fragments={MORE: "audit/_rows.html"}, status=status)


def _page(request: HttpRequest, wanted: Wanted, form: SignOffForm | None) -> AuditPage:
    project, session = wanted.project, wanted.session
    limit = page_rows() if request.headers.get("HX-Request") else first_rows()
    window = audit_sources(project=project, status=wanted.status, session=session, after=wanted.after, limit=limit)
    counts = project_sources(project=project.pk, session=session)
    finding, detail = finding_of(counts, 0)
    since = since_asked(request)
    changed: Drift = drift(project=project, since=since.moment, until=timezone.now(), session=session)
    chain, entries = _chain(request, project)
    return AuditPage(
        address=addresses.audit(session=session),
        project=project.pk,
        session=session,
        finding=finding,
        detail=detail,
        roots=absence_told(project),
        drifted=drift_said(changed),
        drift_address=addresses.audit_drift(since=since.day, session=session),
        since=since.day,
        statuses=status_links(counts, wanted.status, lambda status: addresses.audit(status=status, session=session)),
        status=wanted.status,
        window=window,
        lines=tuple(map(source_line, window.sources)),
        more=addresses.audit(status=wanted.status, session=session, after=window.next) if window.next else None,
        chain=chain,
        entries=entries,
        check=addresses.audit(session=session, check=1),
        bundle=addresses.api_audit("bundle"),
        form=form or _form(request, wanted),
        sign_offs=sign_offs(project=project, limit=SIGN_OFFS, session=session),
        all_sign_offs=addresses.audit_entries(status="signed_off"),
        signed=asked.number(request.GET, "signed"),
    )


def _form(request: HttpRequest, wanted: Wanted) -> SignOffForm:
    subject = f"session:{wanted.session}" if wanted.session else f"project:{wanted.project.pk}"
    return SignOffForm(subject=subject, session=wanted.session, name=known_name(request), note="")


def _chain(request: HttpRequest, project: Project) -> tuple[ChainState | None, int]:
    """The chain as it was found now, and how many entries its head counts."""
    head = getattr(project, "audit_head", None)
    entries = 0 if head is None else head.seq
    is_wanted = entries <= CHAIN_UNASKED or bool(request.GET.get("check"))
    return (audit_chain(project_id=project.pk) if is_wanted else None), entries
