"""Units: what a block, a message and a list of messages cost, each as one published program counts it.

A unit prices the wire form that a provider gets: `{"role": …, "content": text | list of blocks}`. A message that a caller
gave as such a mapping is priced as it stands; one of an imported session as `compaction.wire` would write it. Units never
mix: a figure is in one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol

from compaction.analysis.estimates import PLAIN, Constants, block_estimate
from compaction.counters.sizes import TextSizes, json_text, text_sizes, word_sizes
from compaction.errors import LimitError
from compaction.messages import Block, Role

__all__ = ["NO_CONTENT", "UNITS", "Shape", "TextSizes", "Unit", "text_sizes", "unit_named"]

Shape = Literal["text", "blocks", "absent"]
"""How a message holds its content: a plain text, a list of blocks, or not at all."""

NO_CONTENT = "no_content"
"""Flag of the empty block that stands for a message without any, so that it has a place in a view."""

CHARS_A_TOKEN = 4  # of s14, course09 and dsh alike
S14_MESSAGE = 4
COURSE09_MESSAGE = 4
DSH_BLOCK = 4
DSH_MESSAGE = 4

WireBlock = tuple[int, int]  # the JSON and the repr length of a block's wire form, its text's own left out

TEXT = len('{"type": "text", "text": }')
THINKING = len('{"type": "thinking", "thinking": }')
TOOL_USE = len('{"type": "tool_use", "id": , "name": , "input": }')
TOOL_RESULT = len('{"type": "tool_result", "tool_use_id": , "content": }')
IS_ERROR = len(', "is_error": true')
COMPACTION = len('{"type": "compaction", "content": }')
OTHER = len('{"type": "", "text": }')
MESSAGE = len("{'role': '', 'content': }")


class Unit(Protocol):
    """A way to count. `of` says what its figures are called."""

    id: ClassVar[str]
    title: ClassVar[str]
    of: ClassVar[Literal["tokens", "characters"]]

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        """The block with the text that `sizes` are of and `tokens` the exact count of, in a message of this shape."""
        ...

    def raw_block(self, raw: object) -> int | None:
        """A block of a caller's list as it stands; None where its text alone decides."""
        ...

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        """What a message costs beside its blocks, while it has any."""
        ...

    def view(self, messages: int) -> int:
        """What a list of so many messages costs beside them."""
        ...


class _Unit:
    """What most units say: only texts cost."""

    of: ClassVar[Literal["tokens", "characters"]] = "tokens"

    def raw_block(self, raw: object) -> int | None:
        return None

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        return 0

    def view(self, messages: int) -> int:
        return 0


class S14Chars4(_Unit):
    """A quarter of the characters, rounded down: of a plain text, or of each block's JSON; 4 for a message."""

    id: ClassVar[str] = "s14_chars4"
    title: ClassVar[str] = "chars/4 (s14)"

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        if NO_CONTENT in block.flags:
            return 0
        return (sizes.chars if shape == "text" else _json_frame(block) + _json_of(block, sizes)) // CHARS_A_TOKEN

    def raw_block(self, raw: object) -> int | None:
        return len(json_text(raw) if isinstance(raw, Mapping) else str(raw)) // CHARS_A_TOKEN

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        return S14_MESSAGE


class S08Repr(_Unit):
    """Characters of Python's repr of the whole list."""

    id: ClassVar[str] = "s08_repr"
    title: ClassVar[str] = "characters of repr (s08)"
    of: ClassVar[Literal["tokens", "characters"]] = "characters"

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        if NO_CONTENT in block.flags:
            return 0
        return sizes.repr if shape == "text" else _repr_frame(block) + _repr_of(block, sizes)

    def raw_block(self, raw: object) -> int | None:
        return len(repr(raw))

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        around = MESSAGE + len(role) if raw is None else _repr_around(raw, shape)
        return around if shape != "blocks" else around + 2 * max(1, sum(NO_CONTENT not in block.flags for block in blocks))

    def view(self, messages: int) -> int:
        return 2 * max(1, messages)  # two brackets, and ", " between two messages


