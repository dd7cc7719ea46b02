"""What models cost: list prices of a day, and those that this installation sets. Money is counted in nano-dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from ctxweb.llm.base import LlmUsage

NANO = 1_000_000_000
MOST_PRICE = Decimal(100_000)  # dollars for a million tokens
LIST_AS_OF = date(2026, 8, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """US dollars for a million tokens. `as_of`: the day of a list price, None for a price that was set here."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    as_of: date | None = None


def _listed(given: str, output: str, cache_read: str, cache_write: str) -> ModelPrice:
    return ModelPrice(
        input=Decimal(given), output=Decimal(output), cache_read=Decimal(cache_read), cache_write=Decimal(cache_write), as_of=LIST_AS_OF
    )


LIST_PRICES: Mapping[str, ModelPrice] = {
    # beginning of a model's name: the providers' public lists
    "claude-opus-4-5": _listed("5", "25", "0.5", "6.25"),
    "claude-sonnet-4": _listed("3", "15", "0.3", "3.75"),
    "claude-haiku-4-5": _listed("1", "5", "0.1", "1.25"),
    "gpt-5-mini": _listed("0.25", "2", "0.025", "0.25"),
    "gpt-5-nano": _listed("0.05", "0.4", "0.005", "0.05"),
    "gpt-4.1-mini": _listed("0.4", "1.6", "0.1", "0.4"),
    "gpt-4o-mini": _listed("0.15", "0.6", "0.075", "0.15"),
}


def model_prices(given: Mapping[str, Any], *, name: str) -> dict[str, ModelPrice]:
    """The prices of a setting: `{"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}`, or `{"MODEL": 0}`.

    What is not given of the cache costs what input costs. Raises ImproperlyConfigured.
    """
    return {model: _set_price(value, f"{name}: {model[:80]!r}") for model, value in given.items()}


def price_of(model: str, prices: Mapping[str, ModelPrice]) -> ModelPrice | None:
    """The price that was set for the model, else the list price of the longest name that it begins with, else None."""
    if model in prices:
        return prices[model]
    names = [name for name in LIST_PRICES if model == name or model.startswith(f"{name}-")]
    return LIST_PRICES[max(names, key=len)] if names else None


def cost_nano(price: ModelPrice, usage: LlmUsage) -> int | None:
    """What a call cost, rounded up to a nano-dollar; None where the provider did not say how much it read or wrote.

    A cache of which nothing was said was not used.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    dollars = (
        price.input * usage.input_tokens
        + price.output * usage.output_tokens
        + price.cache_read * (usage.cache_read_tokens or 0)
        + price.cache_write * (usage.cache_write_tokens or 0)
    ) / 1_000_000
    return int((dollars * NANO).to_integral_value(rounding=ROUND_CEILING))


def _set_price(value: Any, where: str) -> ModelPrice:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = {"input": value, "output": value}
    known = {field.name for field in fields(ModelPrice)} - {"as_of"}
    if not isinstance(value, dict) or not {"input", "output"} <= value.keys() <= known:
        raise ImproperlyConfigured(f"{where} has no price: write a number, or an object with input, output, cache_read and cache_write.")
    read = {key: _dollars(price, f"{where}.{key}") for key, price in value.items()}
    given, output = read["input"], read["output"]
    return ModelPrice(input=given, output=output, cache_read=read.get("cache_read", given), cache_write=read.get("cache_write", given))


def _dollars(value: Any, where: str) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal(-1)
    if isinstance(value, bool) or not (number.is_finite() and 0 <= number <= MOST_PRICE):
        raise ImproperlyConfigured(f"{where} is no price: write the US dollars of a million tokens, from 0 to {MOST_PRICE:,}.")
    return number
