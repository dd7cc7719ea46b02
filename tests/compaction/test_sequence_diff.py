"""The difference of two sequences: it rebuilds both, and nothing longer is shared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.line_diff import MOST_PAIRS, SHARED_WORDS, changed_words, likeness, paired, words_of
from compaction.sequence_diff import runs

pytestmark = pytest.mark.nodb
LETTERS = st.lists(st.sampled_from("abcd"), max_size=40)
LINES = st.lists(st.sampled_from(["read the old file", "read the new file", "write it", "", "read the file again"]), max_size=8)


def longest(old: Sequence[str], new: Sequence[str]) -> int:
    """The plain table."""
    row = [0] * (len(new) + 1)
    for item in old:
        above = row[:]
        for place, other in enumerate(new, start=1):
            row[place] = above[place - 1] + 1 if item == other else max(above[place], row[place - 1])
    return row[-1]


@given(LETTERS, LETTERS)
def test_the_runs_cover_both_sequences_in_order_and_say_what_is_the_same(old: list[str], new: list[str]) -> None:
    found = runs(old, new)
    assert [item for run in found for item in old[run.old_start : run.old_end]] == old
    assert [item for run in found for item in new[run.new_start : run.new_end]] == new
    assert all(old[run.old_start : run.old_end] == new[run.new_start : run.new_end] for run in found if run.same)
    assert all(one.same != other.same for one, other in pairwise(found))


@given(LETTERS, LETTERS)
def test_as_much_as_can_be_is_the_same(old: list[str], new: list[str]) -> None:
    assert sum(run.old_end - run.old_start for run in runs(old, new) if run.same) == longest(old, new)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_words_of_a_changed_line_put_together_are_the_line(old: str, new: str) -> None:
    marked = changed_words(old, new)
    if marked is not None:
        assert ["".join(word.text for word in words) for words in marked] == [old, new]


@given(LINES, LINES)
def test_each_line_is_paired_once_in_order_and_only_with_one_that_is_like_it(old: list[str], new: list[str]) -> None:
    pairs = paired(old, new)
    assert [k for k, _ in pairs if k is not None] == list(range(len(old)))
    assert [m for _, m in pairs if m is not None] == list(range(len(new)))
    alone = len(old) == len(new) == 1
    assert all(alone or likeness(words_of(old[k]), words_of(new[m])) >= SHARED_WORDS for k, m in pairs if k is not None and m is not None)


def test_a_line_that_was_put_first_does_not_shift_the_pairs_after_it() -> None:
    assert paired(["port is 8080 here", "host is local now"], ["a new line", "port is 9090 here", "host is remote now"]) == [
        (None, 0),
        (0, 1),
        (1, 2),
    ]


def test_lines_of_a_long_run_are_paired_by_their_place() -> None:
    old = [f"step {n} of the plan" for n in range(MOST_PAIRS)]
    assert paired(old, ["step x of the plan", "another thing"])[:2] == [(0, 0), (1, None)]
