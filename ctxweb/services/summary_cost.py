"""What a summary by a model would send and cost, and what forbids it: the part of a plan that the extract does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils import timezone

from ctxweb.models import Revision, Session
from ctxweb.services.summary_access import ModelAccess, model_access
from ctxweb.services.summary_asked import EXTRACTIVE, Problem, SummaryAsked
from ctxweb.services.summary_breaker import BreakerState, breaker_state
from ctxweb.services.summary_calls import CapsLeft, cap_refusal, caps_left
from ctxweb.services.summary_prefix import NoPrefix, RecordedPrompt, recorded_prompt
from ctxweb.services.summary_prompts import framed_prompt, input_estimate, prefix_prompt, told_tokens
from ctxweb.services.summary_range import SummaryRange


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """The part of a plan that only a summarizer with a model has."""

    model: str = ""
    input_tokens: int = 0
    cost_nano: int | None = 0
    caps_left: CapsLeft | None = None
    breaker: BreakerState | None = None
    recorded: RecordedPrompt | None = None
    problems: tuple[Problem, ...] = ()


def model_plan(*, session: Session, revision: Revision, asked: SummaryAsked, found: SummaryRange) -> ModelPlan:
    """That part, empty for the extract and for an empty range. Nobody is asked."""
    if asked.summarizer == EXTRACTIVE or not found.messages:
        return ModelPlan()
    access, now = model_access(asked.summarizer), timezone.now()
    if access.problem:
        return ModelPlan(cost_nano=None, problems=(Problem(code="not_configured", field="summarizer", message=access.problem),))
    told = told_tokens(found=found, asked=asked)
    try:
        recorded = recorded_prompt(session=session, revision=revision, found=found, asked=asked) if asked.shape == "prefix" else None
    except NoPrefix as refused:
        return ModelPlan(
            model=access.model, cost_nano=None, problems=(Problem(code="no_prefix", field=refused.field, message=str(refused)),)
        )
    if recorded is None:
        prompt = framed_prompt(found=found, asked=asked, model=access.model, told=told, seed=b"")
    else:
        prompt = prefix_prompt(recorded=recorded, asked=asked, model=access.model, told=told)
    tokens = input_estimate(found=found, request=prompt.request)
    nano = access.most_cost(tokens, asked.most_tokens, is_exact=False, shape=asked.shape)
    left = caps_left(project=session.project.pk, session=session.public_id, now=now)
    breaker = breaker_state(project=session.project.pk, summarizer=asked.summarizer, model=access.model, now=now)
    return ModelPlan(
        model=access.model,
        input_tokens=tokens,
        cost_nano=nano,
        caps_left=left,
        breaker=breaker,
        recorded=recorded,
        problems=tuple(_problems_of_model(access, tokens, nano, left, breaker)),
    )


def _problems_of_model(access: ModelAccess, tokens: int, nano: int | None, left: CapsLeft, breaker: BreakerState) -> Iterator[Problem]:
    if access.most_input is not None and tokens > access.most_input:
        yield Problem(code="input_too_long", field="from_call", message=access.too_long(tokens))
    if nano is None:
        yield Problem(code="price_unknown", field="summarizer", message=access.no_price)
    elif (refusal := cap_refusal(left=left, nano=nano)) is not None:
        yield Problem(code=refusal.code, field="", message=str(refusal))
    if not breaker.is_closed:
        yield Problem(code="breaker_open", field="summarizer", message=breaker.reason)
