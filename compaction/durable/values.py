"""The frozen kinds of durable state. A value that exists is valid: making one normalises it, or refuses it with the field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from compaction.durable.fields import fill, optional_text, plain_text, rank, required_text, score, title, zoned_time
from compaction.errors import DurableError

PendingStatus = Literal["open", "blocked", "done"]
Domain = Literal["facts", "pending_items", "retrieval_evidence", "retrieval_traces"]
Decision = Literal["selected", "dropped"]

PENDING_STATUSES: tuple[PendingStatus, ...] = get_args(PendingStatus)
DOMAINS: tuple[Domain, ...] = get_args(Domain)


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableFact:
    """A confirmed fact. `source_pointer` names its evidence, `last_confirmed_at` is an ISO 8601 time with an offset."""

    fact_id: str
    content: str
    source_pointer: str
    last_confirmed_at: str

    @property
    def id(self) -> str:
        return self.fact_id

    def __post_init__(self) -> None:
        for field in ("fact_id", "content", "source_pointer"):
            fill(self, **{field: required_text(getattr(self, field), field)})
        fill(self, last_confirmed_at=zoned_time(self.last_confirmed_at, "last_confirmed_at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingItem:
    """Work that is not finished, or was. `reason` is kept as written; a blocked item has one."""

    item_id: str
    description: str
    source_pointer: str
    last_confirmed_at: str
    reason: str | None = None
    status: PendingStatus = "open"

    @property
    def id(self) -> str:
        return self.item_id

    def __post_init__(self) -> None:
        fill(self, status=pending_status(self.status, "status"))
        for field in ("item_id", "description", "source_pointer"):
            fill(self, **{field: required_text(getattr(self, field), field)})
        fill(self, last_confirmed_at=zoned_time(self.last_confirmed_at, "last_confirmed_at"))
        if self.reason is not None:
            plain_text(self.reason, "reason")
        if self.status == "blocked":
            required_text(self.reason, "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalEvidence:
    """What a retrieval put into the prompt, with the score, the rank and the conflict that it won. Nothing ranks it again."""

    memory_id: str
    source_id: str
    source_type: str
    source_title: str
    captured_at: str
    score: float
    source_rank: int
    conflict_key: str | None = None

    @property
    def id(self) -> str:
        return self.memory_id

    def __post_init__(self) -> None:
        for field in ("memory_id", "source_id", "source_type"):
            fill(self, **{field: required_text(getattr(self, field), field)})
        fill(self, source_title=title(self.source_title, "source_title"), captured_at=zoned_time(self.captured_at, "captured_at"))
        fill(self, score=score(self.score, "score"), source_rank=rank(self.source_rank, "source_rank"))
        fill(self, conflict_key=optional_text(self.conflict_key, "conflict_key"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDecision:
    """What a retrieval decided about one memory, and the reason that it gave, as written."""

    memory_id: str
    decision: Decision
    reason: str = ""
    score: float | None = None
    source_rank: int | None = None
    conflict_key: str | None = None

    def __post_init__(self) -> None:
        fill(self, memory_id=required_text(self.memory_id, "memory_id"), conflict_key=optional_text(self.conflict_key, "conflict_key"))
        if self.decision not in get_args(Decision):
            raise DurableError("decision is not known: use selected or dropped", code="unknown_decision", field="decision")
        plain_text(self.reason, "reason")
        if self.score is not None:
            fill(self, score=score(self.score, "score"))
        if self.source_rank is not None:
            rank(self.source_rank, "source_rank")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalTrace:
    """A retrieval: its query as written, and what was decided about each memory that it looked at."""

    trace_id: str
    query: str
    captured_at: str
    decisions: tuple[RetrievalDecision, ...] = ()

    @property
    def id(self) -> str:
        return self.trace_id

    def __post_init__(self) -> None:
        required_text(self.query, "query")
        fill(self, trace_id=required_text(self.trace_id, "trace_id"), captured_at=zoned_time(self.captured_at, "captured_at"))
        fill(self, decisions=tuple(self.decisions))
        unique((decision.memory_id for decision in self.decisions), "decisions")


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableContextState:
    """The durable state of one session. Ids are unique within each list; the order of the lists is kept."""

    facts: tuple[DurableFact, ...] = ()
    pending_items: tuple[PendingItem, ...] = ()
    retrieval_evidence: tuple[RetrievalEvidence, ...] = ()
    retrieval_traces: tuple[RetrievalTrace, ...] = ()

    def __post_init__(self) -> None:
        for domain in DOMAINS:
            items = tuple(getattr(self, domain))
            unique((item.id for item in items), domain)
            fill(self, **{domain: items})

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it would be rendered."""
        return not (self.facts or self.pending_items or self.retrieval_evidence)

    @property
    def pointers(self) -> tuple[str, ...]:
        """The distinct source pointers in the order of resolution: facts, then pending items. Evidence is not resolved."""
        pointers = [fact.source_pointer for fact in self.facts] + [item.source_pointer for item in self.pending_items]
        return tuple(dict.fromkeys(pointers))

    def traces_of(self, memory_id: str) -> tuple[RetrievalTrace, ...]:
        """The retrievals that decided about a memory."""
        return tuple(trace for trace in self.retrieval_traces if any(one.memory_id == memory_id for one in trace.decisions))


def pending_status(given: object, field: str) -> PendingStatus:
    """One of the three statuses. Raises DurableError `not_plain_text`, `unknown_pending_status`."""
    text = plain_text(given, field)
    for status in PENDING_STATUSES:
        if text == status:
            return status
    raise DurableError(f"{field} is not known: use open, blocked or done", code="unknown_pending_status", value=text[:MOST_QUOTED_CHARS])


MOST_QUOTED_CHARS = 80  # of an unknown status: it is quoted, so it stays short


def unique(ids: Iterable[str], domain: str) -> None:
    """Raises DurableError `duplicate_id` with the list."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise DurableError(f"two of {domain} have one id: ids are unique within a list", code="duplicate_id", domain=domain)
        seen.add(one)
