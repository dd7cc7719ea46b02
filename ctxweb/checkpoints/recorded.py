"""The checkpoints that the file of a session recorded: what its compactions put into the view with the origin `summary`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.models import Block, Compaction, History, LedgerEntry, Message, Revision, Session

READABLE = ("text", "compaction")  # kinds of blocks; others hold what a provider keeps to itself, or a picture


class _Put(NamedTuple):
    """A block of a summary: where it stands and what it holds."""

    seq: int
    i: int
    kind: str
    digest: str
    tokens: int | None


class _Entry(NamedTuple):
    """A recorded checkpoint before it is known what came before it: its compaction, or its message where no record tells of one."""

    line: int
    compaction: Compaction | None
    blocks: tuple[_Put, ...]
    at: datetime | None
    first_call: int | None


def recorded_checkpoints(session: Session, revision: Revision) -> Iterator[Checkpoint]:
    history = History.objects.filter(revision=revision, origin="recorded").defer("bins").first()
    messages = {message.seq: message for message in Message.objects.filter(revision=revision, origin="summary")}
    if history is None or not messages:
        return
    blocks = _blocks(revision, messages)
    put = _put(history, blocks)
    taken = _taken_counts(history, put)
    entries = sorted((*_of_compactions(history, put, blocks), *_of_messages(messages, put, blocks)), key=lambda entry: entry.line)
    keys = {entry.compaction.pk: str(number) for number, entry in enumerate(entries, 1) if entry.compaction is not None}
    parents = _parents(history, keys, put)
    calls: dict[str, int | None] = {}
    for number, entry in enumerate(entries, 1):
        key, made = str(number), entry.compaction
        parent = parents.get(made.pk, "") if made is not None else ""
        calls[key] = made.before_call if made is not None else entry.first_call
        count = taken.get(made.pk, 0) if made is not None else 0
        checkpoint = _from_entry(session, key, entry)
        if made is not None and count:
            to_call = made.before_call - 1 if made.before_call else session.call_count
            checkpoint = replace(checkpoint, blocks=count, parent=parent, from_call=min(calls.get(parent) or 1, to_call), to_call=to_call)
        yield checkpoint


def _from_entry(session: Session, key: str, entry: _Entry) -> Checkpoint:
    made, texts = entry.compaction, [block for block in entry.blocks if block.kind in READABLE]
    counts = [block.tokens for block in texts]
    return Checkpoint(
        key=key,
        id=f"{session.public_id}-{key}",
        session=session.public_id,
        origin="recorded",
        state="ok" if made is None else made.status,
        trigger="unknown" if made is None else made.trigger,
        from_call=None,
        to_call=None,
        blocks=0,
        bodies=tuple(block.digest for block in texts),
        tokens=sum(count or 0 for count in counts) if counts and None not in counts else None,
        at=entry.at,
        size_before=None if made is None else made.reported_before or made.tokens_before,
        size_after=None if made is None else made.reported_after or made.tokens_after,
        is_readable=bool(texts) and not any(block.kind == "opaque" for block in entry.blocks),
        is_detached=made is not None and made.detached,
        places=tuple(f"{block.seq}.{block.i}" for block in entry.blocks),
        compaction=None if made is None else made.ordinal,
        before_call=entry.first_call if made is None else made.before_call,
        mechanism="" if made is None else made.mechanism,
    )


def _blocks(revision: Revision, seqs: Iterable[int]) -> dict[int, list[_Put]]:
    """The blocks of the summaries, by message."""
    found: dict[int, list[_Put]] = defaultdict(list)
    rows = Block.objects.filter(revision=revision, seq__in=list(seqs)).order_by("seq", "i")
    for seq, i, kind, digest, tokens in rows.values_list("seq", "i", "kind", "body__digest", "tokens"):
        found[seq].append(_Put(seq, i, kind, bytes(digest).hex(), tokens))
    return found


def _put(history: History, blocks: Mapping[int, Sequence[_Put]]) -> dict[int, set[tuple[int, int]]]:
    """Which places of summaries each compaction, by key, put into the view."""
    found: dict[int, set[tuple[int, int]]] = defaultdict(set)
    rows = LedgerEntry.objects.filter(history=history, adds=True, seq__in=list(blocks)).values_list("compaction_id", "seq", "i")
    for compaction, seq, i in rows:
        found[compaction].add((seq, i))
    return found


def _of_compactions(history: History, put: Mapping[int, set[tuple[int, int]]], blocks: Mapping[int, Sequence[_Put]]) -> Iterator[_Entry]:
    for row in Compaction.objects.filter(history=history, pk__in=list(put)).order_by("ordinal"):
        places = put[row.pk]
        own = [block for seq in dict.fromkeys(seq for seq, _ in sorted(places)) for block in blocks[seq] if (seq, block.i) in places]
        yield _Entry(row.line, row, tuple(own), row.at, None)


def _of_messages(
    messages: Mapping[int, Message], put: Mapping[int, set[tuple[int, int]]], blocks: Mapping[int, Sequence[_Put]]
) -> Iterator[_Entry]:
    """The summaries that no compaction put there: the file begins with them."""
    known = {seq for places in put.values() for seq, _ in places}
    for seq, message in messages.items():
        if seq not in known:
            yield _Entry(message.line, None, tuple(blocks.get(seq, ())), message.at, message.call)


def _taken_counts(history: History, compactions: Iterable[int]) -> dict[int, int]:
    taken = LedgerEntry.objects.filter(history=history, compaction__in=list(compactions), adds=False, state_after="")
    return dict(taken.values_list("compaction").annotate(count=Count("pk")).order_by())


def _parents(history: History, keys: Mapping[int, str], put: Mapping[int, set[tuple[int, int]]]) -> dict[int, str]:
    """By the compaction that took its blocks, the key of the last checkpoint before it. A block may be put there by several."""
    of_place: dict[tuple[int, int], list[int]] = defaultdict(list)
    for compaction, places in put.items():
        for place in places:
            of_place[place].append(int(keys[compaction]))
    taken = LedgerEntry.objects.filter(history=history, compaction__in=list(keys), adds=False, state_after="")
    rows = taken.filter(seq__in={seq for seq, _ in of_place}).values_list("compaction_id", "seq", "i")
    found: dict[int, int] = {}
    for compaction, seq, i in rows:
        earlier = [number for number in of_place.get((seq, i), ()) if number < int(keys[compaction])]
        found[compaction] = max((found.get(compaction, 0), *earlier))
    return {compaction: str(number) for compaction, number in found.items() if number}
