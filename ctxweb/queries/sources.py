"""The sources page: a window of a session's durable items, each with the last looks at its source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Subquery
from django.http import Http404

from compaction.durable.canonical import Item
from compaction.durable.values import DOMAINS, Domain, DurableContextState, DurableFact, PendingItem, RetrievalEvidence, RetrievalTrace
from ctxweb.audit_rows import SIGNED_OFF
from ctxweb.durable_rows import confirmed_of, last_version, pointer_of, state_of, verified_pointer
from ctxweb.importers.values import clean_text
from ctxweb.models import AuditEntry, DurableItem, DurableProposal, DurableVersion, Session
from ctxweb.queries.durable import ProposalRow, proposal_row
from ctxweb.queries.source_counts import UNCHECKED, last_looks, with_last
from ctxweb.storable import pointer_key

CHECKS = 12  # looks at a source that a row draws
HISTORY = 20  # and that the panel lists
PARTS: tuple[Domain, ...] = ("facts", "pending_items", "retrieval_evidence")
KEY_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """An entry of the audit about a source."""

    seq: int
    status: str
    reason: str
    digest: str
    actor: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """An item with what is known of its source. `checks` are the statuses of its last looks, the oldest first; `last` is None
    while nobody has looked. `pointer` is as index and audit name it. `is_pointer` is false for evidence whose `source_id` is
    none: it is not looked up."""

    key: str
    domain: Domain
    place: int
    item: Item
    pointer: str
    is_pointer: bool
    last: Look | None
    checks: tuple[str, ...]
    confirmed: str
    is_changed: bool

    @property
    def status(self) -> str:
        return UNCHECKED if self.last is None else self.last.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A window of one list: `items` of `matching` of `total`; `next` is the place to go on after."""

    domain: Domain
    total: int
    matching: int
    items: tuple[SourceItem, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A session's last version, read once for a request."""

    session: Session
    version: DurableVersion | None
    state: DurableContextState
    confirmed: Mapping[str, str]

    @property
    def number(self) -> int:
        return 0 if self.version is None else self.version.number


def stored_state(*, session: Session) -> Stored:
    version = last_version(session=session.public_id)
    return Stored(session=session, version=version, state=state_of(version), confirmed=confirmed_of(version))


def item_key(domain: str, item_id: str) -> str:
    """What an address calls an item: letters and digits only, whatever its id is."""
    return hashlib.sha256(f"{domain}\0{item_id}".encode("utf-8", "surrogatepass")).hexdigest()[:KEY_DIGITS]


def source_parts(*, stored: Stored, status: str, windows: Sequence[tuple[Domain, int, int]]) -> tuple[Part, ...]:
    """Windows of the lists: of each its name, the place to begin after, and how many. `status` keeps the items whose source has
    it by its last look, `changed` those that are not what was confirmed."""
    kept = _pointers_with(stored, status) if status else None
    chosen: list[tuple[Domain, int, list[tuple[int, Item]], int | None]] = []
    for domain, after, limit in windows:
        rows = [(place, one) for place, one in enumerate(getattr(stored.state, domain), 1) if kept is None or _key(one) in kept]
        behind = [row for row in rows if row[0] > after]
        chosen.append((domain, len(rows), behind[:limit], behind[limit - 1][0] if len(behind) > limit else None))
    looks = _last_looks(stored, [item for _, _, rows, _ in chosen for _, item in rows])
    return tuple(
        Part(
            domain=domain,
            total=len(getattr(stored.state, domain)),
            matching=matching,
            items=tuple(_source_item(stored, domain, place, item, looks) for place, item in rows),
            next=following,
        )
        for domain, matching, rows, following in chosen
    )


def source_item(*, stored: Stored, key: str) -> SourceItem:
    """The item that a key names. Raises Http404."""
    for domain in DOMAINS:
        for place, item in enumerate(getattr(stored.state, domain), 1):
            if item_key(domain, item.id) == key:
                return _source_item(stored, domain, place, item, _last_looks(stored, [item]))
    raise Http404


def source_history(*, session: Session, pointer: str) -> tuple[Look, ...]:
    """The last looks at a source, the newest first."""
    rows = AuditEntry.objects.filter(project=session.project_id, pointer=pointer_key(pointer)).exclude(status=SIGNED_OFF)
    return tuple(map(_look, rows.order_by("-seq")[:HISTORY]))


def last_good(*, session: Session, pointer: str) -> Look | None:
    rows = AuditEntry.objects.filter(project=session.project_id, pointer=pointer_key(pointer), status="available")
    row = rows.order_by("-seq").first()
    return None if row is None else _look(row)


def open_proposals(*, session: Session, kind: str, after: int, limit: int) -> tuple[tuple[ProposalRow, ...], int | None, int]:
    """Proposals that wait for a person, where the next ones begin, and how many there are."""
    rows = DurableProposal.objects.filter(session=session.public_id, kind=kind, decision__isnull=True).order_by("number")
    window = list(rows.filter(number__gt=after)[: limit + 1])
    shown = tuple(map(proposal_row, window[:limit]))
    return shown, shown[-1].number if len(window) > limit else None, rows.count()


def text_of(item: Item) -> str:
    """What an item says, as it can be shown."""
    if isinstance(item, DurableFact):
        return clean_text(item.content)
    if isinstance(item, PendingItem):
        return clean_text(item.description)
    return clean_text(item.source_title if isinstance(item, RetrievalEvidence) else item.query)


def _key(item: Item) -> str:
    return pointer_key(verified_pointer(item))


def _pointers_with(stored: Stored, status: str) -> set[str]:
    rows = with_last(DurableItem.objects.filter(session=stored.session.public_id).exclude(pointer=""))
    found: Iterable[Any] = rows.values_list("pointer", "last_status", "last_digest", "confirmed_sha256")
    if status == "changed":
        return {pointer for pointer, last, digest, sha256 in found if last == "available" and sha256 not in ("", digest)}
    return {pointer for pointer, last, _, _ in found if last == status}


def _last_looks(stored: Stored, items: Iterable[Item]) -> dict[str, tuple[Look | None, tuple[str, ...]]]:
    """Of each pointer the last look and the statuses of the last ones: two queries, each a few seeks a pointer."""
    keys = list(dict.fromkeys(filter(None, map(_key, items))))
    last = last_looks()
    earlier: Any = {f"check_{n}": Subquery(last.values("status")[n : n + 1]) for n in range(CHECKS)}
    rows = DurableItem.objects.filter(session=stored.session.public_id, pointer__in=keys).order_by()
    found = list(rows.annotate(last_seq=Subquery(last.values("seq")[:1]), **earlier).values("pointer", "last_seq", *earlier).distinct())
    entries = AuditEntry.objects.filter(project=stored.session.project_id, seq__in=[row["last_seq"] or 0 for row in found])
    by_seq = {entry.seq: _look(entry) for entry in entries}
    return {
        row["pointer"]: (by_seq.get(row["last_seq"] or 0), tuple(row[name] for name in reversed(earlier) if row[name] is not None))
        for row in found
    }


def _source_item(
    stored: Stored, domain: Domain, place: int, item: Item, looks: Mapping[str, tuple[Look | None, tuple[str, ...]]]
) -> SourceItem:
    is_pointer = not isinstance(item, RetrievalTrace) and bool(verified_pointer(item))
    last, checks = looks.get(_key(item), (None, ())) if is_pointer else (None, ())
    confirmed = stored.confirmed.get(pointer_of(item), "")
    return SourceItem(
        key=item_key(domain, item.id),
        domain=domain,
        place=place,
        item=item,
        pointer=_key(item) if is_pointer else clean_text(pointer_of(item)),
        is_pointer=is_pointer,
        last=last,
        checks=checks,
        confirmed=confirmed,
        is_changed=last is not None and last.status == "available" and confirmed not in ("", last.digest),
    )


def _look(entry: AuditEntry) -> Look:
    return Look(seq=entry.seq, status=entry.status, reason=entry.reason, digest=entry.digest, actor=entry.actor, at=entry.finished_at)
