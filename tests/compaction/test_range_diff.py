"""A checkpoint beside its range: every line is told once, and its source holds what it is said to hold."""

from __future__ import annotations

import pytest
from hypothesis import given

from compaction.messages import BlockId
from compaction.range_diff import MOST_BLOCK_LINES, trace_checkpoint
from tests.compaction.test_retention import SUMMARIES, TOLD, Said, pieces

pytestmark = pytest.mark.nodb

RANGE = pieces(
    ("user", "Never touch the production database.\nWhy does the export stop at row 4096?"),
    ("tool", "   12→    writer.close(early=True)"),
    ("agent", "The export stops because the writer closes its file early."),
)


@given(TOLD, SUMMARIES)
def test_the_lines_rebuild_the_checkpoint_and_each_source_is_a_block_of_the_range(told: list[Said], summary: str) -> None:
    found = trace_checkpoint(pieces(*told), summary)
    lines = [line for section in found.sections for line in section.lines]
    assert "\n".join("".join(word.text for word in line.words) for line in lines) == summary
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    texts = {piece.block.id: piece.text for piece in pieces(*told)}
    assert all("".join(word.text for word in line.source_words) in texts[line.source] for line in lines if line.source is not None)
    assert sum(one.lines for one in found.carried) == sum(line.source is not None for line in lines)


def test_quoted_reworded_and_own_lines_are_told_apart_and_lead_to_their_block() -> None:
    summary = "\n".join(
        [
            "## Request",
            "- Never touch the production database.",
            "The export stops as the writer closes the file too early.",
            "writer.close(early=True)",
            "All is well.",
        ]
    )
    lines = [(line.kind, line.source) for section in trace_checkpoint(RANGE, summary).sections for line in section.lines]
    assert lines == [
        ("heading", None),
        ("quoted", BlockId(1, 1)),
        ("reworded", BlockId(3, 1)),
        ("quoted", BlockId(2, 1)),
        ("own", None),
    ]


def test_the_changed_words_of_a_reworded_line_are_marked_on_both_sides() -> None:
    (section,) = trace_checkpoint(RANGE, "The export stops because the writer closes its file late.").sections
    (line,) = section.lines
    assert [word.text for word in line.words if word.changed] == ["late"]
    assert [word.text for word in line.source_words if word.changed] == ["early"]


def test_blocks_that_carry_nothing_are_counted() -> None:
    found = trace_checkpoint(RANGE, "Never touch the production database.")
    assert [(one.block, one.lines) for one in found.carried] == [(BlockId(1, 1), 1)]
    assert found.blocks == 3


@pytest.mark.parametrize(
    "text", ["word\n" * 200_000, "a b c d e f " * 60_000, "\n".join(f"line {n} of it" for n in range(20_000)), "1→" * 100_000]
)
def test_a_hostile_range_is_bounded(text: str) -> None:
    found = trace_checkpoint(
        pieces(("tool", text), ("agent", "The writer closes its file.")), "The writer closes its file.\nline 7 of it\nword"
    )
    assert found.sections
    assert found.sections[0].lines[0].kind == "quoted"
    assert found.blocks == 2
    assert MOST_BLOCK_LINES < 200_000
