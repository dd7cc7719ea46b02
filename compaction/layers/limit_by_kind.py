"""Limits that differ by kind of content: what is too large for its kind is cut, cleared or spilled."""

from __future__ import annotations

from dataclasses import dataclass
from sys import maxsize
from typing import ClassVar, Literal, get_args

from compaction.ask import Ask
from compaction.content_kinds import CONTENT_KINDS, ContentKind, content_kind
from compaction.edits import clear, truncate
from compaction.errors import LimitError
from compaction.layers.checks import check_shares, check_texts, check_whole
from compaction.layers.spill_results import spill_edit
from compaction.layers.tool_results import Result, newest_results, tool_results
from compaction.limits import Limits
from compaction.messages import Body
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView

Measure = Literal["keep", "cut", "clear", "spill"]
MARK = "\n[… {chars} characters left out …]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitByKind:
    """What happens to a tool result of each kind above so many characters: `keep`, `cut` to head and tail, `clear`, or `spill`.

    A cut leaves the kind's characters, of which `head_share` are the beginning. A spill that no store takes is a cut. Results in
    another state than `whole` stay as they are, and with `only_new` those that the model has answered.
    """

    id: ClassVar[str] = "limit_by_kind"
    title: ClassVar[str] = "Tool results limited by kind of content"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "truncate_output"
    idempotent: ClassVar[bool] = True

    log: Measure = "cut"
    log_chars: int = 8_000
    diff: Measure = "cut"
    diff_chars: int = 20_000
    json: Measure = "spill"
    json_chars: int = 16_000
    listing: Measure = "cut"
    listing_chars: int = 4_000
    file: Measure = "spill"
    file_chars: int = 30_000
    other: Measure = "cut"
    other_chars: int = 20_000
    head_share: float = 0.8
    preview_chars: int = 2_000
    placeholder: str = "[cleared]"
    only_new: bool = False

    def __post_init__(self) -> None:
        check_whole(self, "preview_chars", *(f"{kind}_chars" for kind in CONTENT_KINDS))
        check_shares(self, "head_share")
        check_texts(self, "placeholder")
        for kind in CONTENT_KINDS:
            if getattr(self, kind) not in get_args(Measure):
                raise LimitError(f"{self.id}.{kind} must be one of {', '.join(get_args(Measure))}", field=kind)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result above the limit of its kind."""
        results = newest_results(view) if self.only_new else tool_results(view, longer_than=self.least, start=view.settled.get(self, 0))
        edits = [edit for result in results if result.visible.body.chars > self.least and (edit := self._edit(view, result, ask))]
        settled = 0 if self.only_new else len(view.messages)
        return Plan(edits=tuple(edits), skipped="" if edits else "no tool result above the limit of its kind", settled=settled)

    @property
    def least(self) -> int:
        """No result of this many characters or fewer is above a limit."""
        return min((chars for measure, chars in map(self.limit, CONTENT_KINDS) if measure != "keep"), default=maxsize)

    def limit(self, kind: ContentKind) -> tuple[Measure, int]:
        """What happens to this kind, and above how many characters."""
        measure: Measure = getattr(self, kind)
        return measure, getattr(self, f"{kind}_chars")

    def _edit(self, view: PromptView, result: Result, ask: Ask) -> Edit | None:
        block = result.visible.block
        if result.visible.state != "whole":
            return None
        text = view.pricer.text(result.visible.body)
        measure, chars = self.limit(content_kind(text))
        if measure == "keep" or len(text) <= chars:
            return None
        stored = spill_edit(view, result, self.preview_chars, ask) if measure == "spill" else None
        if stored is not None:
            return stored
        short = Body.of(self.placeholder if measure == "clear" else head_and_tail(text, chars, self.head_share))
        if short.chars >= len(text):
            return None
        return clear(block.id, short) if measure == "clear" else truncate(block.id, short)


def head_and_tail(text: str, chars: int, head_share: float) -> str:
    """`chars` characters of a longer text, the rest of them a mark that says how many were left out."""
    head = int(chars * head_share)
    tail = chars - head
    return text[:head] + MARK.format(chars=f"{len(text) - chars:,}") + (text[-tail:] if tail else "")
