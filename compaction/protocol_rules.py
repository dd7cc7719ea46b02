"""What a provider asks of a prompt beyond the tool protocol: which roles may follow each other, and where results stand.

`compaction.protocol` says which call belongs to which result; a provider is stricter. Each set of rules is a value of
`PROVIDER_RULES`, so a caller selects one by its id. `breaches` lists everything that a prompt breaks; `check_rules` raises
for the first. A prompt is judged as it was sent: what stands after the last answer of a list was not sent yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from compaction.counters.units import NO_CONTENT
from compaction.errors import LimitError, ProviderRuleError
from compaction.messages import Block, BlockId, Message, Role
from compaction.view import PromptView

BreachCode = Literal[
    "role_not_allowed",
    "first_role",
    "role_repeated",
    "result_in_wrong_role",
    "results_share_message",
    "text_before_result",
    "call_unanswered",
    "duplicate_tool_result",
    "result_without_call",
    "result_not_next",
    "batch_split",
]

WHAT_TO_DO: dict[BreachCode, str] = {
    "role_not_allowed": "this provider takes no such role among the messages: send it elsewhere",
    "first_role": "a prompt begins with another role: put a message of the user first",
    "role_repeated": "the message before has the same role: merge the two",
    "result_in_wrong_role": "a tool result stands in a message of another role: move it",
    "results_share_message": "a message answers several calls: give each result a message of its own",
    "text_before_result": "another block stands before a tool result: put the results first",
    "call_unanswered": "a tool call has no result directly after its message: append the result, or leave the call out",
    "duplicate_tool_result": "a second result answers the same call: keep one",
    "result_without_call": "no message before holds the call of this result: keep both or none",
    "result_not_next": "other messages stand between the call and its result: move the result directly after the call",
    "batch_split": "the other results of the batch stand in another message: put all results of a batch into one",
}


class Turn(NamedTuple):
    """A message as a provider gets it: one role and its blocks."""

    role: Role
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One place at which a prompt breaks a rule. `position` counts the messages from 0; `block` and `tool_id` where there are any."""

    rules: str
    code: BreachCode
    position: int
    block: BlockId | None = None
    tool_id: str = ""

    def __str__(self) -> str:
        place = f"message {self.position}" if self.block is None else f"message {self.position}, block {self.block}"
        of = f" (tool id {self.tool_id})" if self.tool_id else ""
        return f"{self.rules}: {place}{of}: {WHAT_TO_DO[self.code]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRules:
    """The rules of one provider, as data.

    `results_in` is the role that carries tool results. `one_message`: all results of a batch stand in the message after
    the calls; else each has a message of its own, and these follow the calls without a gap. `alternate`: no two messages
    of one role in a row. `results_first`: no text before the results of a message.
    """

    id: str
    title: str
    source: str
    roles: tuple[Role, ...]
    results_in: Role
    one_message: bool
    first: Role | None = None
    alternate: bool = False
    results_first: bool = False

    def answers(self, turns: Sequence[Turn], at: int) -> range:
        """The positions at which results of the calls at position `at` may stand."""
        end = at + 1
        while end < len(turns) and turns[end].role == self.results_in and _results(turns[end]) and not (self.one_message and end > at + 1):
            end += 1
        return range(at + 1, end)


ANTHROPIC = ProviderRules(
    id="anthropic",
    title="Anthropic Messages",
    source="docs.anthropic.com, tool use: handling results",
    roles=("user", "assistant"),
    results_in="user",
    one_message=True,
    first="user",
    alternate=True,
    results_first=True,
)
OPENAI = ProviderRules(
    id="openai",
    title="OpenAI Chat Completions",
    source="platform.openai.com, function calling",
    roles=("system", "developer", "user", "assistant", "tool"),
    results_in="tool",
    one_message=False,
)
PROVIDER_RULES: tuple[ProviderRules, ...] = (ANTHROPIC, OPENAI)


def rules_named(rules_id: str) -> ProviderRules:
    """The rules with this id; LimitError where there are none."""
    for rules in PROVIDER_RULES:
        if rules.id == rules_id:
            return rules
    raise LimitError(
        f"there are no provider rules {rules_id!r}: use one of {', '.join(rules.id for rules in PROVIDER_RULES)}", field="rules"
    )


def turns_of(messages: Iterable[Message]) -> tuple[Turn, ...]:
    """Logged messages, each taken for one message of the provider."""
    return tuple(Turn(message.role, message.blocks) for message in messages)


def turns_of_view(view: PromptView) -> tuple[Turn, ...]:
    """The messages of a view, which are those that the provider gets. An empty message has no block."""
    return tuple(
        Turn(message.role, tuple(one.block for one in message.blocks if NO_CONTENT not in one.block.flags)) for message in view.messages
    )


