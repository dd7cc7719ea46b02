"""Plain YAML: what is written is read as the same value, and what is not known is refused with its line."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxweb.plain_yaml import YamlError, dump, load

pytestmark = pytest.mark.nodb

SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4), max_leaves=12
)


@settings(deadline=None, max_examples=60)
@given(VALUES)
def test_what_is_written_is_read_as_the_same_value(value: object) -> None:
    assert load(dump(value)) == value  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(VALUES)
def test_json_is_read_too(value: object) -> None:
    assert load(json.dumps(value, indent=2)) == value or not isinstance(value, list | dict)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(YamlError):
        assert load(text) == load(dump(load(text)))


WRITTEN = """
# a policy of our own
id: mine
trigger:  # soft
  kind: tokens
  value: 60000
stages:
- layer: clear_tool_results
  settings: {"keep": 3}
- layer: 'summarise_all'
  when: over
empty: []
missing: null
unset:
off: "off"
half: 0.5
"""


def test_a_text_written_by_hand_is_read() -> None:
    assert load(WRITTEN) == {
        "id": "mine",
        "trigger": {"kind": "tokens", "value": 60000},
        "stages": [{"layer": "clear_tool_results", "settings": {"keep": 3}}, {"layer": "summarise_all", "when": "over"}],
        "empty": [],
        "missing": None,
        "unset": None,
        "off": "off",
        "half": 0.5,
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: &anchor 2\n", 2),
        ("a: !tag 1\n", 1),
        ("a: |\n  text\n", 1),
        ("a: 1\n\ta: 2\n", 2),
        ("a: 1\na: 2\n", 2),
        ("a: 1\n---\nb: 2\n", 2),
        ("a:\n  b: 1\n    c: 2\n", 3),
        ("  a: 1\nb: 2\n", 2),
        ("a: {b: 1}\n", 1),
        ("a: b: c\n", 1),
        ("a: 'x\n", 1),
        ("{", 1),
        ("[" * 5000, 1),
        ("- " * 50 + "x", 1),
        ("a: [NaN]", 1),
        ("a: [1e999]", 1),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(YamlError) as refused:
        load(text)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: don't # it's gone\n", "don't"),
        ("a: 'it''s # here' # gone\n", "it's # here"),
        ('a: "x \\" # here" # gone\n', 'x " # here'),
        ("a: x#y\n", "x#y"),
        ('a: 5" # inches\n', '5"'),
    ],
)
def test_a_comment_begins_outside_of_quotes_behind_a_blank(text: str, value: str) -> None:
    assert load(text) == {"a": value}


@pytest.mark.parametrize(
    "text",
    [
        "x" + '\\"' * 400_000,
        "a" + " " * 900_000 + "b",
        "x" + "'" * 900_001,
        "'" + " ''" * 300_000,
        'x "' + ' \\"' * 300_000,
        "a b " * 220_000,
        "- " * 400_000,
        "a: [" * 200_000,
        "#" * 900_000,
    ],
    ids=range(9),
)
def test_a_long_line_is_read_or_refused_in_one_pass(text: str) -> None:
    """Each of them would take minutes where every quote or blank were looked at from every place before it."""
    with contextlib.suppress(YamlError):
        load(text)
