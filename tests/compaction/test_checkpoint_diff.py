"""The difference of two checkpoints: it rebuilds both, sections find each other, and what moved is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import checkpoint_diff
from compaction.checkpoint_diff import MOST_LINE_CHARS, MOST_LINES, CheckpointDiff, DiffRow, diff_checkpoints, inline
from compaction.sections import MOST_SECTIONS, sections

pytestmark = pytest.mark.nodb
LINES = st.sampled_from(
    [
        "## Decisions",
        "## Pending tasks",
        "1. Primary Request and Intent:",
        "- the parser is read often and cached",
        "- the parser is read often and never cached",
        "- retry the import of the second file",
        "",
        "```",
        "# no heading in a fence",
    ]
)
TEXTS = st.lists(LINES, max_size=25).map("\n".join)

OLD = """## Decisions
- Storage is SQLite in WAL mode
- Jobs are retried twice

## Pending tasks
- Write the importer of the third format
- Ask who owns the queue"""

NEW = """## Pending work
- Ask who owns the queue
- Test the importer of the third format

## Decisions
- Storage is JSON files
- Jobs are retried twice
- Write the importer of the third format"""


def rows(diff: CheckpointDiff) -> list[DiffRow]:
    return [row for section in diff.sections for row in section.rows]


def rebuilt(diff: CheckpointDiff, side: str) -> str:
    words = {getattr(row, side): getattr(row, f"{side}_words") for row in rows(diff) if getattr(row, side) is not None}
    assert sorted(words) == list(range(1, len(words) + 1))
    return "\n".join("".join(word.text for word in words[number]) for number in sorted(words))


@given(TEXTS, TEXTS)
def test_the_difference_rebuilds_both_texts(old: str, new: str) -> None:
    diff = diff_checkpoints(old, new)
    assert rebuilt(diff, "old") == old
    assert rebuilt(diff, "new") == new


@given(TEXTS, TEXTS)
def test_each_hunk_is_a_run_of_rows_that_are_not_the_same_and_has_an_id_of_its_own(old: str, new: str) -> None:
    diff = diff_checkpoints(old, new)
    assert len({hunk.id for hunk in diff.hunks}) == len(diff.hunks)
    for hunk in diff.hunks:
        assert {row.hunk for row in diff.sections[hunk.section].rows[hunk.start : hunk.end]} == {hunk.id}
    assert sum(hunk.end - hunk.start for hunk in diff.hunks) == sum(row.kind != "same" for row in rows(diff))


@given(TEXTS, TEXTS)
def test_a_moved_line_knows_where_it_went_and_whence_it_came(old: str, new: str) -> None:
    diff = diff_checkpoints(old, new)
    went = {(row.old, row.moved_to) for row in rows(diff) if row.moved_to is not None}
    assert went == {(row.moved_from, row.new) for row in rows(diff) if row.moved_from is not None}


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    diff = diff_checkpoints(text, text)
    assert not diff.hunks
    assert not any(section.moved for section in diff.sections)


@given(TEXTS, TEXTS)
def test_inline_every_line_stands_once_and_no_row_has_two_sides_that_differ(old: str, new: str) -> None:
    diff = diff_checkpoints(old, new)
    told = [row for section in diff.sections for row in inline(section.rows)]
    assert sum(row.old is not None for row in told) == sum(row.old is not None for row in rows(diff))
    assert all(row.kind == "same" or row.old is None or row.new is None for row in told)


def test_sections_under_other_headings_and_in_another_order_find_each_other() -> None:
    diff = diff_checkpoints(OLD, NEW)
    assert [(section.old_heading, section.new_heading) for section in diff.sections] == [
        ("## Pending tasks", "## Pending work"),
        ("## Decisions", "## Decisions"),
    ]
    assert [section.moved for section in diff.sections].count(True) == 1


def test_words_are_marked_in_a_changed_line_and_a_line_that_went_elsewhere_has_moved() -> None:
    diff = diff_checkpoints(OLD, NEW)
    storage = next(row for row in rows(diff) if row.kind == "changed" and row.old == 2)
    assert "".join(word.text for word in storage.old_words if word.changed) == "SQLite in WAL mode"
    assert "".join(word.text for word in storage.new_words if word.changed) == "JSON files"
    assert {(row.old, row.moved_to) for row in rows(diff) if row.moved_to} == {(6, 8)}


def test_the_id_of_a_hunk_stays_when_lines_come_above_it() -> None:
    before = diff_checkpoints(OLD, NEW)
    after = diff_checkpoints(f"A first line\n{OLD}", f"A first line\nand one more\n{NEW}")
    assert {hunk.id for hunk in before.hunks} <= {hunk.id for hunk in after.hunks}
    assert after.hunk(before.hunks[0].id) is not None
    assert after.hunk("nothing") is None


@pytest.mark.parametrize(
    "text",
    [
        "\n".join("x" for _ in range(30_000)),
        "\n".join(str(number) for number in range(30_000)),
        "y" * 2_000_000,
        "\n".join(f"# {number}" for number in range(9_000)),
        "a " * 500_000,
        "\n" * 20_000,
        "**" * 100_000,
        "\ud800\n- lone",
    ],
    ids=["same lines", "distinct lines", "one line", "headings", "words", "blank lines", "stars", "surrogate"],
)
@pytest.mark.parametrize("other", ["", OLD, "\n".join(f"- {number} again" for number in range(9_000))], ids=["nothing", "a text", "long"])
def test_of_hostile_texts_what_is_not_compared_is_counted(text: str, other: str) -> None:
    diff = diff_checkpoints(text, other)
    lines = text.count("\n") + 1
    assert diff.left_out.old_lines == max(0, lines - MOST_LINES)
    assert sum(row.old is not None for row in rows(diff)) == min(lines, MOST_LINES)
    assert diff.left_out.chars == sum(max(0, len(line) - MOST_LINE_CHARS) for line in text.split("\n")[:MOST_LINES])
    assert len(diff.sections) <= 2 * MOST_SECTIONS + 2


def test_characters_and_words_that_are_too_many_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_diff, "MOST_CHARS", 50)
    old, new = ("\n".join(f"- the {word} line number {number} of it" for number in range(10)) for word in ("old", "new"))
    diff = diff_checkpoints(old, new)
    assert (diff.left_out.old_lines, diff.left_out.new_lines) == (8, 8)
    monkeypatch.setattr(checkpoint_diff, "MOST_CHARS", 10_000)
    monkeypatch.setattr(checkpoint_diff, "MOST_MARKED_CHARS", 100)
    marked = diff_checkpoints(old, new)
    assert (marked.changed, marked.left_out.unmarked) == (10, 8)
    assert [any(word.changed for word in row.new_words) for row in rows(marked)] == [True, True, *[False] * 8]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("1. Primary Request and Intent:\n   text\n2. Key Technical Concepts:\n", ["primary request and intent", "key technical concepts"]),
        ("## Files\na\n### Code\nb", ["files", "code"]),
        ("**Errors and fixes**\n- one", ["errors and fixes"]),
        ("<state_snapshot>\n<overall_goal>\nx", ["state_snapshot", "overall_goal"]),
        ("Analysis:\nthis is: not one\nSummary:\n", ["analysis", "summary"]),
        ("first\n```\n# comment\n```\n# Real", ["", "real"]),
        ("", []),
    ],
)
def test_headings_are_found_however_they_are_marked(text: str, headings: list[str]) -> None:
    assert [section.key for section in sections(text.split("\n") if text else [])] == headings
