"""Nothing in a text stays unseen."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.visible_text import escaped, pieces, unseen_count

pytestmark = pytest.mark.nodb

ESCAPES = [
    ("access \u202enimda\u202c granted", "access \\u202enimda\\u202c granted", 2),
    ("zero\ufeffwidth\u2060", "zero\\ufeffwidth\\u2060", 2),
    ("tag\U000e0041\U000e0042", "tag\\U000e0041\\U000e0042", 2),
    ("\x1b[2J\x1b[1;1Hcleared", "\\x1b[2J\\x1b[1;1Hcleared", 2),
    ("\x9b31mred", "\\x9b31mred", 1),
    ("\x1b]0;title\x07", "\\x1b]0;title\\x07", 2),
    ("lone \ud800 surrogate", "lone \\ud800 surrogate", 1),
    ("two\nlines\tand a tab", "two\nlines\tand a tab", 0),
    ("≈ 27,865 – 中文 <b>&amp;", "≈ 27,865 – 中文 <b>&amp;", 0),
]


@pytest.mark.parametrize(("text", "shown", "count"), ESCAPES)
def test_an_unseen_character_is_shown_as_an_escape_and_counted(text: str, shown: str, count: int) -> None:
    assert escaped(text) == shown
    assert unseen_count(text) == count


def test_every_control_format_and_separator_character_has_an_escape() -> None:
    unseen = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Cs")]
    shown_as_they_are = {character for character in unseen if escaped(character) == character}
    assert shown_as_they_are == {"\t", "\n"}


@given(st.text(st.characters(codec=None)))
def test_the_pieces_of_a_text_are_the_escaped_text(text: str) -> None:
    assert "".join(piece.text for piece in pieces(text)) == escaped(text)
    assert unseen_count(escaped(text)) == 0
