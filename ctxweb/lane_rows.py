"""A lane's rows as the plain numbers that the pictures are drawn from. An import stores `stored_map`, pages read the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ctxweb.charts.bins import CallFigures, binned, bins_to_json, kinds_per_call
from ctxweb.charts.sparkline import MOST_SPARK_BINS, spark_to_json
from ctxweb.charts.strata import Layer
from ctxweb.models import Block, Compaction, History, Message, ModelCall, Span
from ctxweb.vocabulary import KIND_NAMES, KIND_WORDS, kind_of

_PLACE_OF_KIND = {name: place for place, name in enumerate(KIND_NAMES)}


class Place(NamedTuple):
    """A block's place: `seq` of its message, `i` in it."""

    seq: int
    i: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockName:
    """The colour class of a block, and what a person would call it: its file, its tool, else its kind."""

    kind: str
    name: str


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


def base_name(path: str) -> str:
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path


def block_names(*, revision_id: int) -> dict[Place, BlockName]:
    """Names of all blocks of a revision; a result is called by the file and tool of its use."""
    roles = {
        seq: (role, origin) for seq, role, origin in Message.objects.filter(revision_id=revision_id).values_list("seq", "role", "origin")
    }
    rows = list(Block.objects.filter(revision_id=revision_id).values_list("seq", "i", "kind", "tool_id", "tool_name", "path"))
    uses = {tool_id: (tool, path) for _, _, kind, tool_id, tool, path in rows if kind == "tool_use" and tool_id}
    names = {}
    for seq, i, kind, tool_id, tool, path in rows:
        role, origin = roles[seq]
        used_tool, used_path = uses.get(tool_id, ("", ""))
        colour = kind_of(kind=kind, role=role, origin=origin)
        names[Place(seq, i)] = BlockName(kind=colour, name=base_name(path or used_path) or tool or used_tool or KIND_WORDS[colour].word)
    return names


def lane_rows(*, history: History) -> LaneRows:
    """All calls and spans of a history; for lanes that are drawn call by call, and once at the import."""
    names = block_names(revision_id=history.revision_id)
    spans = list(
        Span.objects.filter(history=history).order_by("position", "from_call").values_list("seq", "i", "from_call", "to_call", "estimate")
    )
    layers = tuple(
        Layer(
            block=f"{seq}.{i}",
            kind=names[Place(seq, i)].kind,
            start=start,
            end=end,
            estimate=estimate,
            name=names[Place(seq, i)].name,
        )
        for seq, i, start, end, estimate in spans
    )
    return LaneRows(calls=_call_figures(history, layers), layers=layers)


def _call_figures(history: History, layers: tuple[Layer, ...]) -> list[CallFigures]:
    calls = list(
        ModelCall.objects.filter(revision_id=history.revision_id).order_by("n").values_list("n", "prompt_tokens", "cache_read_tokens")
    )
    spans = ((_PLACE_OF_KIND[layer.kind], layer.start, layer.end, layer.estimate) for layer in layers)
    sums = kinds_per_call(spans, calls=len(calls), kinds=len(KIND_NAMES))
    human = _human_calls(history, layers)
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


def _human_calls(history: History, layers: tuple[Layer, ...]) -> frozenset[int]:
    """Calls that were the first to hold words of a person."""
    said = Message.objects.filter(revision_id=history.revision_id, role="user", origin="human").values_list("seq", flat=True)
    human = {str(seq) for seq in said}
    first: dict[str, int] = {}
    for layer in layers:
        seq = layer.block.partition(".")[0]
        if seq in human:
            first[seq] = min(layer.start, first.get(seq, layer.start))
    return frozenset(first.values())


def stored_map(*, history: History) -> StoredMap:
    """The map and the spark of a lane whose rows are all written."""
    calls = lane_rows(history=history).calls
    drops = list(
        Compaction.objects.filter(history=history, before_call__isnull=False).exclude(status="failed").values_list("before_call", "origin")
    )
    recorded = [n for n, origin in drops if origin != "inferred"]
    inferred = [n for n, origin in drops if origin == "inferred"]
    edges = [n for n, _ in drops]
    return StoredMap(
        bins=bins_to_json(binned(calls, drops=edges)),
        spark=spark_to_json(binned(calls, drops=edges, most=MOST_SPARK_BINS), recorded=recorded, inferred=inferred),
    )
