"""The rules of providers, as data: a prompt in short words, and what it breaks."""

from __future__ import annotations

import pytest

from compaction.errors import ProtocolError, ProviderRuleError
from compaction.messages import Block, BlockId, BlockKind, Body, Role
from compaction.protocol_rules import (
    PROVIDER_RULES,
    WHAT_TO_DO,
    Turn,
    breaches,
    breaches_of_calls,
    check_rules,
    sent,
    turns_of,
)
from tests.compaction.lanes import message, tool_result, tool_use

RULES = {rules.id: rules for rules in PROVIDER_RULES}
ROLES: dict[str, Role] = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
KINDS: dict[str, BlockKind] = {"": "text", "+": "tool_use", "-": "tool_result"}


def prompt(words: str) -> tuple[Turn, ...]:
    """`u:hi a:+x+y u:-x-y` is a question, two calls and their results; one word a message, its seq its place from 1."""
    return tuple(_turn(seq, word) for seq, word in enumerate(words.split(), start=1))


def _turn(seq: int, word: str) -> Turn:
    role, _, rest = word.partition(":")
    pieces = rest.replace("+", " +").replace("-", " -").replace("|", " |").split()
    blocks = [_block(seq, i, piece) for i, piece in enumerate(pieces, start=1)]
    return Turn(ROLES[role], tuple(blocks))


def _block(seq: int, i: int, piece: str) -> Block:
    kind = KINDS.get(piece[0], "text")
    return Block(id=BlockId(seq, i), kind=kind, body=Body.of(piece), tool_id=piece[1:] if kind != "text" else None)


BROKEN = [
    ("anthropic", "u:hi a:ok u:so", ""),
    ("anthropic", "u:hi a:ok+x+y u:-x-y|so a:ok", ""),
    ("anthropic", "u:hi a:+x u:-x a:+y u:-y", ""),
    ("anthropic", "s:rules u:hi", "role_not_allowed 0"),
    ("anthropic", "a:ok u:hi", "first_role 0"),
    ("anthropic", "u:hi u:so", "role_repeated 1"),
    ("anthropic", "u:hi a:+x u:so-x", "text_before_result 2 x"),
    ("anthropic", "u:hi a:+x u:so", "call_unanswered 1 x"),
    ("anthropic", "u:hi a:+x+y u:-x a:ok u:so", "call_unanswered 1 y"),
    ("anthropic", "u:hi a:+x", "call_unanswered 1 x"),
    ("anthropic", "u:hi a:ok u:-x", "result_without_call 2 x"),
    ("anthropic", "u:-x a:+x u:so", "result_without_call 0 x"),
    ("anthropic", "u:hi a:+x u:so a:ok u:-x", "result_not_next 4 x"),
    ("anthropic", "u:hi a:+x+y u:-x a:ok u:-y", "batch_split 4 y"),
    ("anthropic", "u:hi a:+x+y u:-x u:-y", "role_repeated 3, batch_split 3 y"),
    ("anthropic", "u:hi a:+x u:-x-x", "duplicate_tool_result 2 x"),
    ("anthropic", "u:hi a:+x a:-x u:so", "role_repeated 2, result_in_wrong_role 2 x"),
    ("openai", "s:rules u:hi u:so a:+x+y t:-y t:-x a:ok", ""),
    ("openai", "s:rules s:more u:hi a:ok", ""),
    ("openai", "u:hi a:+x u:-x", "result_in_wrong_role 2 x"),
    ("openai", "u:hi a:+x+y t:-x-y", "results_share_message 2 y"),
    ("openai", "u:hi a:+x+y t:-x u:so", "call_unanswered 1 y"),
    ("openai", "u:hi a:+x+y t:-x u:so t:-y", "result_not_next 4 y"),
    ("openai", "u:hi t:-x", "result_without_call 1 x"),
    ("openai", "u:hi a:+x t:-x t:-x", "duplicate_tool_result 3 x"),
]


@pytest.mark.parametrize(("provider", "words", "expected"), BROKEN)
def test_a_prompt_breaks_exactly_these_rules(provider: str, words: str, expected: str) -> None:
    found = breaches(prompt(words), RULES[provider])
    assert ", ".join(f"{breach.code} {breach.position} {breach.tool_id}".strip() for breach in found) == expected


def test_every_rule_has_a_case_and_says_what_to_do() -> None:
    assert {code for _, _, expected in BROKEN for code in [part.split()[0] for part in expected.split(", ") if part]} == set(WHAT_TO_DO)


@pytest.mark.parametrize("rules", PROVIDER_RULES, ids=lambda rules: rules.id)
def test_a_prompt_that_keeps_the_rules_passes(rules: object) -> None:
    role = "u" if rules.id == "anthropic" else "t"  # type: ignore[attr-defined]
    check_rules(prompt(f"u:hi a:+x {role}:-x a:ok u:so"), rules)  # type: ignore[arg-type]


def test_the_first_breach_is_an_error_with_its_rule_its_id_and_its_place() -> None:
    with pytest.raises(ProviderRuleError) as caught:
        check_rules(prompt("u:hi a:secret+x u:so"), RULES["anthropic"])
    error = caught.value
    assert isinstance(error, ProtocolError)
    assert (error.code, error.tool_id, error.block, error.position) == ("call_unanswered", "x", "2.2", 1)
    assert "message 1, block 2.2 (tool id x)" in str(error)
    assert "secret" not in str(error)


def test_a_call_that_is_open_at_the_end_of_a_file_was_never_sent() -> None:
    whole = prompt("u:hi a:+x u:-x a:+y")
    assert [breach.code for breach in breaches(whole, RULES["anthropic"])] == ["call_unanswered"]
    assert breaches(sent(whole), RULES["anthropic"]) == ()


def test_a_result_after_the_last_answer_was_not_sent_yet() -> None:
    whole = prompt("u:hi a:+x u:-x a:ok u:-z")
    assert breaches(sent(whole), RULES["anthropic"]) == ()


def test_a_list_without_an_answer_is_judged_as_it_is_going_to_be_sent() -> None:
    assert sent(prompt("u:hi u:so")) == prompt("u:hi u:so")


def test_a_breach_of_the_prompts_of_a_lane_is_told_once_at_its_first_call() -> None:
    whole = prompt("u:hi a:+x u:so a:ok u:-z a:ok")
    prompts = [(1, whole[:1]), (2, whole[:3]), (3, whole[:5]), (4, whole[2:5])]
    told = [(call, breach.code, str(breach.block or "")) for call, breach in breaches_of_calls(prompts, RULES["anthropic"])]
    assert told == [(2, "call_unanswered", "2.1"), (3, "result_without_call", "5.1")]


def test_logged_messages_are_turns() -> None:
    turns = turns_of([message(1, "user", "hi"), tool_use(2, "x"), tool_result(3, "x")])
    assert breaches(turns, RULES["anthropic"]) == ()
