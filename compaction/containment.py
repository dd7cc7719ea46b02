"""What is wrong with a summary that somebody's model made. A summary with a grave objection is refused, and the view stays.

No check reads meaning: each looks for a shape that an honest summary of the range does not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from compaction.sections import sections
from compaction.summarizers.quotes import Piece
from compaction.summary_prompt import SUMMARY_SECTIONS, SummarySection

ObjectionCode = Literal[
    "empty", "sentinel_only", "override_phrase", "missing_sections", "frame_leaked", "longer_than_range", "strange_url", "tool_url",
    "strange_instruction", "repeats_itself",
]  # fmt: skip
OBJECTION_CODES: tuple[ObjectionCode, ...] = get_args(ObjectionCode)

LEAST_WORDS = 12  # of a summary, distinct ones, its headings apart
MOST_OBJECTIONS = 50
MOST_WORDS_CHARS = 160  # of a summary that an objection quotes
MOST_REPEATS = 0.6  # share of lines that stand in it before; a loop has more
LEAST_LINES = 20  # of a summary whose repetitions count

_URL = re.compile(r"""(?:https?|ftp|wss?)://[^\s<>"'`)\]}|\\]+|(?<![\w/])data:[\w/+.-]{3,60};base64,""", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_OVERRIDES = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|of\s+|my\s+)*(?:previous|prior|earlier|above|preceding|existing|system)"
    r"\s+(?:\w+\s+)?(?:instructions?|prompts?|rules?|messages?|directions?|context)"
    r"|\byou are now (?:a|an|in|the)\b|\bnew (?:system )?(?:instructions?|rules) follow\b|\bsystem prompt:\s"
    r"|<\|[a-z_]{2,30}\|>|<｜[^｜\n]{2,40}｜>|\[/?INST\]|<</?SYS>>|</?(?:system|override|system-reminder)\b[^>\n]{0,80}>"
    r"|^(?:human|assistant|system|user):[ \t]"
    r"|(?:忽略|无视|忘记)(?:之前|以上|上述|前面|所有|先前)[^\n]{0,8}(?:指令|指示|说明|规则|提示)",
    re.IGNORECASE | re.MULTILINE,
)
_INSTRUCTIONS = re.compile(
    r"\b(?:do not|don't|never) (?:mention|reveal|tell|inform|report|disclose)\b[^.\n]{0,80}"
    r"|\b(?:from now on|henceforth),? (?:you|always|never|the assistant)\b[^.\n]{0,80}"
    r"|\byou (?:must|should|have to) (?:now |always |never )?(?:run|execute|call|send|post|upload|delete|grant|visit|open)\b[^.\n]{0,80}"
    r"|\b(?:curl|wget)\b[^\n]{0,40}\bhttps?://[^\s]{4,80}|--dangerously[\w-]*"
    r"|\bwithout (?:asking|telling|confirmation|approval)\b[^.\n]{0,40}"
    r"|(?:不要|请勿|不得)(?:告诉|提及|透露)[^\n。]{0,40}",
    re.IGNORECASE,
)
_SENTINEL = re.compile(
    r"[\W_]*(?:(?:no[ _-]?summary|none|null|nil|n/?a|ok|okay|done|all done|nothing|empty|undefined|summary|error|failed|todo|stop|end|"
    r"endoftext|im_end|eos|no[ _-]?reply|no[ _-]?response|heartbeat[ _-]?ok|silent|skip)[\W_]*){1,4}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """`grave`: the summary is refused. `line` (from 1) and `words` say where, as inert text; `count` how many of that kind, or a size."""

    code: ObjectionCode
    grave: bool
    line: int | None = None
    words: str = ""
    count: int = 1


def objections(
    summary: str,
    pieces: Sequence[Piece],
    *,
    expected: Sequence[SummarySection] = SUMMARY_SECTIONS,
    nonce: str = "",
    count: Callable[[str], int] = len,
) -> tuple[Objection, ...]:
    """All that is wrong with a summary of the pieces, the gravest kinds first. `count` measures texts; `nonce` is that of its prompt.

    `expected` is () for a summary that was not asked for sections.
    """
    if not summary.strip():
        return (Objection(code="empty", grave=True),)
    found = [*_hollow(summary, expected), *_of_shape(summary, expected, nonce), *_too_long(summary, pieces, count)]
    found += [*_phrases(summary, pieces), *_urls(summary, pieces)]
    return tuple(found[:MOST_OBJECTIONS])


def is_refused(found: Sequence[Objection]) -> bool:
    """Whether a summary with these objections stands for nothing."""
    return any(one.grave for one in found)


def _hollow(summary: str, expected: Sequence[SummarySection]) -> Iterator[Objection]:
    headings = {word.lower() for section in expected for word in _WORD.findall(section.heading)}
    words = {word.lower() for word in _WORD.findall(summary)} - headings
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in summary)
    if (len(summary) <= MOST_WORDS_CHARS and _SENTINEL.fullmatch(summary)) or (len(words) < LEAST_WORDS and chinese < LEAST_WORDS):
        yield Objection(code="sentinel_only", grave=True, count=len(words))
    lines = [line.strip() for line in summary.split("\n") if line.strip()]
    if len(lines) >= LEAST_LINES and len(set(lines)) < (1 - MOST_REPEATS) * len(lines):
        yield Objection(code="repeats_itself", grave=True, count=len(lines) - len(set(lines)))


def _of_shape(summary: str, expected: Sequence[SummarySection], nonce: str) -> Iterator[Objection]:
    keys = {section.key for section in sections(summary.split("\n"))}
    missing = [section.heading for section in expected if not any(section.heading.lower() in key for key in keys)]
    if missing:
        yield Objection(code="missing_sections", grave=True, words=_short(", ".join(missing)), count=len(missing))
    if nonce and nonce in summary:
        yield Objection(code="frame_leaked", grave=True, line=_line_at(summary, summary.find(nonce)))


def _too_long(summary: str, pieces: Sequence[Piece], count: Callable[[str], int]) -> Iterator[Objection]:
    size = count(summary)
    if size >= sum(count(piece.text) for piece in pieces):
        yield Objection(code="longer_than_range", grave=True, count=size)


def _phrases(summary: str, pieces: Sequence[Piece]) -> Iterator[Objection]:
    """An override is refused wherever it comes from; another instruction where the range does not hold it."""
    for match in _OVERRIDES.finditer(summary):
        yield Objection(code="override_phrase", grave=True, line=_line_at(summary, match.start()), words=_short(match.group()))
    for match in _INSTRUCTIONS.finditer(summary):
        words = match.group()
        if not any(words in piece.text for piece in pieces):
            yield Objection(code="strange_instruction", grave=False, line=_line_at(summary, match.start()), words=_short(words))


def _urls(summary: str, pieces: Sequence[Piece]) -> Iterator[Objection]:
    """An address that the range does not hold is refused; one that only tools brought up is told."""
    seen: set[str] = set()
    for match in _URL.finditer(summary):
        url = match.group().rstrip(".,;:!?*_")
        if url in seen:
            continue
        seen.add(url)
        holding = [piece for piece in pieces if url in piece.text]
        if not holding or all(piece.block.kind == "tool_result" for piece in holding):
            code: ObjectionCode = "tool_url" if holding else "strange_url"
            yield Objection(code=code, grave=not holding, line=_line_at(summary, match.start()), words=_short(url))


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_WORDS_CHARS else f"{line[: MOST_WORDS_CHARS - 1]}…"
