"""A summary made by rules alone: quotes of what was asked, decided, touched, broken and left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import SummaryRequest
from compaction.messages import Body
from compaction.summarizers.extracts import extract
from compaction.summarizers.pieces import pieces_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractive:
    """An extract that names itself as one. It invents nothing; what its rules do not find is lost."""

    id: ClassVar[str] = "extractive"
    title: ClassVar[str] = "An extract of quoted lines, made by rules"

    def summarize(self, request: SummaryRequest) -> str | None:
        """The extract, bounded as the view's pricer counts tokens; None where not even its first line fits."""
        pricer = request.view.pricer
        pieces = pieces_of(request.messages, pricer)
        tokens = lambda text: pricer.tokens(Body.of(text))  # noqa: E731
        return extract(pieces, most_tokens=request.most_tokens, tokens=tokens, focus=request.focus) or None
