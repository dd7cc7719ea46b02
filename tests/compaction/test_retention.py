"""What a summary keeps of its range: every item once, names as they are used, statements in other words, and what it adds."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.messages import Block, BlockId, BlockKind, Body, Role
from compaction.retention.assertions import unfounded, unhedged
from compaction.retention.items import MOST_ITEMS, items_of
from compaction.retention.names import names
from compaction.retention.retained import OUTCOMES, Retained, retention_of
from compaction.retention.sentences import hedged_clause
from compaction.retention.survival import ChainLink, survival
from compaction.summarizers.quotes import Piece

pytestmark = pytest.mark.nodb

Said = tuple[str, str]
"""Who says it (`user`, `agent`, `tool`, or the name of a called tool), and what."""


def pieces(*told: Said) -> tuple[Piece, ...]:
    return tuple(piece(seq, who, text) for seq, (who, text) in enumerate(told, start=1))


def piece(seq: int, who: str, text: str) -> Piece:
    kind: BlockKind = "text" if who in ("user", "agent") else "tool_result" if who in ("tool", "failed") else "tool_use"
    role: Role = "user" if who == "user" or kind == "tool_result" else "assistant"
    tool = None if kind == "text" else f"t{seq - 1}" if kind == "tool_result" else f"t{seq}"
    name = who if kind == "tool_use" else None
    block = Block(id=BlockId(seq, 1), kind=kind, body=Body.of(text), tool_id=tool, tool_name=name, is_error=who == "failed")
    return Piece(role, "human" if who == "user" else "model", block, text)


def fates(told: Sequence[Said], summary: str, kind: str) -> list[tuple[str, str, str]]:
    found = retention_of(pieces(*told), summary)
    return [(one.item.text, one.outcome, one.how) for one in found.items if one.item.kind == kind]


TOLD = st.lists(
    st.tuples(
        st.sampled_from(["user", "agent", "tool", "failed", "Bash", "Edit"]),
        st.sampled_from(
            [
                "Never touch the production database.",
                "We decided to use retry_with_backoff in src/queue/worker.py instead of a loop.",
                '{"file_path":"src/queue/worker.py","new_string":"retry_with_backoff(4711)"}',
                "Error: connection refused on port 54321",
                "See https://docs.acme.dev/a/long/page and commit 3f9ac21.",
                "端口 必须 是 18080，不要 改。",
                "",
                "\u0000�",
            ]
        ),
    ),
    max_size=8,
)
SUMMARIES = st.lists(
    st.sampled_from(["The production database is used.", "worker.py retries", "src/jobs/worker.py", "retryWithBackoff", "port 54321", ""]),
    max_size=5,
).map("\n".join)


@given(TOLD, SUMMARIES)
def test_every_item_of_the_range_is_kept_changed_or_lost_once(told: list[Said], summary: str) -> None:
    found = retention_of(pieces(*told), summary)
    assert [one.item for one in found.items] == list(items_of(pieces(*told)).items)
    assert len({one.item.id for one in found.items}) == len(found.items)
    assert sum(len(found.of(outcome)) for outcome in OUTCOMES) == len(found.items)
    assert sum(sum(outcomes.values()) for outcomes in found.counts.values()) == len(found.items)
    assert all((one.line is None) == (one.outcome == "lost") for one in found.items)
    assert set(found.missed_first) <= set(found.of("lost"))


@given(TOLD)
def test_a_summary_that_is_the_whole_range_loses_nothing_but_texts_that_are_no_lines_of_it(told: list[Said]) -> None:
    found = retention_of(pieces(*told), "\n".join(text for _, text in told))
    assert {one.item.kind for one in found.of("lost")} <= {"task"}  # a call without a result is worded by us


@given(TOLD)
def test_an_empty_summary_loses_everything(told: list[Said]) -> None:
    assert not retention_of(pieces(*told), "").of("kept")


@given(TOLD, SUMMARIES)
def test_each_item_names_blocks_in_which_it_was_said(told: list[Said], summary: str) -> None:
    blocks = {one.block.id for one in pieces(*told)}
    for one in retention_of(pieces(*told), summary).items:
        assert set(one.item.places) <= blocks
        assert one.item.places


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://docs.acme.dev/x/y?q=1.", [("url", "https://docs.acme.dev/x/y?q=1")]),
        ("see https://example.com/x/y and http://a.example/b/c/d", []),
        ("see https://example.company.dev/x", [("url", "https://example.company.dev/x")]),
        ("edit src/queue/worker.py:120", [("path", "src/queue/worker.py")]),
        ("open worker.py and /etc/app-name/conf", [("path", "worker.py"), ("path", "/etc/app-name/conf")]),
        ("commit 3f9ac21 fixes #512", [("hash", "3f9ac21"), ("number", "#512")]),
        ("call runExplainDefault, not HasPrefix", [("identifier", "runExplainDefault")]),
        ("port 54321 of v0.46.1, in 2026, 120000 ms", [("number", "54321"), ("number", "v0.46.1")]),
        ("made-up abc1234 and def5678", []),
        ("and/or origin/main /dev/null bin/bash", []),
        ("/" * 10_000 + "a" * 10_000, []),
    ],
)
def test_names_are_what_somebody_may_need_word_for_word(text: str, found: list[tuple[str, str]]) -> None:
    assert [(name.kind, name.text) for name in names(text)] == found


@pytest.mark.parametrize(
    ("told", "summary", "kind", "fate"),
    [
        (("agent", "I edit src/queue/worker.py now"), "worker.py was edited", "path", ("kept", "by its name")),
        (("agent", "I edit src/queue/worker.py now"), "src/jobs/worker.py was edited", "path", ("changed", "other folder")),
        (("agent", "I edit src/queue/worker.py now"), "a worker was edited", "path", ("lost", "")),
        (("agent", "Calls retry_with_backoff here"), "it calls retryWithBackoff", "identifier", ("changed", "other spelling")),
        (("user", "Read https://docs.acme.dev/a/b first"), "read https://docs.acme.dev/c", "url", ("changed", "other address")),
        (
            ("user", "Never touch the production database."),
            "Do not touch the production database",
            "constraint",
            ("kept", "in other words"),
        ),
        (
            ("user", "Never touch the production database."),
            "The production database was touched",
            "constraint",
            ("changed", "no longer denied"),
        ),
        (
            ("user", "The pool must have at most 12 connections open."),
            "The pool has at most 40 connections open",
            "constraint",
            ("changed", "other figures"),
        ),
        (("user", "Never touch the production database."), "The parser is slow", "constraint", ("lost", "")),
        (("user", "不要 修改 生产 数据库。"), "不要修改生产数据库", "constraint", ("kept", "in other words")),
        (
            ("TodoWrite", json.dumps({"todos": [{"content": "Write the importer of the third format", "status": "pending"}]})),
            "- Importer of the third format written: completed",
            "task",
            ("changed", "said to be done"),
        ),
    ],
)
def test_what_became_of_one_thing_that_was_said(told: Said, summary: str, kind: str, fate: tuple[str, str]) -> None:
    assert [found[1:] for found in fates([told, ("tool", "ok")], summary, kind)] == [fate]


def test_only_the_last_plan_counts_and_only_its_open_steps() -> None:
    plans = [
        {"todos": [{"content": f"Write the {name} importer", "status": status}]}
        for name, status in [("first", "pending"), ("second", "done")]
    ]
    told = [("TodoWrite", json.dumps(plans[0])), ("tool", "ok"), ("TodoWrite", json.dumps(plans[1])), ("tool", "ok")]
    assert fates(told, "", "task") == []
    assert [text for text, _, _ in fates(told[:2], "", "task")] == ["Write the first importer"]


def test_what_a_listing_printed_is_no_item_and_what_the_agent_used_is() -> None:
    told = [("Bash", '{"command":"cat src/used_once.py","timeout":"987654"}'), ("tool", "src/only_listed.py\nsrc/used_once.py")]
    assert [text for text, _, _ in fates(told, "", "path")] == ["src/used_once.py"]
    assert fates(told, "", "number") == []


def test_a_bare_file_name_is_the_one_path_that_ends_in_it() -> None:
    one = [("agent", "I read src/row_writer.py"), ("agent", "row_writer.py is slow, and so are *_test.py")]
    assert [(item.text, item.uses) for item in items_of(pieces(*one)).items] == [("src/row_writer.py", 2)]
    two = [*one, ("agent", "lib/row_writer.py")]
    assert [item.text for item in items_of(pieces(*two)).items] == ["src/row_writer.py", "row_writer.py", "lib/row_writer.py"]


def test_a_paste_of_the_user_is_no_constraint() -> None:
    told = [
        ("user", "> you must never do this\n```\nmust not\n```"),
        ("user", "<log>must never be read</log>"),
        ("user", "You must test it well."),
    ]
    assert [text for text, _, _ in fates(told, "", "constraint")] == ["You must test it well."]


def test_the_most_used_items_are_kept_where_there_are_too_many_and_the_rest_is_counted() -> None:
    often = ("agent", "src/often_used.py")
    found = items_of(pieces(*[("agent", " ".join(f"src/file_{n}_{k}.py" for k in range(500))) for n in range(10)], often, often))
    assert len(found.items) == MOST_ITEMS
    assert found.left_out == 10 * 500 + 1 - MOST_ITEMS
    assert any(item.text == "src/often_used.py" for item in found.items)


def test_statements_are_missed_first_and_then_what_was_used_most() -> None:
    told = [
        ("agent", "src/once_used.py"),
        ("agent", "src/twice_used.py"),
        ("agent", "src/twice_used.py"),
        ("user", "You must never push to the release branch."),
    ]
    kinds = [one.item.text for one in retention_of(pieces(*told), "").missed_first if one.item.kind in ("path", "constraint")]
    assert kinds == ["You must never push to the release branch.", "src/twice_used.py", "src/once_used.py"]


def test_a_doubt_that_the_summary_drops_is_told_with_its_place() -> None:
    told = [("agent", "The slow import is probably caused by the third parser of the archive.")]
    found = unhedged(pieces(*told), "Notes\nThe slow import is caused by the third parser of the archive.")
    assert [(one.block, one.line) for one in found] == [(BlockId(1, 1), 2)]
    assert not unhedged(pieces(*told), "The slow import is probably caused by the third parser of the archive.")
    sure = ("agent", "Confirmed: the slow import is caused by the third parser of the archive.")
    assert not unhedged(pieces(*told, sure), "The slow import is caused by the third parser of the archive.")


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("It has no trailer - it appears to be a manual commit of mine", "it appears to be a manual commit of mine"),
        ("Probably, the import is slow", "Probably  the import is slow"),
        ("The import is slow, as measured", ""),
        ("导入 可能 很慢", "导入 可能 很慢"),
    ],
)
def test_a_doubt_is_about_its_own_clause(text: str, clause: str) -> None:
    assert hedged_clause(text) == clause


def test_a_claim_of_which_the_range_holds_no_word_is_told() -> None:
    told = [("user", "Why does the import stop at row 4096?"), ("agent", "I read src/import_rows.py.")]
    summary = (
        "The import stops at row 4096.\nThe reviewer approved version 7 of docs/release_notes.md on Thursday.\nimport_rows.py was read."
    )
    found = unfounded(pieces(*told), summary)
    assert [(one.line, one.names) for one in found] == [(2, ("docs/release_notes.md",))]


def test_survival_follows_each_item_along_the_chain() -> None:
    rule, file = ("user", "Never touch the production database."), ("agent", "src/queue/worker.py")
    chain = [
        ChainLink(pieces=pieces(rule), summary="Never touch the production database."),
        ChainLink(pieces=pieces(file), summary="worker.py"),
        ChainLink(pieces=(), summary="Do not touch the production database; worker.py"),
        ChainLink(pieces=(), summary="nothing"),
    ]
    found = survival(chain)
    cells = {row.item.kind: row.cells for row in found.rows}
    assert cells["constraint"] == ("kept", "lost", "kept", "lost")
    assert cells["path"] == (None, "kept", "kept", "lost")
    rows = {row.item.kind: row for row in found.rows}
    assert rows["constraint"].came_back
    assert rows["path"].lost_at == 3
    assert [kept for kept, _ in found.kept][-1] == 0


@given(st.lists(st.tuples(TOLD, SUMMARIES), max_size=4))
def test_each_row_of_the_matrix_has_a_cell_for_every_checkpoint_from_its_birth_on(chain: list[tuple[list[Said], str]]) -> None:
    found = survival([ChainLink(pieces=pieces(*told), summary=summary) for told, summary in chain])
    for row in found.rows:
        assert len(row.cells) == len(chain)
        assert all((cell is None) == (place < row.born) for place, cell in enumerate(row.cells))


@pytest.mark.parametrize(
    "text",
    [
        "a/" * 200_000,
        "https://" * 50_000,
        "a_" * 200_000,
        "(" * 200_000,
        '"' * 200_000,
        "must " * 100_000,
        "x" * 1_000_000,
        "#1" * 200_000,
        "may. " * 100_000,
    ],
    ids=lambda text: text[:8],
)
def test_a_hostile_text_is_read_to_the_end(text: str) -> None:
    for told in (pieces(("user", text), ("agent", text)), pieces(("agent", "I read src/import_rows.py once"))):
        found: tuple[Retained, ...] = retention_of(told, text).items
        assert all(len(one.item.text) <= 300 for one in found)
        unhedged(told, text)
        unfounded(told, text)
