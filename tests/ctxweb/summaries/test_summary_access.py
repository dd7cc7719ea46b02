"""What a call can cost at most, and what a failed one did cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ctxweb.llm.base import FAILURE_CODES, LlmFailure, LlmUsage
from ctxweb.llm.prices import ModelPrice
from ctxweb.services.summary_access import ENDED, NOT_SENT, ModelAccess

pytestmark = pytest.mark.nodb
PRICE = ModelPrice(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))


def access(price: ModelPrice | None = PRICE) -> ModelAccess:
    return ModelAccess(summarizer="anthropic", model="m", problem="", price=price, most_input=None)


@pytest.mark.parametrize(
    ("shape", "is_exact", "nano"),
    [("framed", True, 18_000_000), ("framed", False, 18_750_000), ("prefix", True, 18_750_000), ("prefix", False, 19_687_500)],
)
def test_an_estimate_is_reserved_with_a_margin_and_a_recorded_prompt_as_if_it_were_written_to_a_cache(
    shape: Any, is_exact: bool, nano: int
) -> None:
    assert access().most_cost(1_000, 1_000, is_exact=is_exact, shape=shape) == nano


def test_without_a_price_nothing_is_known() -> None:
    assert access(None).most_cost(1, 1, is_exact=True, shape="framed") is None
    assert access(None).cost_of(LlmUsage(input_tokens=1, output_tokens=1)) is None


def test_what_was_refused_costs_nothing_and_what_was_cut_off_what_was_told_or_nobody_knows() -> None:
    assert set(FAILURE_CODES) >= NOT_SENT | ENDED
    assert access().cost_of_failure(LlmFailure("overloaded", "m", status=529)) == 0
    assert access().cost_of_failure(LlmFailure("connect_failed", "m")) == 0
    assert access().cost_of_failure(LlmFailure("overloaded", "m")) is None  # it had begun to write
    assert access().cost_of_failure(LlmFailure("reset", "m")) is None
    told = LlmUsage(input_tokens=1_000, output_tokens=1_000)
    assert access().cost_of_failure(LlmFailure("empty_answer", "m", usage=told)) == 18_000_000
    assert access().cost_of_failure(LlmFailure("reset", "m", usage=LlmUsage(input_tokens=5, output_tokens=1))) is None
