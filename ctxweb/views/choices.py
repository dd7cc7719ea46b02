"""Filters of a page, as its form shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One filter: its parameter, the word before it, the value in force, and the values with their words (None: a text).
    `any` is the word of the empty value, itself empty where there is no such choice."""

    name: str
    label: str
    value: str
    options: tuple[tuple[str, str], ...] | None
    any: str = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A parameter that the form has no field for and sends on: `word` says what it does, `without` leads to the page without it."""

    name: str
    value: str
    word: str
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One value of a filter that has few, with how many rows it leaves."""

    word: str
    count: int
    address: str
    current: bool


def same(values: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Values that are their own words."""
    return tuple((value, value) for value in values)
