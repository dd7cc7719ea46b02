"""Which messages of a rollout are a person's, and what a local compaction or a rollback makes of the view.

Rules of codex-rs/core/src/compact.rs (0100b10) and context_manager/history.rs (023fad2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction.checkpoints import is_checkpoint
from compaction.messages import Message
from compaction.transcript import Edit
from ctxweb.importers.codex.truncation import cut_to_tokens, tokens_of
from ctxweb.importers.lane_log import Draft, LaneLog, draw

KEPT_USER_TOKENS = 20_000  # COMPACT_USER_MESSAGE_MAX_TOKENS

CONTEXT_STARTS = (
    "# agents.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<user_shell_command>",
    "<skill>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<model_switch>",
)
"""How the messages begin that the harness writes in the role user or developer; compared in lower case."""


def is_context(texts: Sequence[str]) -> bool:
    """Whether the harness wrote a message with these texts."""
    return any(text.lstrip()[:40].lower().startswith(CONTEXT_STARTS) for text in texts)


def texts_of(draft: Draft) -> list[str]:
    return [body.text or "" for piece, body in draft.pieces if piece.kind == "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """Text of a person's message, as a local compaction repeats it."""

    seq: int
    text: str
    tokens: int


class UserTexts:
    """The newest messages of a person, as many as a local compaction can keep, so memory stays bounded."""

    def __init__(self) -> None:
        self._texts: deque[UserText] = deque()
        self._tokens = 0

    def add(self, seq: int, text: str) -> None:
        entry = UserText(seq=seq, text=text, tokens=tokens_of(text))
        self._texts.append(entry)
        self._tokens += entry.tokens
        while self._texts and self._tokens - self._texts[0].tokens >= KEPT_USER_TOKENS:
            self._tokens -= self._texts.popleft().tokens

    def keep(self, view: set[int]) -> list[UserText]:
        """Keep what a local compaction keeps: newest to oldest within the budget; the one that does not fit is cut, and
        none older stays. Later compactions start from these texts."""
        kept, remaining = [], KEPT_USER_TOKENS
        for entry in reversed([entry for entry in self._texts if entry.seq in view]):
            if not remaining:
                break
            if entry.tokens > remaining:
                kept.append(UserText(seq=entry.seq, text=cut_to_tokens(entry.text, remaining), tokens=remaining))
                break
            kept.append(entry)
            remaining -= entry.tokens
        self._texts, self._tokens = deque(reversed(kept)), sum(entry.tokens for entry in kept)
        return kept


def replay_local(log: LaneLog, users: UserTexts, summary: int) -> tuple[tuple[Edit, ...], list[int]]:
    """Edits and view of a local compaction whose message `summary` is logged but not shown.

    What stays: the context that the harness wrote before the first human turn, the newest messages of the person within
    20,000 tokens, and the summary as the last message. Images of kept messages are not repeated.
    """
    kept = {entry.seq: entry for entry in users.keep(set(log.view))}
    first_turn = next((place for place, seq in enumerate(log.view) if is_turn(log.messages[seq - 1])), len(log.view))
    stays = [seq for place, seq in enumerate(log.view) if seq in kept or (place < first_turn and _is_initial(log.messages[seq - 1]))]
    cuts = [edit for seq in stays if seq in kept for edit in _cut_edits(log, kept[seq])]
    staying = set(stays)
    gone = log.blocks_of(seq for seq in log.view if seq not in staying)
    images = [block.id for seq in stays if seq in kept for block in log.messages[seq - 1].blocks if block.kind != "text"]
    after = next((blocks[-1] for blocks in (log.blocks_of((seq,)) for seq in reversed(stays)) if blocks), None)
    edit = Edit(verb="summarise", takes=(*gone, *images), puts=(summary,), after=after)
    return (*cuts, edit), [*stays, summary]


def is_turn(message: Message) -> bool:
    """Whether a message begins a turn for the producer: a user's that no harness wrote, a summary, or another agent's."""
    return message.role == "user" and message.origin != "harness"


def rolled_back(log: LaneLog, turns: int) -> list[int]:
    """The seqs of the view that leave when the last `turns` turns are rolled back, with the context written just before them."""
    starts = [place for place, seq in enumerate(log.view) if is_turn(log.messages[seq - 1])]
    if not turns or not starts:
        return []
    cut = starts[max(0, len(starts) - turns)]
    while cut > starts[0] and _is_initial(log.messages[log.view[cut - 1] - 1]):
        cut -= 1
    return log.view[cut:]


def summary_draft(text: str) -> Draft:
    """The summary of a local compaction, which the producer sends as a user message."""
    return Draft(role="user", origin="summary", pieces=(draw("text", text or "(no summary available)"),), records=0)


def user_origin(draft: Draft) -> Draft:
    """The draft of a user message with its true origin: a person, the harness, or a summary that a compaction put there."""
    texts = texts_of(draft)
    if draft.role != "user" or draft.origin != "human":
        return draft
    if is_context(texts):
        return replace(draft, origin="harness")
    return replace(draft, origin="summary") if texts and is_checkpoint(texts[0]) else draft


def _is_initial(message: Message) -> bool:
    return message.role in ("system", "developer") or message.origin == "harness"


def _cut_edits(log: LaneLog, kept: UserText) -> list[Edit]:
    """A state edit for the message whose text was cut to fit; its other texts are part of the cut one."""
    texts = [block for block in log.messages[kept.seq - 1].blocks if block.kind == "text"]
    if sum(block.body.chars for block in texts) <= len(kept.text):
        return []
    cut = Edit(verb="truncate", block=texts[0].id, state="truncated", body=log.body(kept.text))
    others = tuple(block.id for block in texts[1:])
    return [cut, Edit(verb="remove", takes=others)] if others else [cut]
