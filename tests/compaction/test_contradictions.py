"""Where a summary says otherwise than the durable state, and where it only says less."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.durable.values import DurableContextState, DurableFact, PendingItem
from compaction.retention.choices import CHOICES, Choice, chosen
from compaction.retention.contradictions import contradictions

pytestmark = pytest.mark.nodb
AT: Any = {"source_pointer": "transcript:run-1:1", "last_confirmed_at": "2026-11-30T09:00:00Z"}

STATE = DurableContextState(
    facts=(
        DurableFact(fact_id="F1", content="Never touch the production database.", **AT),
        DurableFact(fact_id="F2", content="The gateway listens on port 8080.", **AT),
        DurableFact(fact_id="F3", content="Storage is SQLite in WAL mode.", **AT),
        DurableFact(fact_id="F4", content="Tests are run with pytest.", **AT),
    ),
    pending_items=(
        PendingItem(item_id="P1", description="Write the importer of the third format.", **AT),
        PendingItem(item_id="P2", description="Ask who owns the queue.", status="done", **AT),
    ),
)


@pytest.mark.parametrize(
    ("summary", "found"),
    [
        ("Data is stored as JSON files.", [("other_choice", "F3")]),
        ("- All records are saved in PostgreSQL", [("other_choice", "F3")]),
        ("数据存储在 JSON 文件 里。", []),
        ("We replaced JSON files by SQLite.", []),
        ("The API returns JSON files to download.", []),
        ("Storage is not JSON files.", []),
        ("The tests are run with unittest.", [("other_choice", "F4")]),
        ("The production database was touched twice.", [("denied", "F1")]),
        ("The production database must not be touched.", []),
        ("We may have touched the production database.", []),
        ("The gateway listens on port 9090.", [("other_figure", "F2")]),
        ("The gateway listens on port 8080 since version 3.", []),
        ("The dashboard listens on port 9090.", []),
        ("- Importer of the third format: done ✅", [("said_done", "P1")]),
        ("The importer of the third format is not done.", []),
        ("- [x] Ask who owns the queue", []),
        ("", []),
    ],
)
def test_a_sentence_against_the_state_is_told_and_others_are_not(summary: str, found: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.item) for one in contradictions(summary, STATE)] == found


def test_a_contradiction_says_what_the_state_says_and_where_the_summary_says_otherwise() -> None:
    (one,) = contradictions("# Decisions\n- Data is stored as JSON files.", STATE)
    assert (one.says, one.summary, one.line, one.domain) == ("sqlite", "Data is stored as JSON files.", 2, "facts")


def test_a_short_fact_is_about_whatever_purpose_the_summary_names() -> None:
    state = DurableContextState(facts=(DurableFact(fact_id="F3", content="SQLite WAL", **AT),))
    assert [one.item for one in contradictions("数据 存储 在 JSON 文件 里。", state)] == ["F3"]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.options[0])
def test_every_choice_has_options_that_its_own_words_find(choice: Choice) -> None:
    plain = [
        option.split("|")[0].replace("?", "").replace("[ -]", " ") for option in choice.options if "(" not in option and "\\" not in option
    ]
    assert plain
    assert all(CHOICES.index(choice) in chosen(f"it is {option} here") for option in plain)


@pytest.mark.parametrize(
    "text", ["port 1 " * 60_000, "not " * 200_000, "a.\n" * 100_000, "json files " * 50_000], ids=lambda text: text[:6]
)
def test_a_hostile_summary_is_read_to_the_end(text: str) -> None:
    contradictions(text, STATE)
