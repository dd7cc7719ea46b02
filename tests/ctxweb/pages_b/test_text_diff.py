"""What an edit changed: every line is accounted for, and what is shown is bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.text_diff import BUDGET_CHARS, LINE_CHARS, Diff, diff_of

pytestmark = pytest.mark.nodb
TEXTS = st.lists(st.sampled_from(["alpha", "beta one", "beta two", "gamma", ""]), max_size=30).map("\n".join)


LINES = 5_000


def compared(before: str, after: str, *, budget: int = BUDGET_CHARS) -> Diff:
    return diff_of(before, after, lines_compared=LINES, budget=budget)


def side(diff_lines: tuple, signs: str) -> list[str]:
    return ["".join(word.text for word in line.words) for line in diff_lines if line.sign in signs and not line.folded]


@given(TEXTS, TEXTS)
def test_counts_of_removed_and_added_lines_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    diff = compared(before, after)
    assert len(before.split("\n")) - diff.removed + diff.added == len(after.split("\n"))
    assert (diff.removed + diff.added == 0) == (before == after)


@given(TEXTS, TEXTS)
def test_the_lines_of_each_side_are_those_of_its_text(before: str, after: str) -> None:
    diff = compared(before, after, budget=10**6)
    folded = sum(line.folded for line in diff.lines)
    if not folded:
        assert side(diff.lines, " −") == before.split("\n")
        assert side(diff.lines, " +") == after.split("\n")


def test_words_inside_a_changed_line_are_marked() -> None:
    diff = compared("keep\nread the old file\nkeep too", "keep\nread the new file\nkeep too")
    gone, come = (line for line in diff.lines if line.sign in "−+")
    assert [word.text for word in gone.words if word.changed] == ["old"]
    assert [word.text for word in come.words if word.changed] == ["new"]
    assert (gone.old, come.new) == (2, 2)


def test_a_long_run_of_lines_is_folded_to_its_ends_and_a_long_line_is_cut() -> None:
    diff = compared("\n".join(f"line {n}" for n in range(2_000)), "[cleared]")
    folded = [line for line in diff.lines if line.folded]
    assert [line.folded for line in folded] == [1_994]
    assert diff.removed == 2_000
    cut = compared("x" * 10_000, "y").lines[0]
    assert cut.cut
    assert len(cut.words[0].text) <= LINE_CHARS


def test_what_is_shown_unasked_is_bounded_and_says_so() -> None:
    before, after = "\n".join(f"old {n} " + "x" * 300 for n in range(0, 90, 3)), "\n".join(f"new {n} " + "y" * 300 for n in range(1, 90, 3))
    diff = compared(before, after)
    assert diff.is_cut or sum(len(word.text) for line in diff.lines for word in line.words) <= BUDGET_CHARS


@pytest.mark.parametrize(("lines", "is_cut"), [(LINES - 1, False), (LINES, False), (LINES + 1, True)])
def test_lines_beyond_the_limit_are_not_compared_and_that_is_said(lines: int, is_cut: bool) -> None:
    text = "\n".join(str(number) for number in range(lines))
    diff = compared(text, text)
    assert (diff.removed, diff.added) == (0, 0)
    assert diff.is_cut is is_cut
