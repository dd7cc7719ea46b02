"""The sections of a checkpoint: its headings, however its author marks them, and the lines under each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_SECTIONS = 300  # the lines after that many headings belong to the last one
MOST_HEADING_CHARS = 120
FENCES = ("```", "~~~")

_HEADING = re.compile(
    r"#{1,6}[ \t]+\S"
    r"|\*\*[^*]{2,80}\*\*[ \t]*:?[ \t]*$"
    r"|\d{1,2}[.)][ \t]+(?:\*\*)?[A-Z][^.:*]{2,70}(?::?\*\*:?|:)[ \t]*$"
    r"|<[a-z][a-z_-]{1,40}>[ \t]*$"
    r"|[A-Z][\w ,&/-]{2,60}:[ \t]*$"
)
_PLAIN = re.compile(r"[ \t]*(?:[-+•\w][^\n]*[\w.,;)\"'!?]|)$")  # most lines: no heading and no fence
_MARKS = re.compile(r"^[#\s*<]*(?:\d{1,2}[.)]\s*)?[*\s]*|[*\s:>]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines `start` to before `end` (from 0) of a text, the line of the heading included; "" where nothing stands above them."""

    heading: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """The heading without marks, numbers and capitals."""
        return " ".join(_MARKS.sub("", self.heading).lower().split())


def sections(lines: Sequence[str]) -> tuple[Section, ...]:
    """The sections of a text, in order; together they are all of its lines. A `#` inside a fence of code is no heading."""
    starts: list[int] = []
    fenced = False
    for place, line in enumerate(lines):
        if _PLAIN.match(line):
            continue
        if line.lstrip()[:3] in FENCES:
            fenced = not fenced
        elif not fenced and len(starts) < MOST_SECTIONS and _is_heading(line):
            starts.append(place)
    if lines and (not starts or starts[0]):
        starts.insert(0, 0)
    ends = [*starts[1:], len(lines)][: len(starts)]
    spans = zip(starts, ends, strict=True)
    return tuple(Section(heading=lines[start].strip() if _is_heading(lines[start]) else "", start=start, end=end) for start, end in spans)


def _is_heading(line: str) -> bool:
    may_be = line[:1] in ("#", "*", "<") or line.rstrip()[-1:] in (":", "*")  # most lines are told apart without the pattern
    return may_be and len(line) <= MOST_HEADING_CHARS and _HEADING.match(line) is not None
