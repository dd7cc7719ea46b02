"""A summary that a model writes: counted, reserved, asked for, settled. Each run of a job makes at most the calls that are left."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from compaction.retention.canaries import Canary
from ctxweb.importers.values import clean_text
from ctxweb.jobs import JobCancelled, JobRun
from ctxweb.llm.base import LlmAnswer, LlmClient, LlmFailure
from ctxweb.llm.registry import client_for
from ctxweb.models import SummaryCall
from ctxweb.services.checkpoint_plan import Planned, SummaryPlan
from ctxweb.services.summary_access import ModelAccess, model_access
from ctxweb.services.summary_ask import ask_apart
from ctxweb.services.summary_asked import SummaryFailed
from ctxweb.services.summary_calls import MOST_CALLS, CallAsked, CallRefused, call_answered, call_failed, call_reserve, codes_of_round
from ctxweb.services.summary_prompts import SummaryPrompt, framed_prompt, prefix_prompt

AGAIN_SECONDS = 5.0  # before a failed call is repeated, where the provider names no time
CANCELLED = "Somebody asked for the end of the job while the model was writing."


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The text of a summarizer, cleaned. `nonce` is the mark of its prompt, `call` the call that gave it; none of an extract."""

    text: str
    nonce: str = ""
    call: SummaryCall | None = None


def model_summary(*, run: JobRun, planned: Planned, put: Sequence[Canary], told: int) -> Written:
    """One call, asked for at most `told` tokens. Raises SummaryFailed, JobCancelled, JobLost."""
    client = client_for(planned.plan.asked.summarizer, settings)
    access = model_access(planned.plan.asked.summarizer)
    prompt = _prompt(planned, access, put, told)
    call = _reserve(run, client, prompt, planned.plan, access)
    try:
        answer = ask_apart(
            job=run.job, ask=lambda apart: client.ask(prompt.request, is_cancelled=apart.is_cancelled, on_text=apart.on_text)
        )
    except JobCancelled:
        call_failed(call=call, code="cancelled", message=CANCELLED)
        raise
    except LlmFailure as failure:
        _fail(call, failure, access)
        run.note(f"call {call.number}: {failure.code.replace('_', ' ')}. {failure}")
        if failure.code == "cancelled":
            raise JobCancelled from failure
        raise _failed(run, failure) from failure
    _answered(call, answer, access)
    return Written(text=clean_text(answer.text).strip(), nonce=prompt.nonce, call=call)


def _prompt(planned: Planned, access: ModelAccess, put: Sequence[Canary], told: int) -> SummaryPrompt:
    asked = planned.plan.asked
    if planned.recorded is not None:
        return prefix_prompt(recorded=planned.recorded, asked=asked, model=access.model, told=told)
    seed = secrets.token_bytes(32)
    return framed_prompt(found=planned.range, asked=asked, model=access.model, told=told, seed=seed, put=put)


def _reserve(run: JobRun, client: LlmClient, prompt: SummaryPrompt, plan: SummaryPlan, access: ModelAccess) -> SummaryCall:
    exact = ask_apart(job=run.job, ask=lambda _: client.count_tokens(prompt.request))
    tokens = plan.input_tokens if exact is None else exact
    if access.most_input is not None and tokens > access.most_input:
        raise SummaryFailed("input_too_long", access.too_long(tokens))
    nano = access.most_cost(tokens, plan.asked.most_tokens, is_exact=exact is not None, shape=plan.asked.shape)
    if nano is None:
        raise SummaryFailed("price_unknown", access.no_price)
    asked = CallAsked(
        summarizer=plan.asked.summarizer,
        model=access.model,
        shape=plan.asked.shape,
        input_tokens=tokens,
        input_exact=exact is not None,
        most_output_tokens=plan.asked.most_tokens,
        nano=nano,
    )
    try:
        with run.commit(is_progress=False, stage="waiting for the model", unit="characters", done=0, total=None):
            call = call_reserve(job=run.job, asked=asked)
    except CallRefused as refused:
        raise SummaryFailed(refused.code, str(refused)) from refused
    except JobCancelled:
        call_failed(call=call, code="cancelled", message=CANCELLED, cost_nano=0)
        raise
    return call


def _fail(call: SummaryCall, failure: LlmFailure, access: ModelAccess) -> None:
    call_failed(
        call=call,
        code=failure.code,
        message=str(failure),
        status=failure.status,
        retry_after=failure.retry_after,
        usage={} if failure.usage is None else asdict(failure.usage),
        cost_nano=access.cost_of_failure(failure),
    )


def _failed(run: JobRun, failure: LlmFailure) -> SummaryFailed:
    """Tried again while a call is left and time can help; when the provider says, else in a moment."""
    if not failure.is_retryable or len(codes_of_round(job=run.job)) >= MOST_CALLS:
        return SummaryFailed(failure.code, str(failure))
    seconds = AGAIN_SECONDS if failure.retry_after is None else failure.retry_after
    return SummaryFailed(failure.code, str(failure), run_after=timezone.now() + timedelta(seconds=seconds))


def _answered(call: SummaryCall, answer: LlmAnswer, access: ModelAccess) -> None:
    call_answered(call=call, usage=asdict(answer.usage), cost_nano=access.cost_of(answer.usage), request_id=answer.request_id)
