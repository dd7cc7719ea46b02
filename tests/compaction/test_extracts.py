"""The extract that stands in for a model's summary: quotes only, bounded, the same for the same messages."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from compaction.messages import Block, BlockId, BlockKind, Body, Origin, Role
from compaction.summarizers.extracts import OPENING, extract
from compaction.summarizers.quotes import MOST_QUOTE_CHARS, Piece


def piece(seq: int, role: Role, kind: BlockKind, text: str, *, origin: Origin = "unknown", **fields: object) -> Piece:
    return Piece(role, origin, Block(id=BlockId(seq, 1), kind=kind, body=Body.of(text), **fields), text)  # type: ignore[arg-type]


def listed(written: str) -> list[str]:
    """The quoted lines of an extract."""
    return [line for line in written.splitlines() if line.startswith("- ")]


def replace_id(known: Piece, seq: int) -> Piece:
    return known._replace(block=replace(known.block, id=BlockId(seq, 1)))


SESSION = [
    piece(1, "user", "text", "Fix the login. You must not touch the database. Thanks!"),
    piece(2, "assistant", "text", "I looked around. I'll use a token instead of a cookie."),
    piece(3, "assistant", "tool_use", '{"path": "src/login.py"}', tool_id="a", tool_name="Read", path="src/login.py"),
    piece(4, "user", "tool_result", "fine\nImportError: no module named jwt\nbye", tool_id="a"),
    piece(5, "assistant", "tool_use", '{"path": "src/login.py"}', tool_id="b", tool_name="Edit", path="src/login.py"),
    piece(6, "user", "tool_result", "the disk is full\nsorry", tool_id="b", is_error=True),
    piece(7, "assistant", "text", "Next: write the tests.\n- [ ] update the docs"),
    piece(8, "assistant", "tool_use", "{}", tool_id="c", tool_name="Bash"),
]

EXPECTED = f"""{OPENING}; messages: 8, of the user: 1, tool calls: 3. Lines are quoted; … marks a cut.]

## Asked
- Fix the login.

## Constraints
- You must not touch the database.

## Decisions
- I'll use a token instead of a cookie.

## Files
- src/login.py (Read, Edit)

## Errors
- ImportError: no module named jwt
- the disk is full

## Pending
- Next: write the tests.
- - [ ] update the docs
- Bash was called and has no result: {{}}"""


def test_an_extract_quotes_what_was_asked_decided_touched_broken_and_left() -> None:
    assert extract(SESSION, most_tokens=2_000, tokens=len) == EXPECTED


def test_chinese_is_read_as_well() -> None:
    said = [piece(1, "user", "text", "修复登录。不要修改数据库！"), piece(2, "assistant", "text", "我决定采用令牌。下一步写测试。")]
    written = extract(said, most_tokens=2_000, tokens=len)
    assert listed(written) == [
        "- 修复登录。",
        "- 不要修改数据库！",
        "- 我决定采用令牌。",
        "- 下一步写测试。",
    ]


@given(most=st.integers(0, 800))
def test_an_extract_keeps_its_bound(most: int) -> None:
    assert len(extract(SESSION, most_tokens=most, tokens=len)) <= most


def test_a_small_bound_takes_from_every_section_and_keeps_the_first_question() -> None:
    many = [piece(n, "user", "text", f"Question {n}. You must keep {n}.") for n in range(1, 50)]
    written = extract(many, most_tokens=330, tokens=len)
    assert "- Question 1.\n" in written
    assert "- You must keep 49." in written


def test_long_lines_are_cut_with_a_mark() -> None:
    (line,) = [
        one for one in extract([piece(1, "user", "text", "word " * 200)], most_tokens=900, tokens=len).splitlines() if one[:1] == "-"
    ]
    assert len(line) == MOST_QUOTE_CHARS + 2
    assert line.endswith("…")


def test_extracts_do_not_nest() -> None:
    first = extract(SESSION, most_tokens=2_000, tokens=len)
    again = [
        piece(9, "user", "text", f"[Compacted]\n\n{first}", origin="summary"),
        piece(10, "user", "text", "Now write the docs."),
    ]
    second = extract(again, most_tokens=2_000, tokens=len)
    assert second.count(OPENING) == 1
    assert second.splitlines()[3:5] == ["- Fix the login.", "- Now write the docs."]
    assert "## Errors\n- ImportError: no module named jwt\n- the disk is full" in second


def test_a_file_is_one_line_however_often_extracts_were_extracted() -> None:
    first = extract(SESSION, most_tokens=2_000, tokens=len)
    again = [piece(9, "user", "text", first, origin="summary"), replace_id(SESSION[2], 10), replace_id(SESSION[2], 11)]
    second = extract(again, most_tokens=2_000, tokens=len)
    assert [line for line in listed(second) if "login.py (" in line] == ["- src/login.py (Read ×3, Edit)"]


def test_a_placeholder_is_no_error_and_no_summary() -> None:
    said = [
        piece(1, "user", "text", "[snipped 30 messages]"),
        piece(2, "user", "tool_result", "[Earlier tool result compacted. Re-run if needed.]", tool_id="a", is_error=True),
        piece(3, "user", "text", "1. Go on."),
    ]
    written = extract(said, most_tokens=2_000, tokens=len)
    assert "left out before: 30" in written
    assert listed(written) == ["- Go on."]


def test_another_summary_is_quoted_from_its_beginning() -> None:
    summary = piece(1, "user", "text", "[Compacted]\n\nThe login works.\nThe tests do not.", origin="summary")
    first = extract([summary], most_tokens=2_000, tokens=len)
    assert "## Earlier summary\n- [Compacted]\n- The login works.\n- The tests do not." in first
    second = extract([piece(2, "user", "text", first, origin="summary")], most_tokens=2_000, tokens=len)
    assert second.count("- The login works.") == 1


def test_a_range_without_anything_to_quote_says_how_much_it_was() -> None:
    assert extract([piece(1, "assistant", "text", "Well.")], most_tokens=500, tokens=len).startswith(
        f"{OPENING}; messages: 1, of the user: 0"
    )


def test_lines_about_the_focus_come_first() -> None:
    many = [piece(n, "user", "text", f"Question {n}.") for n in range(1, 50)]
    written = extract(many, most_tokens=190, tokens=len, focus="number 7 of the QUESTIONS")
    assert "- Question 1." in written
    written = extract([piece(60, "user", "text", "The parser is slow."), *many], most_tokens=165, tokens=len, focus="slow parser")
    assert listed(written) == ["- The parser is slow."]


def test_a_repeated_line_is_quoted_once() -> None:
    said = [piece(n, "user", "text", "Go on.") for n in range(1, 9)]
    assert extract(said, most_tokens=500, tokens=len).count("Go on.") == 1


@given(text=st.text(max_size=400))
def test_every_quoted_word_stands_in_the_messages(text: str) -> None:
    written = extract([piece(1, "user", "text", text), piece(2, "assistant", "text", text)], most_tokens=100_000, tokens=len)
    source = " ".join(text.split())
    for line in written.splitlines()[1:]:
        if line.startswith("- "):
            assert line[2:].rstrip("…") in source
