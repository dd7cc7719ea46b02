"""Which entries of a source are one lane: what parents join is one conversation, sidechains are subagents of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compaction.transcript import Lane
from ctxweb.importers.claude_code.entries import UNNAMED, Entry
from ctxweb.importers.claude_code.events import LaneFacts, lane_events
from ctxweb.importers.claude_code.source import Source

PRODUCER = "Claude Code"


@dataclass(slots=True, kw_only=True)
class Conversation:
    """Entries of the main chain of one lane, and the session ids that they carry."""

    entries: list[Entry] = field(default_factory=list)
    sessions: dict[str, None] = field(default_factory=dict)

    @property
    def native_id(self) -> str:
        """The session id that most messages carry, the earlier one if two are even."""
        votes = Counter(entry.session for entry in self.entries if entry.is_message and entry.session)
        return votes.most_common(1)[0][0] if votes else next(iter(self.sessions), "")

    @property
    def has_messages(self) -> bool:
        return any(entry.is_message for entry in self.entries)

    @property
    def call_ids(self) -> set[str]:
        return {entry.call_id for entry in self.entries if entry.call_id}


@dataclass(slots=True, kw_only=True)
class Sidechain:
    """Entries of one subagent. `id` is its agent id, else the uuid of its first record."""

    id: str
    session: str
    entries: list[Entry] = field(default_factory=list)


def lanes_of(source: Source) -> Iterator[Lane]:
    """The lanes of a source, conversations first; a source of side records only is one empty lane.

    A model call counts in the first lane that has it.
    """
    sidechains = _sidechains(source)
    conversations = _conversations(source) or ([] if sidechains else [Conversation(sessions=dict.fromkeys(source.records))])
    is_shared = len(conversations) + len(sidechains) > 1
    by_session = {session: conversation for conversation in conversations for session in conversation.sessions}
    counted: set[str] = set()
    for conversation in conversations:
        numbers = _numbers(source, conversation, sidechains) if is_shared else ()
        yield _main_lane(source, conversation, frozenset(counted), numbers)
        counted |= conversation.call_ids if is_shared else set()
    for sidechain in sidechains:
        numbers = tuple(entry.number for entry in sidechain.entries) if is_shared else ()
        yield _subagent_lane(source, sidechain, by_session.get(sidechain.session), frozenset(counted), numbers)


def _conversations(source: Source) -> list[Conversation]:
    """Main-chain entries by session id; session ids that a parent joins are one conversation."""
    joined = _Joined()
    for entry in source.entries:
        if not entry.is_sidechain:
            for uuid in (entry.parent, entry.extra.logical):
                parent = source.holders.get(uuid or UNNAMED)
                if parent is not None and not parent.is_sidechain:
                    joined.join(parent.session, entry.session)
    found: dict[str, Conversation] = {}
    for entry in source.entries:
        if not entry.is_sidechain:
            conversation = found.setdefault(joined.leader(entry.session), Conversation())
            conversation.entries.append(entry)
            conversation.sessions[entry.session] = None
    return [conversation for conversation in found.values() if conversation.has_messages]


class _Joined:
    """Session ids that belong together."""

    def __init__(self) -> None:
        self._leaders: dict[str, str] = {}

    def leader(self, session: str) -> str:
        while (above := self._leaders.get(session, session)) != session:
            session = above
        return session

    def join(self, first: str, second: str) -> None:
        leader, follower = self.leader(first), self.leader(second)
        if leader != follower:
            self._leaders[follower] = leader


def _sidechains(source: Source) -> list[Sidechain]:
    """Sidechain entries by agent id, else by the chain of parents that they hang on."""
    found: dict[str, Sidechain] = {}
    ids: dict[str, str] = {}
    for entry in source.entries:
        if entry.is_sidechain:
            chain = entry.agent or ids.get(entry.parent or UNNAMED) or entry.uuid or entry.digest.hex()
            if entry.uuid:
                ids.setdefault(entry.uuid, chain)
            found.setdefault(f"{entry.session}/{chain}", Sidechain(id=chain, session=entry.session)).entries.append(entry)
    return list(found.values())


def _numbers(source: Source, conversation: Conversation, sidechains: Iterable[Sidechain]) -> tuple[int, ...]:
    """Records of the conversation: all that carry one of its session ids, except those of subagents."""
    others = {entry.number for sidechain in sidechains for entry in sidechain.entries}
    return tuple(sorted(number for session in conversation.sessions for number in source.records[session] if number not in others))


def _key(source: Source, conversation: Conversation) -> str:
    """The native id; without one, what the first record is known by."""
    first = conversation.entries[0] if conversation.entries else None
    return conversation.native_id or (first.uuid or first.digest.hex() if first else source.first_id)


def _main_lane(source: Source, conversation: Conversation, copied: frozenset[str], numbers: tuple[int, ...]) -> Lane:
    entries, native_id = conversation.entries, conversation.native_id
    origin = next((entry.extra.forked_from for entry in entries if entry.extra.forked_from not in (None, native_id)), None)
    is_copy = origin is not None or (bool(copied) and not copied.isdisjoint(conversation.call_ids))
    return Lane(
        key=_key(source, conversation),
        native_id=native_id or None,
        kind="fork" if is_copy else "main",
        events=lane_events(entries, LaneFacts(figures=source.figures, copied=copied)),
        parent_native_id=origin,
        continues=origin,
        title=_title(source, conversation),
        cwd=source.cwd.get(native_id),
        git_branch=source.branches.get(native_id),
        model=_model(entries),
        producer=PRODUCER,
        producer_version=source.versions.get(native_id),
        record_numbers=numbers,
    )


def _subagent_lane(
    source: Source, sidechain: Sidechain, parent: Conversation | None, copied: frozenset[str], numbers: tuple[int, ...]
) -> Lane:
    entries, session = sidechain.entries, sidechain.session
    return Lane(
        key=f"{session}/{sidechain.id}",
        native_id=sidechain.id,
        kind="subagent",
        events=lane_events(entries, LaneFacts(figures=source.side_figures, copied=copied, is_subagent=True)),
        parent_key=_key(source, parent) if parent else None,
        parent_native_id=(parent.native_id if parent else session) or None,
        parent_tool_id=_task_id(source, sidechain),
        cwd=source.cwd.get(session),
        git_branch=source.branches.get(session),
        model=_model(entries),
        producer=PRODUCER,
        producer_version=source.versions.get(session),
        record_numbers=numbers,
    )


def _task_id(source: Source, sidechain: Sidechain) -> str | None:
    """The tool call that started a subagent: named by a record, by the result that names the agent, or by its prompt."""
    named = next((entry.extra.task_id for entry in sidechain.entries if entry.extra.task_id), None)
    prompt = next((entry.pieces[0].digest for entry in sidechain.entries if entry.kind == "user" and entry.pieces), b"")
    return named or source.agents.get(sidechain.id) or source.prompts.get(prompt)


def _model(entries: list[Entry]) -> str | None:
    """The model that most records of calls name."""
    models = Counter(entry.model for entry in entries if entry.model and entry.call_id)
    return models.most_common(1)[0][0] if models else None


def _title(source: Source, conversation: Conversation) -> str | None:
    titles = source.titles
    for given in (titles.custom, titles.generated):
        for session in conversation.sessions:
            if session in given:
                return given[session]
    uuids = {entry.uuid for entry in conversation.entries} if titles.summaries else set()
    return next((title for leaf, title in titles.summaries.items() if leaf in uuids), None)
