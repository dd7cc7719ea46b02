"""One JSON text to one value: numbers, text and depth."""

import json
import math
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxweb.importers.physical import BigNumber, JsonReading, NonFinite, read_json
from tests.ctxweb.importers.physical.sources import read

pytestmark = pytest.mark.nodb


def reading(raw: bytes, max_depth: int = 200) -> JsonReading:
    return read_json(raw, max_depth=max_depth)


@pytest.mark.parametrize(
    ("raw", "value", "flags"),
    [
        (rb'"\ud800"', "\ufffd", ("lossy_text",)),
        (rb'"\udc00\ud800"', "\ufffd\ufffd", ("lossy_text",)),
        (rb'"\ud83d\ude00"', "\U0001f600", ()),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600", ("lossy_text",)),
        (rb'"\\ud800"', r"\ud800", ()),
        (rb'"\\\ud800"', "\\\ufffd", ("lossy_text",)),
        (rb'{"\ud800":1}', {"\ufffd": 1}, ("lossy_text",)),
        (rb'"\u0000"', "\0", ()),
        (b"[NaN,Infinity,-Infinity]", ["NaN", "Infinity", "-Infinity"], ("non_finite",)),
        (b"1e999", "1e999", ("non_finite",)),
        (b"-1e999", "-1e999", ("non_finite",)),
        (b'{"a":1,"a":2}', {"a": 2}, ()),
        (b"\xef\xbb\xbf1", 1, ()),
        (b" [1 , 2]\r", [1, 2], ()),
    ],
)
def test_what_parsers_disagree_about_has_one_reading(raw: bytes, value: Any, flags: tuple[str, ...]) -> None:
    assert reading(raw) == JsonReading(None, value, flags)


def test_what_is_no_number_in_python_is_marked() -> None:
    value = reading(b'{"a":NaN,"b":[1e999]}').value
    assert isinstance(value["a"], NonFinite)
    assert isinstance(value["b"][0], NonFinite)


@pytest.mark.parametrize("number", [2**53, 2**53 + 1, 2**63, 2**64 - 1, -(2**63)])
@pytest.mark.parametrize("shape", ["{}", "[{}]", '{{"n":{}}}', '{{"n": {} }}', "[1,{}]"])
def test_integers_of_64_bits_are_exact(number: int, shape: str) -> None:
    value = reading(shape.format(number).encode()).value
    while not isinstance(value, int):
        value = value["n"] if isinstance(value, dict) else value[-1]
    assert value == number


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**24, -(10**24)])
@pytest.mark.parametrize("shape", ["{}", "[{}]", '{{"n":{}}}', '{{"n": {} }}', "[1,{}]", "[\t{}]"])
def test_longer_integers_keep_their_digits_and_never_become_floats(number: int, shape: str) -> None:
    answer = reading(shape.format(number).encode())
    value = answer.value
    while not isinstance(value, str):
        value = value["n"] if isinstance(value, dict) else value[-1]
    assert (value, type(value), answer.flags) == (str(number), BigNumber, ("big_integer",))


def test_an_integer_of_5000_digits_is_kept() -> None:
    digits = "9" * 5000
    assert reading(f'{{"n":{digits}}}'.encode()) == JsonReading(None, {"n": digits}, ("big_integer",))


def test_long_digits_in_text_and_in_fractions_are_no_integers() -> None:
    raw = b'{"t":"1718000000000000000000","f":0.12345678901234567890123,"x":": 12345678901234567890"}'
    value = {"t": "1718000000000000000000", "f": 0.12345678901234568, "x": ": 12345678901234567890"}
    assert reading(raw) == JsonReading(None, value, ())


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"a\xffb"', "a\ufffdb"),
        (b'"\xc3\x28"', "\ufffd("),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\xe4\xb8"', "\ufffd"),
    ],
)
def test_bytes_that_are_no_utf8_are_read_with_a_replacement(raw: bytes, value: str) -> None:
    assert reading(raw) == JsonReading("invalid_utf8", value, ("lossy_text",))


@pytest.mark.parametrize(
    ("raw", "value", "flags"),
    [
        (b'\0\0{"a":"b"}', {"a": "b"}, ("nul_removed",)),
        (b'{"a":"b\0\0c"}\0', {"a": "bc"}, ("nul_removed",)),
        (b"\0 \0", None, ("empty", "nul_removed")),
    ],
)
def test_nul_bytes_are_padding(raw: bytes, value: Any, flags: tuple[str, ...]) -> None:
    assert reading(raw) == JsonReading("nul_padding", value, flags)


@pytest.mark.parametrize(
    "raw", [b"{", b"}{", b"{'a':1}", b'{"a":1}}', b'"tab\there"', b"01", b"tru", b"\xff", b"[1,]", b"# Notes", b"\xc2\xa0"]
)
def test_everything_else_is_invalid(raw: bytes) -> None:
    assert reading(raw).verdict == "invalid_json"


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"k\\"[":', b"}]")])
@pytest.mark.parametrize(("levels", "verdict"), [(199, None), (200, None), (201, "too_deep"), (1030, "too_deep"), (100_000, "too_deep")])
def test_depth_is_limited_before_objects_are_built(opening: bytes, closing: bytes, levels: int, verdict: str | None) -> None:
    times, odd = divmod(levels, closing.count(b"]") + closing.count(b"}"))
    deep = b"[" * odd + opening * times + b"1" + closing * times + b"]" * odd
    assert reading(deep).verdict == verdict


def test_brackets_in_text_are_no_levels() -> None:
    text = '{"[' * 500 + '\\"'
    assert reading(json.dumps([text]).encode()).value == [text]


def test_a_depth_limit_that_the_interpreter_cannot_follow_is_too_deep_and_no_crash() -> None:
    assert reading(b"[" * 20_000 + b"]" * 20_000, max_depth=50_000).verdict == "too_deep"


TEXT = st.text(st.characters(codec=None, exclude_categories=()) | st.sampled_from('\0"\\\ud800\udc00\ufeff'))
NUMBERS = st.integers() | st.integers(min_value=-(10**30), max_value=10**30) | st.floats()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


def as_read(value: Any) -> Any:
    """What the reader promises to make of a value that Python wrote."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, list):
        return [as_read(item) for item in value]
    if isinstance(value, dict):
        return {as_read(key): as_read(item) for key, item in value.items()}
    return value


@settings(max_examples=1_000)
@given(value=VALUES, ascii_only=st.booleans())
@example(value=["\ud800x\udc00", 2**64, math.nan], ascii_only=True)
def test_what_python_writes_is_read_back(value: Any, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    answer = reading(raw)
    if answer.verdict == "invalid_utf8":
        assert not ascii_only
        return
    assert answer.verdict is None
    assert answer.value == as_read(value)
    orjson.dumps(answer.value)


@given(value=VALUES)
def test_the_layouts_agree_on_a_value(value: Any) -> None:
    raw = json.dumps([value, value]).encode()
    (line,) = read(raw)
    first, second = read(raw, layout="array")
    assert [first.value, second.value] == line.value
