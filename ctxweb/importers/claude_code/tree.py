"""The tree of one lane: which node stands above each entry, and how its compactions hang together.

Nodes of a path are messages and boundaries; progress, attachments and other system records are links between them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ctxweb.importers.claude_code.entries import UNNAMED, Entry

NONE = -1
UNKNOWN = -2


def _places(places: Iterable[int] = ()) -> array[int]:
    return array("l", places)


@dataclass(slots=True, kw_only=True)
class Tree:
    """Indexes are places in the lane's entries.

    `up`: the node above, `NONE` for a root; a boundary is always a root. `roots`: the root of the path that each entry stands
    on, `NONE` above the first node. `logical`: the node before a root, in the conversation's own order. `back`: the node above
    or, for a root, the logical one. `summaries`: the summary messages of a boundary; a summary without a boundary record is a
    boundary of its own. `kept`: entries that stayed through a boundary. `missing`: entries whose parent is not in the file.
    `skipping`: boundaries whose parents lead past an earlier compaction.
    """

    is_node: list[bool] = field(default_factory=list)
    up: array[int] = field(default_factory=_places)
    roots: array[int] = field(default_factory=_places)
    logical: dict[int, int] = field(default_factory=dict)
    back: array[int] = field(default_factory=_places)
    summaries: dict[int, list[int]] = field(default_factory=dict)
    kept: dict[int, frozenset[int]] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
    skipping: set[int] = field(default_factory=set)

    def above(self, node: int) -> Iterator[int]:
        """`node` and the nodes above it up to the root of its path."""
        while node != NONE:
            yield node
            node = self.up[node]

    def before(self, node: int) -> Iterator[int]:
        """`node` and all nodes before it in the conversation, across compactions."""
        while node != NONE:
            yield node
            node = self.back[node]


def tree_of(entries: Sequence[Entry]) -> Tree:
    tree = Tree()
    index = _index(entries)
    _pair_summaries(tree, entries, index)
    parents = _parents(tree, entries, index)
    _keep_messages(tree, entries, index, parents)
    _break_cycles(parents)
    tree.is_node = is_node = [_is_node(tree, entry, place) for place, entry in enumerate(entries)]
    nearest = ends(parents, is_node)
    tree.up = _places(NONE if parent == NONE else nearest[parent] for parent in parents)
    roots = ends(tree.up, [above == NONE for above in tree.up])
    tree.roots = _places(NONE if node == NONE else roots[node] for node in nearest)
    tops = ends(parents, [parent == NONE or is_node[parent] for parent in parents])
    befores = ((place, tree.logical.get(tops[place], NONE)) for place, above in enumerate(tree.up) if above == NONE and is_node[place])
    tree.logical = {root: nearest[before] for root, before in befores if before != NONE}
    _join_phases(tree, entries)
    _untie_phases(tree)
    tree.back = _places(tree.logical.get(place, NONE) if above == NONE else above for place, above in enumerate(tree.up))
    return tree


def is_boundary(entry: Entry) -> bool:
    return entry.extra.boundary is not None


def _index(entries: Sequence[Entry]) -> dict[str, int]:
    """The place of the first entry with each uuid."""
    places: dict[str, int] = {}
    for place, entry in enumerate(entries):
        if entry.uuid:
            places.setdefault(entry.uuid, place)
    return places


def _pair_summaries(tree: Tree, entries: Sequence[Entry], index: dict[str, int]) -> None:
    """Each summary belongs to the boundary that is its parent, or to the last one if no answer came between."""
    waiting = NONE
    for place, entry in enumerate(entries):
        if is_boundary(entry):
            tree.summaries[place] = []
            waiting = place
        elif "summary" in entry.marks:
            parent = index.get(entry.parent or UNNAMED, NONE)
            owner = parent if parent in tree.summaries else waiting
            if owner != NONE or "unannounced" in entry.marks:
                tree.summaries.setdefault(owner if owner != NONE else place, []).append(place)
        elif entry.kind == "assistant":
            waiting = NONE


def _parents(tree: Tree, entries: Sequence[Entry], index: dict[str, int]) -> array[int]:
    owners = {summary: boundary for boundary, summaries in tree.summaries.items() for summary in summaries}
    parents, previous = _places(), NONE
    for place, entry in enumerate(entries):
        parents.append(_parent(tree, entry, index, place, previous))
        if place in owners and owners[place] != place:
            parents[place] = owners[place]
        elif place in tree.summaries or parents[place] == NONE:
            named = index.get(entry.extra.logical or entry.parent or UNNAMED, NONE)
            tree.logical[place] = named if named not in (NONE, place) else previous
            parents[place] = NONE
        if entry.kind != "content-replacement":
            previous = place
    return parents


def _parent(tree: Tree, entry: Entry, index: dict[str, int], place: int, previous: int) -> int:
    if entry.parent is None:
        return NONE
    parent = index.get(entry.parent, NONE)
    if parent in (NONE, place):
        if entry.parent != UNNAMED and previous != NONE and parent == NONE:
            tree.missing.add(place)
        return previous
    return parent


def _keep_messages(tree: Tree, entries: Sequence[Entry], index: dict[str, int], parents: array[int]) -> None:
    """Messages that a boundary kept follow its anchor: what was logged after it and hangs on one of them hangs on the anchor."""
    anchors: dict[int, int] = {}
    for place, entry in enumerate(entries):
        boundary = entry.extra.boundary
        if boundary is not None:
            kept = _kept_places(boundary.kept, boundary.segment, index, parents)
            tree.kept[place] = frozenset(kept)
            anchor = index.get(boundary.anchor or UNNAMED, place)
            anchors.update(dict.fromkeys(kept, anchor if anchor in tree.summaries[place] else place))
        elif parents[place] in anchors and place != anchors[parents[place]]:
            parents[place] = anchors[parents[place]]


def _kept_places(kept: tuple[str, ...], segment: tuple[str, str] | None, index: dict[str, int], parents: array[int]) -> list[int]:
    if segment is None:
        return [index[uuid] for uuid in kept if uuid in index]
    head, place = index.get(segment[0], NONE), index.get(segment[1], NONE)
    places: list[int] = []
    while place != NONE and place not in places:
        places.append(place)
        place = NONE if place == head else parents[place]
    return places if head in places else []


def _break_cycles(parents: array[int]) -> None:
    """Cut rings of parents where they are entered first, so that every path ends at a root."""
    finished = bytearray(len(parents))
    for start in range(len(parents)):
        trail: dict[int, None] = {}
        node = start
        while node != NONE and not finished[node] and node not in trail:
            trail[node] = None
            node = parents[node]
        if node in trail:
            parents[node] = NONE
        for place in trail:
            finished[place] = 1


def _join_phases(tree: Tree, entries: Sequence[Entry]) -> None:
    """A boundary follows the phase that was answered last before it, even where its parents lead past that one."""
    last: dict[int, int] = {}
    phase = NONE
    for place, entry in enumerate(entries):
        if place in tree.summaries:
            if phase != NONE and tree.logical.get(place, NONE) < phase:
                tree.logical[place] = last[phase]
                tree.skipping.add(place)
        elif entry.is_message and (root := tree.roots[place]) in tree.summaries:
            last[root] = place
            phase = max(phase, root) if entry.kind == "assistant" else phase


def _untie_phases(tree: Tree) -> None:
    """Drop links between phases that lead back to the phase they come from."""
    above = _places([NONE]) * len(tree.up)
    for root, before in tree.logical.items():
        above[root] = tree.roots[before]
    _break_cycles(above)
    tree.logical = {root: before for root, before in tree.logical.items() if above[root] != NONE}


def _is_node(tree: Tree, entry: Entry, place: int) -> bool:
    return entry.is_message or place in tree.summaries or entry.extra.micro is not None


def ends(above: Sequence[int], is_end: Sequence[bool]) -> array[int]:
    """For each place the first end on the way up, the place itself included; `NONE` where the way ends without one."""
    known = array("l", [UNKNOWN]) * len(above)
    for start in range(len(above)):
        trail: list[int] = []
        place, found = start, known[start]
        while found == UNKNOWN:
            trail.append(place)
            if is_end[place]:
                found = place
            else:
                place = above[place]
                found = NONE if place == NONE else known[place]
        for passed in trail:
            known[passed] = found
    return known
