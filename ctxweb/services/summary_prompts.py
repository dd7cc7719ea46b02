"""What a model is sent for a summary, in the two shapes, and how large that is."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from compaction.analysis.estimates import constants_for
from compaction.retention.canaries import Canary, planted
from compaction.summary_prompt import PromptShape, framed, prefix_instruction
from ctxweb.llm.base import LlmRequest
from ctxweb.services.summary_asked import LEAST_TOKENS, SummaryAsked
from ctxweb.services.summary_prefix import RecordedPrompt
from ctxweb.services.summary_range import SummaryRange

TOLD_SHARE = 2  # a model is asked for at most this part of what it is to stand for
AROUND_TOKENS = 50  # of a request beside its texts


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPrompt:
    """A request, and the mark around its data, empty in shape `prefix`."""

    request: LlmRequest
    nonce: str = ""


def told_tokens(*, found: SummaryRange, asked: SummaryAsked) -> int:
    """The most tokens that the prompt asks for; the hard limit of the answer is the setting's."""
    return min(asked.most_tokens, max(LEAST_TOKENS, found.tokens // TOLD_SHARE))


def framed_prompt(
    *, found: SummaryRange, asked: SummaryAsked, model: str, told: int, seed: bytes, put: Sequence[Canary] = ()
) -> SummaryPrompt:
    """The new part of the range as data under a mark; `seed` is fresh and random."""
    prompt = framed(planted(found.fresh, put), seed, most_tokens=told, focus=asked.focus, earlier=found.earlier)
    request = LlmRequest(
        model=model,
        system=prompt.system,
        messages=({"role": "user", "content": prompt.user},),
        max_tokens=asked.most_tokens,
        shape="framed",
    )
    return SummaryPrompt(request=request, nonce=prompt.nonce)


def prefix_prompt(*, recorded: RecordedPrompt, asked: SummaryAsked, model: str, told: int) -> SummaryPrompt:
    """The prompt as it was, and what is asked behind it."""
    instruction = prefix_instruction(most_tokens=told, focus=asked.focus)
    return SummaryPrompt(
        request=LlmRequest(
            model=model,
            system=recorded.system,
            messages=(*recorded.messages, {"role": "user", "content": instruction}),
            tools=recorded.tools,
            max_tokens=asked.most_tokens,
            shape="prefix",
        )
    )


def input_estimate(*, found: SummaryRange, request: LlmRequest) -> int:
    """What a request is taken to cost (≈ tokens): the count of its texts with the factor of the model's family."""
    texts = [
        _text(request.system),
        *(_text(message["content"]) for message in request.messages),
        _text(list(request.tools)) * bool(request.tools),
    ]
    factor = constants_for(request.model).factor
    return math.ceil(factor * sum(found.count(text) for text in texts)) + AROUND_TOKENS


def prompt_version(shape: PromptShape) -> str:
    """Which wording is asked in: it changes with every word of the prompt."""
    prompt = framed((), b"", most_tokens=0, focus="f", earlier="e")
    words = f"{prompt.system}\0{prompt.user}" if shape == "framed" else prefix_instruction(most_tokens=0, focus="f")
    return f"{shape}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def _text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