class Course09Chars4(_Unit):
    """A quarter of the characters of texts and results, rounded up; 4 for a message. Calls and reasoning are free."""

    id: ClassVar[str] = "course09_chars4"
    title: ClassVar[str] = "chars/4 (course09)"

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        return 0 if block.kind in ("tool_use", "thinking") else _quarter(sizes.chars)

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        return COURSE09_MESSAGE


class DshUtf16(_Unit):
    """A quarter of the UTF-16 units, rounded up; 4 for a block, for a block in a result, and for a message."""

    id: ClassVar[str] = "dsh_utf16"
    title: ClassVar[str] = "UTF-16/4 (dsh)"

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        if NO_CONTENT in block.flags:
            return 0
        if block.kind == "tool_use":
            name = block.tool_name or ""
            return _quarter(len(name.encode("utf-16-le")) // 2) + _quarter(sizes.utf16) + DSH_BLOCK
        if block.kind in ("text", "thinking"):
            return _quarter(sizes.utf16) + DSH_BLOCK
        if block.kind == "tool_result":
            return _quarter(sizes.utf16) + DSH_BLOCK + DSH_BLOCK
        compact = _plain_frame(block) - 3 + sizes.json + sizes.utf16 - sizes.chars
        return _quarter(compact) + DSH_BLOCK

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        empty = role == "assistant" and all(NO_CONTENT in block.flags for block in blocks)
        return 0 if empty else DSH_MESSAGE


class Exact(_Unit):
    """The exact count of each text under the session's public tokenizer; nothing for what is around it."""

    id: ClassVar[str] = "exact"
    title: ClassVar[str] = "exact tokens"

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        return tokens


class Estimate(_Unit):
    """Estimated prompt tokens (≈) with the constants of a model family."""

    id: ClassVar[str] = "estimate"
    title: ClassVar[str] = "≈ tokens"

    def __init__(self, constants: Constants = PLAIN) -> None:
        self.constants = constants

    def block(self, block: Block, sizes: TextSizes, tokens: int, shape: Shape) -> int:
        return 0 if NO_CONTENT in block.flags else block_estimate(self.constants, block, tokens)

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None) -> int:
        return self.constants.per_message


UNITS: tuple[Unit, ...] = (S14Chars4(), S08Repr(), Course09Chars4(), DshUtf16(), Exact(), Estimate())


def unit_named(unit_id: str) -> Unit:
    """The unit with this id; LimitError where there is none."""
    for unit in UNITS:
        if unit.id == unit_id:
            return unit
    raise LimitError(f"there is no unit {unit_id[:80]!r}: use one of {', '.join(unit.id for unit in UNITS)}", field="unit")


def _quarter(length: int) -> int:
    return -(-length // CHARS_A_TOKEN)


def _json_frame(block: Block) -> int:
    if block.kind == "tool_use":
        return TOOL_USE + word_sizes(block.tool_id or "")[0] + word_sizes(block.tool_name or "")[0]
    if block.kind == "tool_result":
        return TOOL_RESULT + word_sizes(block.tool_id or "")[0] + (IS_ERROR if block.is_error else 0)
    return _plain_frame(block)


def _repr_frame(block: Block) -> int:
    if block.kind == "tool_use":
        return TOOL_USE + word_sizes(block.tool_id or "")[1] + word_sizes(block.tool_name or "")[1]
    if block.kind == "tool_result":
        return TOOL_RESULT + word_sizes(block.tool_id or "")[1] + (IS_ERROR if block.is_error else 0)
    return _plain_frame(block)


def _plain_frame(block: Block) -> int:
    if block.kind == "text":
        return TEXT
    if block.kind == "compaction":
        return COMPACTION
    return THINKING if block.kind == "thinking" else OTHER + len(block.kind)


def _json_of(block: Block, sizes: TextSizes) -> int:
    return sizes.object_json if block.kind == "tool_use" and sizes.object_json is not None else sizes.json


def _repr_of(block: Block, sizes: TextSizes) -> int:
    return sizes.object_repr if block.kind == "tool_use" and sizes.object_repr is not None else sizes.repr


def _repr_around(raw: Mapping[str, object], shape: Shape) -> int:
    """The repr of a message without that of its content; of a list, without its brackets too."""
    if shape == "absent":
        return len(repr(dict(raw)))
    empty: object = "" if shape == "text" else []
    return len(repr({**raw, "content": empty})) - 2
