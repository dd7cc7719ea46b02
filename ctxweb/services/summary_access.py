"""How a summarizer reaches its model: what is configured, what it costs, how much it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from compaction.summary_prompt import PromptShape
from ctxweb.llm.base import LlmFailure, LlmUsage
from ctxweb.llm.prices import ModelPrice, cost_nano
from ctxweb.llm.registry import configured

NOT_SENT = frozenset({"connect_failed", "timeout_connect"})
ENDED = frozenset({"empty_answer", "reasoning_only", "cut_at_limit", "tool_call", "refused"})  # whole, with the figures of all of it
ESTIMATE_MARGIN = 1.25  # an estimate is off by a tenth and more; a reservation must not be less than the bill


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """`problem` says what to set, empty where the model can be called; `most_input` is the most tokens that are sent, None unknown."""

    summarizer: str
    model: str
    problem: str
    price: ModelPrice | None
    most_input: int | None

    @property
    def no_price(self) -> str:
        return f"set the price of {self.model} in CTXWEB_MODEL_PRICES (0 for a server of your own): a cap that cannot be checked is none"

    def too_long(self, tokens: int) -> str:
        return (
            f"the prompt has ≈ {tokens:,} tokens and at most {self.most_input or 0:,} are sent to {self.model} "
            f"({settings.CTXWEB_SUMMARY_INPUT_SHARE:g} of its window): choose fewer calls, or ask for an incremental summary"
        )

    def most_cost(self, input_tokens: int, output_tokens: int, *, is_exact: bool, shape: PromptShape) -> int | None:
        """The most that a call can cost in nano-dollars; None without a price. A recorded prompt may ask to be written to a cache."""
        if self.price is None:
            return None
        tokens = input_tokens if is_exact else math.ceil(input_tokens * ESTIMATE_MARGIN)
        read = cost_nano(self.price, LlmUsage(input_tokens=tokens, output_tokens=output_tokens)) or 0
        if shape == "framed":
            return read
        written = cost_nano(self.price, LlmUsage(input_tokens=0, cache_write_tokens=tokens, output_tokens=output_tokens)) or 0
        return max(read, written)

    def cost_of(self, usage: LlmUsage) -> int | None:
        """What an answer cost; None where the provider did not say how much it was."""
        return None if self.price is None else cost_nano(self.price, usage)

    def cost_of_failure(self, failure: LlmFailure) -> int | None:
        """Nothing where nobody was reached or the answer was a refusal; what was reported of a whole answer; else unknown, for what
        was reported of a part is not what was written."""
        if failure.code in NOT_SENT or (failure.status is not None and failure.status >= 300):
            return 0
        return self.cost_of(failure.usage) if failure.usage is not None and failure.code in ENDED else None


def model_access(summarizer: str) -> ModelAccess:
    """The access of a summarizer that asks a model."""
    found = configured(settings)[summarizer]
    share = Decimal(str(settings.CTXWEB_SUMMARY_INPUT_SHARE))
    return ModelAccess(
        summarizer=summarizer,
        model=found.model,
        problem=found.problem,
        price=found.prices,
        most_input=None if found.window is None else int(found.window * share),
    )
