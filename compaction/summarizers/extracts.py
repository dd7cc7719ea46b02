"""A bounded extract of a range of messages: quotes under headings, chosen evenly, in the order of the messages.

The same messages always give the same extract. An extract among the messages is taken over line by line, so extracts do
not nest; another summary is quoted from its beginning. Nothing in an extract is worded anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from compaction.checkpoints import is_checkpoint, recognise
from compaction.summarizers.quotes import SECTIONS, Piece, Quote, SectionName, ends, quoted, quotes

OPENING = "[Extract made by rules, not by a model"
EARLIER_SHARE = 3  # an earlier summary gets a third of the room
EARLIER_HEADING = "Earlier summary"

_FOCUS_WORD = re.compile(r"[^\W_\u4e00-\u9fff]{4,}|[\u4e00-\u9fff]{2}")

Count = Callable[[str], int]


def extract(pieces: Sequence[Piece], *, most_tokens: int, tokens: Count, focus: str = "") -> str:
    """The extract of `pieces`, at most `most_tokens` as `tokens` counts; "" where not even its first line fits.

    Lines with a word of `focus` are taken before all others.
    """
    heading = _heading(pieces)
    if tokens(heading) > most_tokens:
        return ""
    summaries = [piece.text for piece in pieces if _is_summary(piece) and not _left_out(piece)]
    earlier = _fitting(_lines_of_others(summaries), most_tokens // EARLIER_SHARE, tokens)
    candidates = list(quotes([piece for piece in pieces if not _is_summary(piece)], _lines_of_extracts(summaries)))
    chosen = _focused(_evenly(list(dict.fromkeys(candidates))), focus)
    text, fits, too_many = heading, 0, len(chosen) + 1
    while fits < too_many - 1:
        count = (fits + too_many) // 2
        longer = _written(heading, earlier, set(chosen[:count]), candidates)
        if tokens(longer) <= most_tokens:
            text, fits = longer, count
        else:
            too_many = count
    return text if fits else _nothing_else(heading, earlier, most_tokens, tokens)


def _nothing_else(heading: str, earlier: Sequence[str], most_tokens: int, tokens: Count) -> str:
    """Where nothing is worth quoting, or nothing fits: what an earlier summary said, if that fits."""
    text = _written(heading, earlier, set(), ())
    return text if tokens(text) <= most_tokens else heading


def _heading(pieces: Sequence[Piece]) -> str:
    messages = len({piece.block.id.seq for piece in pieces})
    asked = len({piece.block.id.seq for piece in pieces if piece.role == "user" and piece.block.kind == "text" and not _is_summary(piece)})
    calls = sum(piece.block.kind == "tool_use" for piece in pieces)
    left_out = sum(map(_left_out, pieces))
    before = f", left out before: {left_out}" if left_out else ""
    return f"{OPENING}; messages: {messages}, of the user: {asked}, tool calls: {calls}{before}. Lines are quoted; … marks a cut.]"


def _evenly(candidates: Sequence[Quote]) -> list[Quote]:
    """The order in which quotes are taken: section by section in turn, the newest first; of what was asked, the first before all."""
    queues = {section: [quote for quote in reversed(candidates) if quote.section == section] for section in SECTIONS}
    asked = queues["Asked"]
    queues["Asked"] = [*asked[-1:], *asked[:-1]]
    deepest = max(map(len, queues.values()))
    return [queues[section][rank] for rank in range(deepest) for section in SECTIONS if rank < len(queues[section])]


def _focused(chosen: Sequence[Quote], focus: str) -> list[Quote]:
    words = set(_FOCUS_WORD.findall(focus.lower()))
    return sorted(chosen, key=lambda quote: not any(word in quote.line.lower() for word in words)) if words else list(chosen)


def _written(heading: str, earlier: Sequence[str], taken: set[Quote], candidates: Iterable[Quote]) -> str:
    parts = [heading]
    if earlier:
        parts += ["", f"## {EARLIER_HEADING}", *(f"- {line}" for line in earlier)]
    ordered = [quote for quote in dict.fromkeys(candidates) if quote in taken]
    for section in SECTIONS:
        lines = [f"- {quote.line}" for quote in ordered if quote.section == section]
        if lines:
            parts += ["", f"## {section}", *lines]
    return "\n".join(parts)


def _is_summary(piece: Piece) -> bool:
    if piece.block.kind not in ("text", "compaction") or piece.role != "user":
        return False
    return piece.origin == "summary" or is_checkpoint(piece.text)


def _left_out(piece: Piece) -> int:
    """How many messages the piece says that it stands for without a word of them."""
    found = recognise(piece.text, "message") if piece.block.kind == "text" and piece.role == "user" else None
    return int(found.figures.get("messages", 0)) if found is not None and found.mark.kind == "hidden" else 0


def _lines_of_extracts(summaries: Iterable[str]) -> Iterator[Quote]:
    """The quotes of extracts that stand among the messages."""
    for text in summaries:
        section: SectionName | None = None
        for line in text.partition(OPENING)[2].splitlines():
            if line.startswith("## "):
                section = next((name for name in SECTIONS if name == line[3:]), None)
            elif section is not None and line.startswith("- "):
                yield Quote(section, line[2:])


def _lines_of_others(summaries: Iterable[str]) -> list[str]:
    """The lines of other summaries, and those that an extract took over from one."""
    lines: list[str] = []
    for text in summaries:
        if OPENING in text:
            taken_over = text.partition(f"\n## {EARLIER_HEADING}\n")[2].partition("\n\n")[0]
            lines += [line.removeprefix("- ") for line in taken_over.splitlines()]
        else:
            lines += [line for line in map(quoted, ends(text).splitlines()) if line]
    return list(dict.fromkeys(lines))


def _fitting(lines: Sequence[str], most_tokens: int, tokens: Count) -> tuple[str, ...]:
    taken: list[str] = []
    room = most_tokens
    for line in lines:
        room -= tokens(line) + 2  # the mark of the list and the line end
        if room < 0:
            break
        taken.append(line)
    return tuple(taken)
