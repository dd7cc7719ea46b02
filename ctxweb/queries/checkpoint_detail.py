"""One checkpoint: its text, what it kept of its range item by item, and where it says otherwise than the durable state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.durable.values import DurableContextState
from compaction.retention.canaries import Canary, canary_fates, kept_shares
from compaction.retention.contradictions import Contradiction, contradictions, most_sentences
from compaction.retention.sentences import sentences
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Findings, ItemFound
from ctxweb.durable_rows import last_version, state_of
from ctxweb.importers.values import clean_text
from ctxweb.models import Summary
from ctxweb.queries.sources import item_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilters:
    """An empty field keeps everything."""

    outcome: str = ""
    kind: str = ""

    def keeps(self, item: ItemFound) -> bool:
        return self.outcome in ("", item.outcome) and self.kind in ("", item.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWindow:
    """`items` of `matching` of `total`; `next` is how many to leave out then, None at the end."""

    total: int
    matching: int
    items: tuple[ItemFound, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionFound:
    """Line `line` of the checkpoint says `summary`; the durable item `item` (on the sources page: `key`) says `content`, and of it
    the words `says` are what is said otherwise."""

    kind: str
    domain: str
    item: str
    key: str
    says: str
    content: str
    summary: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstState:
    """What contradicts the state of version `version`, 0 before the first. `sentences_left_out` of the text were not compared."""

    version: int
    items: int
    contradictions: tuple[ContradictionFound, ...]
    sentences_left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryFound:
    """A sentence that was planted in the range of a trial, and what became of it."""

    kind: str
    sentence: str
    outcome: str
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryTrial:
    """The canaries of a trial and, by kind, the share of them (0…1) that was kept. Both are empty where nothing was planted."""

    canaries: tuple[CanaryFound, ...]
    kept_shares: Mapping[str, float]

    @property
    def kept(self) -> int:
        return sum(1 for canary in self.canaries if canary.outcome == "kept")


def item_window(*, findings: Findings, filters: ItemFilters, after: int, limit: int) -> ItemWindow:
    """The matching items behind the first `after`, lost ones first."""
    kept = [item for item in findings.items if filters.keeps(item)]
    return ItemWindow(
        total=len(findings.items),
        matching=len(kept),
        items=tuple(kept[after : after + limit]),
        next=after + limit if len(kept) > after + limit else None,
    )


def against_state(*, session: str, text: str) -> AgainstState:
    """Where a text says otherwise than the durable state of its session."""
    version = last_version(session=session)
    state = state_of(version)
    contents = {("facts", fact.fact_id): fact.content for fact in state.facts}
    contents |= {("pending_items", item.item_id): item.description for item in state.pending_items}
    if not contents:
        return AgainstState(version=version.number if version is not None else 0, items=0, contradictions=(), sentences_left_out=0)
    return AgainstState(
        version=version.number if version is not None else 0,
        items=len(contents),
        contradictions=tuple(_found(one, contents[one.domain, one.item]) for one in contradictions(text, state)),
        sentences_left_out=_left_out(text, state),
    )


def canary_trial(*, checkpoint: Checkpoint, text: str) -> CanaryTrial:
    """What became of the canaries that a trial had planted; an empty one where it is no trial."""
    if checkpoint.state != Summary.State.TRIAL:
        return CanaryTrial(canaries=(), kept_shares={})
    put = [Canary(**one) for one in Summary.objects.values_list("canaries", flat=True).get(public_id=checkpoint.summary)]
    fates = canary_fates(put, text)
    found = (CanaryFound(kind=fate.canary.kind, sentence=fate.canary.sentence, outcome=fate.outcome, line=fate.line) for fate in fates)
    return CanaryTrial(canaries=tuple(found), kept_shares={str(kind): share for kind, share in kept_shares(fates).items()})


def children_of(checkpoints: Sequence[Checkpoint], key: str) -> tuple[Checkpoint, ...]:
    """The checkpoints that grew out of one."""
    return tuple(one for one in checkpoints if one.parent == key)


def _found(one: Contradiction, content: str) -> ContradictionFound:
    return ContradictionFound(
        kind=one.kind,
        domain=one.domain,
        item=clean_text(one.item),
        key=item_key(one.domain, one.item),
        says=clean_text(one.says),
        content=clean_text(content),
        summary=one.summary,
        line=one.line,
    )


def _left_out(text: str, state: DurableContextState) -> int:
    return max(0, sum(1 for _ in sentences(text)) - most_sentences(state))
