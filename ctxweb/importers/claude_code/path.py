"""The view of a lane while calls go along paths of the tree.

A message is in the view of a call if it is on the call's path, if it holds a result of a tool call whose message is on the path
(parallel results fork the tree), or if the compaction at the root of the path kept or wrote it. One move costs what it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ctxweb.importers.claude_code.tree import NONE, Tree
from ctxweb.importers.claude_code.turns import Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Messages that leave the view, that come back to it, and that enter it for the first time, each by seq.

    `turn` is the first node of the new part of the path (`NONE`: it has none); `is_new_root`: nothing of the old path is left.
    """

    removed: tuple[int, ...]
    restored: tuple[int, ...]
    shown: tuple[int, ...]
    turn: int
    is_new_root: bool


class Path:
    """The nodes from a root to the last one that was moved to, and the messages in view, in the order of entering."""

    def __init__(self, tree: Tree, turns: Turns) -> None:
        self._tree = tree
        self._turns = turns
        self._nodes: list[int] = []
        self._places: dict[int, int] = {}
        self._on_path: Counter[int] = Counter()
        self._answered: Counter[str] = Counter()
        self._kept: frozenset[int] = frozenset()
        self._ever = bytearray(len(turns) + 1)
        self._written = 0
        self.view: dict[int, None] = {}

    @property
    def root(self) -> int:
        return self._nodes[0] if self._nodes else NONE

    def move(self, node: int, limit: int) -> Move:
        """Go to `node` (`NONE`: to no path); only messages whose first entry stands before the place `limit` can be in view."""
        fresh, joint = self._way(node)
        cut = self._places[joint] + 1 if joint != NONE else 0
        is_first = not self._nodes
        is_new_root = cut == 0 and not is_first
        lost = self._leave(cut)
        gained = self._enter(fresh)
        if cut == 0:
            gained |= self._take_kept()
        arriving = gained | self._answers(gained) | self._newly_written(limit, is_first=is_first)
        leaving = set(self.view) if is_new_root else self._rivals(gained) | lost | self._answers(lost)
        removed = tuple(seq for seq in sorted(leaving) if seq in self.view and not self._belongs(seq))
        for seq in removed:
            del self.view[seq]
        added = [seq for seq in sorted(arriving) if seq not in self.view and self._turns.first(seq) < limit and self._belongs(seq)]
        self.view.update(dict.fromkeys(added))
        restored, shown = (tuple(seq for seq in added if self._ever[seq] == ever) for ever in (1, 0))
        self._remember(added)
        return Move(
            removed=removed,
            restored=restored,
            shown=shown,
            turn=fresh[-1] if fresh else NONE,
            is_new_root=is_new_root,
        )

    def compact(self, boundary: int, summaries: Iterable[int]) -> tuple[int, ...]:
        """Start a new path at `boundary` with the messages that it kept and the `summaries`; returns the seqs that it took."""
        self._leave(0)
        self._enter([boundary])
        self._take_kept()
        taken = tuple(seq for seq in self.view if not self._belongs(seq))
        for seq in taken:
            del self.view[seq]
        self.view.update(dict.fromkeys(summaries))
        self._remember(self.view)
        return taken

    def _remember(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            self._ever[seq] = 1

    def _way(self, node: int) -> tuple[list[int], int]:
        """Nodes from `node` up to where the present path is met (`NONE`: nowhere)."""
        fresh: list[int] = []
        for above in self._tree.above(node):
            if above in self._places:
                return fresh, above
            fresh.append(above)
        return fresh, NONE

    def _leave(self, cut: int) -> set[int]:
        lost = set()
        for node in self._nodes[cut:]:
            del self._places[node]
            seq = self._seq(node)
            if seq:
                self._on_path[seq] -= 1
                if not self._on_path[seq]:
                    self._answered.subtract(self._turns.results(seq))
                    lost.add(seq)
        del self._nodes[cut:]
        return lost

    def _enter(self, fresh: list[int]) -> set[int]:
        gained = set()
        for node in reversed(fresh):
            self._places[node] = len(self._nodes)
            self._nodes.append(node)
            seq = self._seq(node)
            if seq:
                self._on_path[seq] += 1
                if self._on_path[seq] == 1:
                    self._answered.update(self._turns.results(seq))
                    gained.add(seq)
        return gained

    def _take_kept(self) -> set[int]:
        root = self.root
        places = (*self._tree.kept.get(root, ()), *self._tree.summaries.get(root, ()))
        kept = frozenset(seq for seq in map(self._seq, places) if seq)
        for seqs, change in ((self._kept, self._answered.subtract), (kept, self._answered.update)):
            change([tool_id for seq in seqs for tool_id in self._turns.results(seq)])
        self._kept = kept
        return set(self._kept)

    def _seq(self, node: int) -> int:
        seq = self._turns.seq_of[node]
        return seq if seq and self._turns.is_prompt(seq) else 0

    def _newly_written(self, limit: int, *, is_first: bool) -> set[int]:
        """Messages that were logged since the last move. The first move finds all of them on its way."""
        places = () if is_first else range(self._written, limit)
        self._written = max(self._written, limit)
        return {self._seq(place) for place in places if self._turns.is_start(place)} - {0}

    def _answers(self, seqs: Iterable[int]) -> set[int]:
        """Messages that may stand beside the path because these are on it: the first result of each tool call."""
        tool_ids = (tool_id for seq in seqs for tool_id in self._turns.uses(seq))
        return {self._turns.answers[tool_id][0] for tool_id in tool_ids if tool_id in self._turns.answers}

    def _rivals(self, seqs: Iterable[int]) -> set[int]:
        """Results beside the path that give way when these messages come onto it."""
        return {self._turns.answers[tool_id][0] for seq in seqs for tool_id in self._turns.results(seq)}

    def _is_stem(self, seq: int) -> bool:
        return self._on_path[seq] > 0 or seq in self._kept

    def _belongs(self, seq: int) -> bool:
        return self._is_stem(seq) or any(self._is_beside(seq, tool_id) for tool_id in self._turns.results(seq))

    def _is_beside(self, seq: int, tool_id: str) -> bool:
        """Whether a result stands beside the path: its call is on the path, no other result of it is, and it is the first."""
        owner = self._turns.owners.get(tool_id)
        if owner is None or owner == seq or not self._is_stem(owner):
            return False
        return self._turns.answers[tool_id][0] == seq and not self._answered[tool_id]


def nodes_in_use(tree: Tree, starts: Iterable[int]) -> bytearray:
    """For each place, whether it is on the way from one of `starts` back through the conversation."""
    used = bytearray(len(tree.back))
    for start in starts:
        for node in tree.before(start):
            if used[node]:
                break
            used[node] = 1
    return used
