"""A lane's rows as the plain numbers that the pictures are drawn from. An import stores `stored_map`, pages read the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum

from ctxweb.charts.bins import CallFigures, binned, bins_to_json, kinds_per_call
from ctxweb.charts.sparkline import MOST_SPARK_BINS, spark_to_json
from ctxweb.charts.strata import Layer
from ctxweb.models import AddedBlock, Block, Compaction, History, Message, ModelCall, Span
from ctxweb.vocabulary import KIND_NAMES, KIND_WORDS, kind_of

READ_ROWS = 2_000
STAYED = ("visible", "never_sent")  # ends of blocks that no edit took out of a prompt
MOST_LEFT = 7  # of the largest blocks that left
_PLACE_OF_KIND = {name: place for place, name in enumerate(KIND_NAMES)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMap:
    """What an import keeps of the map: `History.bins` and `Session.spark`."""

    bins: dict[str, Any]
    spark: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRows:
    """The calls in order, and the spans as layers in prompt order."""

    calls: list[CallFigures]
    layers: tuple[Layer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spoken:
    """Who spoke each message, by its seq; `human` are the seqs of a person's words."""

    roles: dict[int, tuple[str, str]]
    human: frozenset[int]


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path


def lane_rows(*, history: History) -> LaneRows:
    """All calls and spans of a history, named; for a lane that is drawn call by call."""
    spoken = _spoken(history.revision_id)
    colours = _colours(history, spoken)
    names = lane_names(history.revision_id)
    spans = list(_spans(history, "position", "from_call"))
    layers = tuple(
        Layer(
            block=f"{seq}.{i}",
            kind=KIND_NAMES[colours[seq, i]],
            start=start,
            end=end,
            estimate=estimate,
            name=names.get((seq, i)) or KIND_WORDS[KIND_NAMES[colours[seq, i]]].word,
        )
        for seq, i, start, end, estimate in spans
    )
    return LaneRows(calls=_call_figures(history, spans, colours, spoken), layers=layers)


def stored_map(*, history: History) -> StoredMap:
    """The map and the spark of a lane whose rows are all written. Memory is bounded by its messages and calls, not by its texts."""
    spoken = _spoken(history.revision_id)
    calls = _call_figures(history, _spans(history), _colours(history, spoken), spoken)
    left = (
        Compaction.objects.filter(history=history, before_call__isnull=False, status="ok")
        .exclude(mechanism="spill")
        .values_list("before_call", "origin")
    )
    drops = [(call, origin) for call, origin in left if call is not None]
    edges = [call for call, _ in drops]
    return StoredMap(
        bins={**bins_to_json(binned(calls, drops=edges)), **_endings(history.revision_id)},
        spark=spark_to_json(
            binned(calls, drops=edges, most=MOST_SPARK_BINS),
            recorded=[call for call, origin in drops if origin != "inferred"],
            inferred=[call for call, origin in drops if origin == "inferred"],
        ),
    )


def _endings(revision_id: int) -> dict[str, Any]:
    """`endings`: (how blocks ended, how many, sum of their estimates); `left`: places (seq, i) of the largest that left."""
    ended = Block.objects.filter(revision_id=revision_id).exclude(end="")
    sums = ended.order_by().values_list("end").annotate(blocks=Count("pk"), tokens=Sum("estimate")).order_by("end")
    left = ended.exclude(end__in=STAYED).filter(first_call__isnull=False).order_by("-estimate", "seq", "i").values_list("seq", "i")
    return {"endings": [[end, blocks, tokens or 0] for end, blocks, tokens in sums], "left": [list(place) for place in left[:MOST_LEFT]]}


def _spoken(revision_id: int) -> _Spoken:
    rows = Message.objects.filter(revision_id=revision_id).values_list("seq", "role", "origin").iterator(READ_ROWS)
    roles = {seq: (role, origin) for seq, role, origin in rows}
    return _Spoken(roles=roles, human=frozenset(seq for seq, spoke in roles.items() if spoke == ("user", "human")))


def _colours(history: History, spoken: _Spoken) -> dict[tuple[int, int], int]:
    """The place among `KINDS` of each block (seq, i)."""
    rows = Block.objects.filter(revision_id=history.revision_id).values_list("seq", "i", "kind").iterator(READ_ROWS)
    colours = {
        (seq, i): _PLACE_OF_KIND[kind_of(kind=kind, role=spoken.roles[seq][0], origin=spoken.roles[seq][1])] for seq, i, kind in rows
    }
    if history.origin == "replayed":
        added = AddedBlock.objects.filter(history=history).values_list("seq", "i", "kind", "role", "origin").iterator(READ_ROWS)
        colours |= {(seq, i): _PLACE_OF_KIND[kind_of(kind=kind, role=role, origin=origin)] for seq, i, kind, role, origin in added}
    return colours


def lane_names(revision_id: int) -> dict[tuple[int, int], str]:
    """What a person would call a tool's block: its file, else its tool; a result by those of its use."""
    rows = list(
        Block.objects.filter(revision_id=revision_id).exclude(tool_id="").values_list("seq", "i", "kind", "tool_id", "tool_name", "path")
    )
    uses = {tool_id: base_name(path) or tool for _, _, kind, tool_id, tool, path in rows if kind == "tool_use"}
    return {(seq, i): base_name(path) or uses.get(tool_id, "") or tool for seq, i, _, tool_id, tool, path in rows}


def _spans(history: History, *order: str) -> Iterator[tuple[int, int, int, int, int]]:
    """(seq, i, from_call, to_call, estimate) of each span."""
    rows = Span.objects.filter(history=history).order_by(*order)
    return rows.values_list("seq", "i", "from_call", "to_call", "estimate").iterator(READ_ROWS)


def _call_figures(
    history: History, spans: Iterable[tuple[int, int, int, int, int]], colours: dict[tuple[int, int], int], spoken: _Spoken
) -> list[CallFigures]:
    calls = list(
        ModelCall.objects.filter(revision_id=history.revision_id).order_by("n").values_list("n", "prompt_tokens", "cache_read_tokens")
    )
    if history.origin == "replayed":
        calls = [(n, None, None) for n, _, _ in calls]  # what the provider reported was another prompt
    first_heard: dict[int, int] = {}

    def coloured() -> Iterator[tuple[int, int, int, int]]:
        for seq, i, start, end, estimate in spans:
            if seq in spoken.human:
                first_heard[seq] = min(start, first_heard.get(seq, start))
            yield colours[seq, i], start, end, estimate

    sums = kinds_per_call(coloured(), calls=len(calls), kinds=len(KIND_NAMES))
    human = set(first_heard.values())
    return [
        CallFigures(
            n=n,
            reported=prompt,
            kinds=kinds,
            cached=cache_read / prompt if prompt and cache_read is not None else None,
            human=n in human,
        )
        for (n, prompt, cache_read), kinds in zip(calls, sums, strict=True)
    ]
