"""Units, and the prices that a pricer makes of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.analysis.estimates import PLAIN, Estimator
from compaction.counters.sizes import text_sizes
from compaction.counters.units import UNITS, unit_named
from compaction.errors import EditError, LimitError
from compaction.messages import Block, BlockId, BlockKind, Body, Message
from compaction.pricing import Pricer
from compaction.view import PromptView
from compaction.wire import read_wire, write_wire
from tests.compaction.lanes import block, message
from tests.compaction.wire_sessions import TEXTS, wire_sessions

pytestmark = pytest.mark.nodb

KINDS: tuple[BlockKind, ...] = ("text", "thinking", "tool_use", "tool_result", "image", "opaque")
INPUTS = st.dictionaries(st.sampled_from(["path", "ключ"]), TEXTS | st.integers() | st.booleans() | st.none(), max_size=2).map(
    lambda given: json.dumps(given, ensure_ascii=False)
)


@st.composite
def logged(draw: st.DrawFn) -> Message:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    blocks = tuple(
        Block(
            id=BlockId(1, i),
            kind=kind,
            body=Body.of(draw(INPUTS | TEXTS)),
            tool_id=draw(st.sampled_from(["t1", "é'\""])),
            tool_name="bash",
            is_error=draw(st.booleans()),
        )
        for i, kind in enumerate(kinds, start=1)
    )
    role = draw(st.sampled_from(["user", "assistant"]))
    return Message(seq=1, role=role, origin="unknown", blocks=blocks, line=1, record=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["s14_chars4", "s08_repr"])
@given(message=logged())
def test_a_logged_message_costs_what_its_wire_form_costs(unit: str, message: Message) -> None:
    pricer = Pricer(unit_named(unit))
    view = PromptView.of([message], pricer)
    assert read_wire(write_wire(view), pricer).own == view.own


@given(messages=wire_sessions())
def test_the_unit_of_s08_is_the_length_of_the_repr_of_the_list(messages: list[dict[str, object]]) -> None:
    assert read_wire(messages, Pricer(unit_named("s08_repr"))).own == len(repr(messages))


def test_odd_lists_cost_their_repr_too() -> None:
    lists: list[list[dict[str, object]]] = [
        [],
        [{"role": "user", "content": [None]}],
        [{"role": "user", "content": [7, "a"]}, {"content": 7}],
    ]
    for messages in lists:
        assert read_wire(messages, Pricer(unit_named("s08_repr"))).own == len(repr(messages))


@given(messages=wire_sessions())
def test_the_unit_of_s14_is_a_quarter_of_each_text_or_block(messages: list[dict[str, object]]) -> None:
    expected = 0
    for one in messages:
        content = one.get("content")
        parts = content if isinstance(content, list) else []
        texts = [json.dumps(part, ensure_ascii=False) if isinstance(part, dict) else str(part) for part in parts]
        expected += 4 + sum(len(text) // 4 for text in ([content] if isinstance(content, str) else texts))
    assert read_wire(messages, Pricer(unit_named("s14_chars4"))).own == expected


@pytest.mark.parametrize(
    ("unit", "kind", "own"),
    [
        ("course09_chars4", "text", 1 + 4),
        ("course09_chars4", "tool_use", 0 + 4),
        ("course09_chars4", "tool_result", 1 + 4),
        ("dsh_utf16", "text", 1 + 4 + 4),
        ("dsh_utf16", "thinking", 1 + 4 + 4),
        ("dsh_utf16", "tool_use", 1 + 1 + 4 + 4),
        ("dsh_utf16", "tool_result", 1 + 4 + 4 + 4),
        ("exact", "text", 7),
        ("estimate", "text", 7 + 11),
    ],
)
def test_a_block_of_two_characters_costs(unit: str, kind: BlockKind, own: int) -> None:
    one = Block(id=BlockId(1, 1), kind=kind, body=Body.of("👍x"), tool_id="t", tool_name="bash")
    said = Message(seq=1, role="assistant", origin="model", blocks=(one,), line=1, record=1)
    assert PromptView.of([said], Pricer(unit_named(unit), count=lambda text: 7)).own == own


def test_dsh_counts_utf16_units_and_course09_code_points() -> None:
    said = message(1, "user", "👍" * 6)
    assert PromptView.of([said], Pricer(unit_named("dsh_utf16"))).own == 3 + 4 + 4
    assert PromptView.of([said], Pricer(unit_named("course09_chars4"))).own == 2 + 4


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.id)
def test_a_message_without_content_has_a_place_and_costs_no_more_than_its_frame(unit: object) -> None:
    view = read_wire([{"role": "assistant", "content": []}, {"role": "user", "content": "x"}], Pricer(unit))  # type: ignore[arg-type]
    assert len(view.messages) == 2
    assert view.messages[0].tokens == 0
    assert view.messages[0].own == {"s14_chars4": 4, "s08_repr": 36, "course09_chars4": 4, "estimate": 11}.get(unit.id, 0)  # type: ignore[attr-defined]


def test_the_estimate_of_a_message_is_that_of_the_fold() -> None:
    said = message(1, "user", "four" * 3, "four")
    counts = {one.body.digest: one.body.chars // 4 for one in said.blocks}
    folded = sum(Estimator(PLAIN, counts).whole(said, one) for one in said.blocks)
    assert PromptView.of([said], Pricer(unit_named("estimate"), counts=counts)).own == folded


@given(TEXTS | INPUTS)
def test_sizes_are_those_of_the_text_and_of_the_object_that_it_is_the_json_of(text: str) -> None:
    sizes = text_sizes(text)
    assert (sizes.chars, sizes.utf8, sizes.utf16) == (len(text), len(text.encode()), len(text.encode("utf-16-le")) // 2)
    assert (sizes.json, sizes.repr) == (len(json.dumps(text, ensure_ascii=False)), len(repr(text)))
    if text.startswith("{"):
        parsed = json.loads(text)
        assert (sizes.object_json, sizes.object_repr) == (len(json.dumps(parsed, ensure_ascii=False)), len(repr(parsed)))
    else:
        assert (sizes.object_json, sizes.object_repr, sizes.object_compact) == (None, None, None)


def test_a_text_is_counted_once_and_found_by_its_digest() -> None:
    counted: list[str] = []
    body = Body.of("four")
    pricer = Pricer(unit_named("exact"), texts={body.digest: "four"}, count=lambda text: counted.append(text) or len(text))  # type: ignore[func-returns-value]
    assert [pricer.tokens(body.without_text()) for _ in range(3)] == [4, 4, 4]
    assert counted == ["four"]
    assert pricer.text(body.without_text()) == "four"


def test_a_text_that_is_not_at_hand_is_named_by_its_digest() -> None:
    body = block(1, 1, "secret words").body.without_text()
    with pytest.raises(EditError, match=body.digest.hex()) as caught:
        Pricer(unit_named("exact")).text(body)
    assert "secret" not in str(caught.value)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(LimitError, match="use one of s14_chars4"):
        unit_named("words")
