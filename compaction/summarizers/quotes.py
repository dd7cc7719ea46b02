"""What is worth quoting from a range of messages: rules that find intents, constraints, decisions, files, errors and pending work.

A quote is a sentence or a line as it stands, blanks collapsed, cut at a bound with `…`. Only the ends of a long text are read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from compaction.checkpoints import is_checkpoint, result_state
from compaction.messages import Block, Origin, Role

SectionName = Literal["Asked", "Constraints", "Decisions", "Files", "Errors", "Pending"]
SECTIONS: tuple[SectionName, ...] = get_args(SectionName)

MOST_QUOTE_CHARS = 240
LEAST_LETTERS = 2  # of a sentence: "1." is none
READ_CHARS = 8_000  # of each end of a text

_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?=\S)[^\n.!?。！？]+)*[.!?。！？]*")
_CONSTRAINT = re.compile(
    r"\b(?:must|never|always|only|don't|do not|mustn't|without|at most|at least|no more than|not allowed|forbidden|required"
    r"|should|shouldn't|make sure|be sure|instead|rather than)\b"
    r"|必须|不要|不能|不得|禁止|只能|务必|不许|一定要|应该|确保",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided|decision|chose|choose|going with|instead of|switch(?:ed|ing) to|(?:we|I)(?:'ll| will) use|agreed)\b"
    r"|\b(?:root cause|the fix is)\b"
    r"|决定|选择|采用|改用|原因是",
    re.IGNORECASE,
)
_PENDING = re.compile(
    r"\b(?:todo|fixme|next(?: step)?s?|remain(?:s|ing)|still (?:need|have|to)|not yet|left to do|pending)\b|待办|下一步|还需要|剩余|尚未",
    re.IGNORECASE,
)
_OPEN_BOX = re.compile(r"\s*[-*] \[ \] \S")
_ERROR = re.compile(
    r"^(?:[\w.]*(?:Error|Exception)\b[:\s]|CONFLICT \(|FAILED\b|FAIL\b|fatal:|panic:|error(?:\[\w+\])?:|Error:|E   \S|Traceback )"
    r"|\b(?:command not found|No such file or directory|Permission denied|timed out)\b"
)
_NOT_SAID = re.compile(r"Exit code \d+|(?:\[[\w-]+\] )?\$ .*")  # in front of what the command said: its end, and itself


class Piece(NamedTuple):
    """A block as it is seen by the rules: its text as visible, and who said it."""

    role: Role
    origin: Origin
    block: Block
    text: str


class Quote(NamedTuple):
    """A line of an extract."""

    section: SectionName
    line: str


def quotes(pieces: Sequence[Piece], earlier: Iterable[Quote] = ()) -> Iterator[Quote]:
    """All quotes in the order of the messages, the files last; a line that comes again is quoted where it came last.

    `earlier` are those of an extract that stands for what was before: they come first, and its files are counted on.
    """
    earlier = list(earlier)
    answered = {piece.block.tool_id for piece in pieces if piece.block.kind == "tool_result"}
    found = [quote for quote in earlier if quote.section != "Files"]
    found += [quote for piece in pieces for quote in piece_quotes(piece, answered)]
    latest = dict.fromkeys(reversed(found))
    yield from reversed(latest)
    yield from (Quote("Files", line) for line in _files([quote.line for quote in earlier if quote.section == "Files"], pieces))


def piece_quotes(piece: Piece, answered: Container[str | None]) -> Iterator[Quote]:
    """The quotes of one piece. `answered`: ids of the calls that have a result."""
    return (Quote(section, line) for section, line in _of_piece(piece, answered))


def _of_piece(piece: Piece, answered: Container[str | None]) -> Iterator[tuple[SectionName, str]]:
    block = piece.block
    if block.kind == "text" and not is_checkpoint(piece.text):
        if piece.role == "user" and piece.origin in ("human", "unknown"):
            yield from _of_user(piece.text)
        elif piece.role == "assistant":
            yield from _of_model(piece.text)
    elif block.kind == "tool_result":
        yield from (("Errors", line) for line in _errors(piece))
    elif block.kind == "tool_use" and block.tool_id not in answered:
        yield "Pending", quoted(f"{block.tool_name or 'a tool'} was called and has no result: {block.path or piece.text}")


def _of_user(text: str) -> Iterator[tuple[SectionName, str]]:
    sentences = list(_sentences(text))
    if sentences:
        yield "Asked", sentences[0]
    yield from (("Constraints", sentence) for sentence in sentences if _CONSTRAINT.search(sentence))


def _of_model(text: str) -> Iterator[tuple[SectionName, str]]:
    for sentence in _sentences(text):
        if _OPEN_BOX.match(sentence) or _PENDING.search(sentence):
            yield "Pending", sentence
        elif _DECISION.search(sentence):
            yield "Decisions", sentence


def _errors(piece: Piece) -> Iterator[str]:
    if result_state(piece.text) == "cleared":
        return
    lines = [line for line in map(quoted, ends(piece.text).splitlines()) if line]
    telling = [line for line in lines if _ERROR.search(line)]
    if telling:
        yield telling[-1]
    elif piece.block.is_error and lines:
        yield next((line for line in lines if not _NOT_SAID.fullmatch(line)), lines[0])


def _files(earlier: Iterable[str], pieces: Iterable[Piece]) -> Iterator[str]:
    """A line a file, with the tools that named it and how often; the file that was touched last comes last."""
    tools = dict(map(_read_file_line, earlier))
    for piece in pieces:
        path = " ".join((piece.block.path or "").split())
        if piece.block.kind == "tool_use" and path:
            named = tools.pop(path, {})
            name = piece.block.tool_name or "tool"
            tools[path] = named | {name: named.get(name, 0) + 1}
    for path, named in tools.items():
        yield quoted(f"{path} ({', '.join(name if times == 1 else f'{name} ×{times}' for name, times in named.items())})")


def _read_file_line(line: str) -> tuple[str, dict[str, int]]:
    """The path of a line of files, and how often each tool named it; a line that was cut is a path without any."""
    path, _, named = line.removesuffix(")").rpartition(" (")
    tools: dict[str, int] = {}
    for tool in named.split(", ") if path and line.endswith(")") else ():
        name, times, number = tool.rpartition(" ×")
        tools[name if times else tool] = int(number) if times and number.isascii() and number.isdigit() else 1
    return (path, tools) if tools else (line, {})


def _sentences(text: str) -> Iterator[str]:
    return (sentence for sentence in map(quoted, _SENTENCE.findall(ends(text))) if sum(map(str.isalpha, sentence)) >= LEAST_LETTERS)


def ends(text: str) -> str:
    """The beginning and the end of a text, with a line break where it was cut."""
    return text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"


def quoted(text: str) -> str:
    """A text on one line, at most MOST_QUOTE_CHARS characters."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_QUOTE_CHARS else f"{line[: MOST_QUOTE_CHARS - 1]}…"
