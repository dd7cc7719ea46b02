"""The colours of tokens.css: every ink can be read, and no two families can be taken for each other."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from django.conf import settings

from ctxweb.vocabulary import ACTIONS, KIND_NAMES

pytestmark = pytest.mark.nodb
TOKENS = (settings.BASE_DIR / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
PAIR = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
COLOURS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS)}
GROUNDS = ("surface", "page", "row-selected", "sunken")
INKS = [*sorted(name for name in COLOURS if name.endswith("-ink")), "text", "text-2", "text-3", "accent", "warn"]
FAMILIES = {
    "k": ["overhead", "summary", "user", "assistant", "thinking", "tool-use", "tool-result", "image"],
    "e": ["truncate", "clear", "replace", "spill", "remove", "summarise", "restore"],
    "s": ["available", "missing", "denied", "corrupt", "unsupported"],
    "f": ["kept", "carried", "refetched", "lost"],
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def oklab(colour: str) -> tuple[float, float, float]:
    red, green, blue = linear(colour)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", INKS)
def test_an_ink_can_be_read_on_every_ground(ink: str, theme: int) -> None:
    lowest = min((contrast(COLOURS[ink][theme], COLOURS[ground][theme]), ground) for ground in GROUNDS)
    assert lowest[0] >= 4.5, lowest


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("kind", [name.removesuffix("-on") for name in COLOURS if name.endswith("-on")])
def test_a_label_can_be_read_on_its_area(kind: str, theme: int) -> None:
    assert contrast(COLOURS[f"{kind}-on"][theme], COLOURS[kind][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_two_members_of_a_family_look_alike(family: str, theme: int) -> None:
    for one, other in combinations(FAMILIES[family], 2):
        places = zip(oklab(COLOURS[f"{family}-{one}"][theme]), oklab(COLOURS[f"{family}-{other}"][theme]), strict=True)
        distance = 100 * sum((a - b) ** 2 for a, b in places) ** 0.5
        assert distance >= 7, (one, other, distance)


def test_every_class_of_a_kind_and_an_action_has_its_colour() -> None:
    classes = (settings.BASE_DIR / "static" / "css" / "kinds.css").read_text(encoding="utf-8")
    for name in (*KIND_NAMES, "unexplained"):
        assert f".tag.k-{name} " in classes
        assert f".fill.k-{name} " in classes
    for name in ACTIONS:
        assert f".tag.e-{name} " in classes
        assert f".ink.e-{name} " in classes


def test_no_colour_is_written_outside_the_tokens() -> None:
    for sheet in (settings.BASE_DIR / "static" / "css").glob("*.css"):
        if sheet.name != "tokens.css":
            assert not re.findall(r": [^;{]*(?:#[0-9a-fA-F]{3,8}\b|rgb\()", sheet.read_text(encoding="utf-8")), sheet.name
