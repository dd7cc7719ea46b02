"""How a text becomes words for the full-text index, and a question the same words.

Chinese, Japanese and Korean have no spaces, so a run of their characters becomes its overlapping pairs; identifiers are
cut where a capital follows a small letter or a digit, and at `_` by the index's own tokenizer. Both sides
use the same cut, so a question finds a text where its words stand side by side.
"""

from __future__ import annotations

import re
from operator import add

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_WORD = re.compile(r"[^\W_]+")


def segmented(text: str) -> str:
    """`text` with spaces between the words that an index is to tell apart."""
    parted = _CAMEL.sub(_parted, text)
    return parted if parted.isascii() else _CJK_RUN.sub(_pairs, parted)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a question in lower case, in order."""
    return tuple(_WORD.findall(segmented(text).lower()))


def _parted(match: re.Match[str]) -> str:
    return " ".join(match.group())


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return f" {' '.join(map(add, run, run[1:]))} "
