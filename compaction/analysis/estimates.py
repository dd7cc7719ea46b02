"""What a block costs in a prompt (≈ tokens): a public count times a factor, and a surcharge for its wrapping.

The constants were fitted on recorded usage, by model family, and are shown wherever an estimate is. An estimate is
never exact: a block is off by about a tenth, depending on its content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compaction.messages import Block, Body, Message
from compaction.transcript import Edit

CHARS_A_TOKEN = 4  # for a text whose count is not known
UNKNOWN_PLACEHOLDER_TOKENS = 8  # a cleared result whose new text the log does not tell

_CLAUDE_CODE = "35 Claude Code sessions, 4,438 calls, 30 of the sessions from one Go repository; L1 regression on growth from call to call"
_TWO_IMAGES = "two images only: +1,474 and +1,883 tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Constants of a model family. `family` is a part of the model's name; "" fits every model.

    A text costs `factor` × its count + `per_block`, and `per_message` more where it is the first block of its message.
    A block with a signature or encrypted content costs `signature_factor` × its characters + `thinking_block`: the
    visible text is a summary of another size. `thinking_text` says whether a thinking block without a signature is sent
    as its text. An image, or a document that is a file, costs a flat `per_media`.
    """

    family: str
    factor: float
    per_block: int
    per_message: int
    signature_factor: float
    thinking_block: int
    thinking_text: bool
    per_media: int
    provenance: str


PLAIN = Constants(
    family="",
    factor=1.0,
    per_block=0,
    per_message=11,
    signature_factor=0.055,
    thinking_block=0,
    thinking_text=True,
    per_media=1680,
    provenance=f"3 Codex sessions, 84 calls, a small sample; images: {_TWO_IMAGES}",
)

CONSTANTS: tuple[Constants, ...] = (
    Constants(
        family="opus-4-6",
        factor=1.12,
        per_block=35,
        per_message=0,
        signature_factor=0.197,
        thinking_block=17,
        thinking_text=False,
        per_media=1680,
        provenance=f"{_CLAUDE_CODE}; images: {_TWO_IMAGES}",
    ),
    Constants(
        family="claude",
        factor=1.12,
        per_block=17,
        per_message=0,
        signature_factor=0.197,
        thinking_block=17,
        thinking_text=False,
        per_media=1680,
        provenance=f"{_CLAUDE_CODE}; opus-4.5 and sonnet-4.5, assumed for other Claude models; images: {_TWO_IMAGES}",
    ),
    Constants(
        family="deepseek",
        factor=1.02,
        per_block=17,
        per_message=0,
        signature_factor=0.0,
        thinking_block=0,
        thinking_text=True,
        per_media=1680,
        provenance=f"3 mini-swe sessions with deepseek-chat; images: {_TWO_IMAGES}",
    ),
    PLAIN,
)


def constants_for(model: str | None, format_id: str = "") -> Constants:
    """The constants of a model's family. A session without a model is taken for the one that its format usually holds."""
    name = (model or "").lower().replace(".", "-")
    if not name and format_id == "claude_code":
        name = "claude"
    return next(constants for constants in CONSTANTS if constants.family in name)


class Estimator:
    """Sizes of blocks for the fold. `counts` maps the digest of a body to its count under the session's encoding."""

    __slots__ = ("_constants", "_counts")

    def __init__(self, constants: Constants, counts: Mapping[bytes, int]) -> None:
        self._constants = constants
        self._counts = counts

    @property
    def constants(self) -> Constants:
        """Those that this estimator prices with."""
        return self._constants

    def whole(self, message: Message, block: Block) -> int:
        """The block as logged, in prompt tokens (≈)."""
        first = self._constants.per_message if block.id.i == 1 else 0
        return first + self._size(block, block.body)

    def edited(self, block: Block, edit: Edit) -> int:
        """The block in the state that the edit gives it; `unit_tokens` where the source tells no new text."""
        first = self._constants.per_message if block.id.i == 1 else 0
        if edit.body is not None:
            return first + self._text(edit.body)
        return edit.unit_tokens if edit.unit_tokens is not None else UNKNOWN_PLACEHOLDER_TOKENS

    def _size(self, block: Block, body: Body) -> int:
        return block_estimate(self._constants, block, self._count(body))

    def _text(self, body: Body) -> int:
        return text_estimate(self._constants, self._count(body))

    def _count(self, body: Body) -> int:
        count = self._counts.get(body.digest)
        return -(-body.chars // CHARS_A_TOKEN) if count is None else count


def block_estimate(constants: Constants, block: Block, tokens: int) -> int:
    """A block whose text counts `tokens`, in prompt tokens (≈), without what its message costs."""
    if block.kind == "image" or (block.kind == "document" and block.media_bytes is not None):
        return constants.per_media + constants.per_block
    if block.signature_chars or (block.kind == "thinking" and not constants.thinking_text):
        return round(constants.signature_factor * block.signature_chars) + constants.thinking_block
    return text_estimate(constants, tokens) + constants.per_media * _inner_images(block)


def text_estimate(constants: Constants, tokens: int) -> int:
    """A text that counts `tokens`, with the wrapping of a block, in prompt tokens (≈)."""
    return round(constants.factor * tokens) + constants.per_block


def _inner_images(block: Block) -> int:
    """Images inside a tool result, which is one block; a flag `images:N` counts them."""
    return sum(int(flag.removeprefix("images:")) for flag in block.flags if flag.startswith("images:"))