def sent(turns: Sequence[Turn]) -> Sequence[Turn]:
    """What the last call of a list was sent: all before its answer. A call that is open at the end of a file was never sent."""
    answers = [position for position, turn in enumerate(turns) if turn.role == "assistant"]
    return turns[: answers[-1]] if answers else turns


def breaches(turns: Sequence[Turn], rules: ProviderRules) -> tuple[Breach, ...]:
    """Everything that a prompt, as it was sent, breaks, in the order of its messages."""
    found = [*_of_roles(turns, rules), *_of_messages(turns, rules), *_of_pairs(turns, rules)]
    return tuple(sorted(found, key=lambda breach: (breach.position, breach.block or BlockId(0, 0))))


def check_rules(turns: Sequence[Turn], rules: ProviderRules) -> None:
    """Raise ProviderRuleError for the first breach of a prompt."""
    for first in breaches(turns, rules):
        block = "" if first.block is None else str(first.block)
        raise ProviderRuleError(str(first), code=first.code, tool_id=first.tool_id, block=block, position=first.position)


def breaches_of_calls(prompts: Iterable[tuple[int, Sequence[Turn]]], rules: ProviderRules) -> Iterator[tuple[int, Breach]]:
    """What the prompts of the calls of a lane break, each breach at the first call that has it.

    `prompts` are (number of the call, what it was sent). A message is known again by its first block, so a breach that
    only moved is not told twice.
    """
    told: set[tuple[BreachCode, BlockId | None, str]] = set()
    before: Sequence[Turn] = ()
    for call, turns in prompts:
        for breach in () if turns == before else breaches(turns, rules):
            blocks = turns[breach.position].blocks
            key = (breach.code, breach.block or (blocks[0].id if blocks else None), breach.tool_id)
            if key not in told:
                told.add(key)
                yield call, breach
        before = turns


def _of_roles(turns: Sequence[Turn], rules: ProviderRules) -> Iterator[Breach]:
    for position, turn in enumerate(turns):
        if turn.role not in rules.roles:
            yield Breach(rules=rules.id, code="role_not_allowed", position=position)
        elif position == 0 and rules.first not in (None, turn.role):
            yield Breach(rules=rules.id, code="first_role", position=position)
        if rules.alternate and position and turns[position - 1].role == turn.role:
            yield Breach(rules=rules.id, code="role_repeated", position=position)


def _of_messages(turns: Sequence[Turn], rules: ProviderRules) -> Iterator[Breach]:
    for position, turn in enumerate(turns):
        results = _results(turn)
        if turn.role != rules.results_in:
            yield from (_at(rules, "result_in_wrong_role", position, block) for block in results)
            continue
        if not rules.one_message:
            yield from (_at(rules, "results_share_message", position, block) for block in results[1:])
        if rules.results_first and results and turn.blocks.index(results[-1]) >= len(results):
            yield _at(rules, "text_before_result", position, results[-1])


def _of_pairs(turns: Sequence[Turn], rules: ProviderRules) -> Iterator[Breach]:
    """Calls and results that do not stand where the provider looks for them."""
    calls = {block.tool_id or "": position for position, turn in enumerate(turns) for block in _calls(turn)}
    answered: set[str] = set()
    for position, turn in enumerate(turns):
        for block in _results(turn):
            code = _misplaced(turns, rules, calls, position, block, answered)
            if code is not None:
                yield _at(rules, code, position, block)
            answered.add(block.tool_id or "")
    for position, turn in enumerate(turns):
        yield from (_at(rules, "call_unanswered", position, block) for block in _calls(turn) if (block.tool_id or "") not in answered)


def _misplaced(
    turns: Sequence[Turn], rules: ProviderRules, calls: dict[str, int], position: int, block: Block, answered: set[str]
) -> BreachCode | None:
    """Why a result does not stand where it belongs; None where it does."""
    tool_id = block.tool_id or ""
    at = calls.get(tool_id)
    if at is None or at >= position:
        return "result_without_call"
    if tool_id in answered:
        return "duplicate_tool_result"
    places = rules.answers(turns, at)
    if position in places or turns[position].role != rules.results_in:
        return None
    return "batch_split" if rules.one_message and len(places) else "result_not_next"


def _at(rules: ProviderRules, code: BreachCode, position: int, block: Block) -> Breach:
    return Breach(rules=rules.id, code=code, position=position, block=block.id, tool_id=block.tool_id or "")


def _calls(turn: Turn) -> list[Block]:
    return [block for block in turn.blocks if block.kind == "tool_use"]


def _results(turn: Turn) -> list[Block]:
    return [block for block in turn.blocks if block.kind == "tool_result"]
