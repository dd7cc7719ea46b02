"""Head, mark and tail of a large result, as one text and as several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.dsh.content import prune_content, text_chars
from compaction.errors import OptionError
from compaction.prune import PRUNE_MARK, Pruned, PruneSizes, prune_text, prune_texts

TEXTS = st.text(alphabet="a中😀\n", max_size=90)


@st.composite
def sizes(draw: st.DrawFn) -> PruneSizes:
    head, tail = draw(st.integers(0, 20)), draw(st.integers(0, 20))
    least = head + len(PRUNE_MARK) + tail
    return PruneSizes(threshold_chars=draw(st.integers(least, least + 30)), head_chars=head, tail_chars=tail)


@given(TEXTS, sizes())
def test_a_pruned_text_is_shorter_and_a_second_pass_finds_nothing(text: str, limits: PruneSizes) -> None:
    pruned = prune_text(text, limits)
    assert (pruned is None) is (len(text) <= limits.threshold_chars)
    if pruned is not None:
        assert len(pruned.text) < len(text)
        assert (len(pruned.head), len(pruned.tail)) == (limits.head_chars, limits.tail_chars)
        assert text.startswith(pruned.head)
        assert text.endswith(pruned.tail)
        assert prune_text(pruned.text, limits) is None


@given(st.lists(TEXTS, max_size=5), sizes())
def test_several_texts_are_pruned_as_one(texts: list[str], limits: PruneSizes) -> None:
    shares, whole = prune_texts(texts, limits), prune_text("".join(texts), limits)
    if whole is None:
        assert shares is None
        return
    assert shares is not None
    assert [type(share) for share in shares].count(Pruned) == 1
    assert "".join(share.text if isinstance(share, Pruned) else share for share in shares) == whole.text


@given(st.lists(st.tuples(st.sampled_from(["text", "reasoning"]), TEXTS), max_size=5), sizes())
def test_blocks_that_are_no_text_stay_in_their_order(blocks: list[tuple[str, str]], limits: PruneSizes) -> None:
    content = [{"type": kind, "text": text} for kind, text in blocks]
    pruned = prune_content(content, limits)
    if pruned is not None:
        written = [block.written for block in pruned]
        assert [block for block in written if block["type"] == "reasoning"] == [block for block in content if block["type"] == "reasoning"]
        assert text_chars(written) < text_chars(content)
        assert prune_content(written, limits) is None


def test_head_mark_and_tail_may_fill_the_threshold_exactly() -> None:
    assert PruneSizes(threshold_chars=len(PRUNE_MARK) + 6, head_chars=3, tail_chars=3)


@pytest.mark.parametrize(
    ("given_sizes", "code"),
    [
        ({"threshold_chars": 0}, "prune_threshold_invalid"),
        ({"threshold_chars": True}, "prune_threshold_invalid"),
        ({"head_chars": -1}, "prune_head_invalid"),
        ({"tail_chars": 1.5}, "prune_tail_invalid"),
        ({"threshold_chars": 45, "head_chars": 3, "tail_chars": 4}, "prune_sizes_exceed_threshold"),
    ],
)
def test_sizes_that_cannot_be_are_refused(given_sizes: dict[str, int], code: str) -> None:
    with pytest.raises(OptionError) as raised:
        PruneSizes(**given_sizes)
    assert raised.value.code == code
