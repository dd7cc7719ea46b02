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
