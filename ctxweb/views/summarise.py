"""Summarise: what a summary of some calls would take, cost and replace, before anything is asked; then the job that makes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.views.decorators.http import require_http_methods

from ctxweb import addresses
from ctxweb.llm.registry import Configured, configured
from ctxweb.models import Session
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.compact_requests import compact_request
from ctxweb.queries.readable import Lane, block_id, readable_lane
from ctxweb.services.checkpoint_plan import SummaryPlan, summary_plan
from ctxweb.services.checkpoint_summarize import summary_open
from ctxweb.services.summary_asked import EXTRACTIVE, SHAPES, SummaryAsked, SummaryRefused
from ctxweb.views import asked
from ctxweb.views.choices import Choice
from ctxweb.views.names import NAMELESS, known_name

RESULT = "plan"
MOST_FOCUS = 2_000
TRIGGERS = ("manual", "agent")
SHAPE_WORDS = {
    "framed": "framed: the range as data",
    "prefix": "prefix: the prompt as it was",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCard:
    """A plan and who would write it. `can_run` says whether there is nothing against it; `refused` why it can never be."""

    title: str
    plan: SummaryPlan | None
    setup: Configured | None
    refused: str
    field: str

    @property
    def can_run(self) -> bool:
        return self.plan is not None and not self.plan.problems

    @property
    def where(self) -> str:
        """The field, where the reason does not begin with it."""
        return "" if self.refused.startswith(self.field) else self.field


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarisePage:
    """The form as it was filled in, and a plan for each summarizer that was chosen (two where they are to be compared)."""

    address: str
    public_id: str
    calls: int
    finding: str
    form: SummaryAsked
    trigger: str
    against: str
    choices: tuple[Choice, ...]
    cards: tuple[PlanCard, ...]
    fields: tuple[tuple[str, str], ...]
    extract: str


@require_http_methods(["GET", "HEAD", "POST"])
def summarise(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    given = request.POST if request.method == "POST" else _requested(lane, request.GET)
    against = asked.one_of(given, "against", tuple(configured(settings)), "")
    cards, form = _cards(lane.session, given, against)
    if request.method == "POST" and all(card.can_run for card in cards):
        jobs = [
            summary_open(session=lane.session, asked=card.plan.asked, actor=known_name(request) or NAMELESS, trigger=_trigger(given))
            for card in cards
            if card.plan is not None
        ]
        keys = [job.public_id for job in jobs]
        return HttpResponseRedirect(addresses.comparison(session_id, *keys) if len(keys) == 2 else addresses.job(keys[0]))
    page = _page(session_id, lane.session.call_count, given, form, cards, against)
    frame = session_frame(request, lane.session, tab="checkpoints", title="Summarise", json=addresses.api_plan(session_id, **_twin(form)))
    is_wrong = request.method == "POST" or any(card.refused for card in cards)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_wrong and not request.headers.get("HX-Request") else HTTPStatus.OK
    return show(request, template="summarise/page.html", frame=frame, page=page, fragments={RESULT: "summarise/_plan.html"}, status=status)


def _requested(lane: Lane, given: QueryDict) -> QueryDict:
    """What is asked for, where it is the block `request`: as the agent asked in it, unless somebody says otherwise. Raises Http404."""
    written = given.get("request", "")
    found = compact_request(lane=lane, place=block_id(written=written)) if written else None
    if found is None:
        return given
    filled = given.copy()
    for name, value in (("to", str(found.call)), ("focus", found.focus), ("trigger", "agent")):
        filled.setdefault(name, value)
    return filled


def _cards(session: Session, given: QueryDict, against: str) -> tuple[tuple[PlanCard, ...], SummaryAsked]:
    try:
        form = asked_of(given)
    except SummaryRefused as refused:
        return (PlanCard(title="", plan=None, setup=None, refused=str(refused), field=refused.field),), SummaryAsked()
    every = [form] if not against else [form, replace(form, summarizer=against, shape="framed" if against == EXTRACTIVE else form.shape)]
    return tuple(_card(session, one) for one in every), form


def _card(session: Session, wanted: SummaryAsked) -> PlanCard:
    setup = configured(settings)[wanted.summarizer]
    try:
        plan = summary_plan(session=session, asked=wanted)
    except SummaryRefused as refused:
        return PlanCard(title=setup.kind.label, plan=None, setup=setup, refused=str(refused), field=refused.field)
    return PlanCard(title=setup.kind.label, plan=plan, setup=setup, refused="", field="")


def asked_of(given: QueryDict) -> SummaryAsked:
    """The form. Raises SummaryRefused."""
    return SummaryAsked(
        from_call=asked.number(given, "from"),
        to_call=asked.number(given, "to"),
        summarizer=asked.text(given, "with", longest=40) or EXTRACTIVE,
        shape=asked.one_of(given, "shape", SHAPES, "framed"),  # type: ignore[arg-type]  # it is one of them
        focus=asked.text(given, "focus", longest=MOST_FOCUS),
        keep_tokens=asked.number(given, "keep") or 0,
        is_incremental=bool(given.get("incremental")),
        canaries=asked.number(given, "canaries") or 0,
        max_tokens=asked.number(given, "max") or 0,
    )


def _page(session_id: str, calls: int, given: QueryDict, form: SummaryAsked, cards: tuple[PlanCard, ...], against: str) -> SummarisePage:
    first = cards[0]
    lacks_model = any(problem.code in ("not_configured", "breaker_open") for card in cards if card.plan for problem in card.plan.problems)
    return SummarisePage(
        address=addresses.summarise(session_id),
        public_id=session_id,
        calls=calls,
        finding=_finding(first),
        form=form,
        trigger=_trigger(given),
        against=against,
        choices=_choices(form, against),
        cards=cards,
        fields=_fields(given),
        extract=addresses.summarise(session_id, **{**dict(_fields(given)), "with": EXTRACTIVE, "against": None}) if lacks_model else "",
    )


def _finding(card: PlanCard) -> str:
    plan = card.plan
    if plan is None:
        return "This cannot be summarised."
    if not plan.blocks:
        return "There is nothing to summarise in these calls."
    return (
        f"A summary of calls {plan.from_call:,}–{plan.to_call:,} would stand for {counted(len(plan.blocks), 'block')}, "
        f"{plan.range_tokens:,} of the {plan.view_tokens:,} exact tokens in the view of call {plan.to_call:,}."
    )


def _choices(form: SummaryAsked, against: str) -> tuple[Choice, ...]:
    words = tuple((name, found.kind.label) for name, found in configured(settings).items())
    return (
        Choice(name="with", label="with", value=form.summarizer, options=words, any=""),
        Choice(name="against", label="compare with", value=against, options=words, any="nobody"),
        Choice(name="shape", label="shape", value=form.shape, options=tuple((shape, SHAPE_WORDS[shape]) for shape in SHAPES), any=""),
    )


def _twin(form: SummaryAsked) -> dict[str, str | int | None]:
    """The form in the words of the API; the plan of the first summarizer where two are compared."""
    return {
        "from": form.from_call,
        "to": form.to_call,
        "summarizer": "" if form.summarizer == EXTRACTIVE else form.summarizer,
        "shape": "" if form.shape == SHAPES[0] else form.shape,
        "focus": form.focus,
        "keep_tokens": form.keep_tokens or None,
        "incremental": 1 if form.is_incremental else None,
        "canaries": form.canaries or None,
    }


def _trigger(given: QueryDict) -> str:
    return asked.one_of(given, "trigger", TRIGGERS, TRIGGERS[0])


def _fields(given: QueryDict) -> tuple[tuple[str, str], ...]:
    """What the form was filled in with, to send it again."""
    names = ("from", "to", "with", "against", "shape", "focus", "keep", "incremental", "canaries", "max", "trigger")
    return tuple((name, asked.text(given, name, longest=MOST_FOCUS)) for name in names if given.get(name))
