"""Whether the fast counter may be trusted: toktok compared with tiktoken, which defines a right count.

The comparison loads both, 250 MB for one encoding, so it runs once for each pair of versions in a short process:

    python -m compaction.counters.agreement o200k_base      # prints the Agreement as JSON

What it said of the locked versions is written down in `RECORDED`; `agrees` compares toktok with that, and loads it alone.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from functools import cache

from compaction.counters.bpe import encoder, toktok_counts, versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Whether toktok counts like tiktoken under one encoding, for which versions that was seen, and a digest of its counts."""

    encoding: str
    holds: bool
    tiktoken: str
    toktok: str | None
    reason: str = ""
    counts: str = ""


RECORDED: dict[str, tuple[str, str, str]] = {
    # encoding: tiktoken, toktok-rs, digest of the counts on which both agreed
    "o200k_base": ("0.14.0", "0.3.0", "3810c9640728f9a415501f237f3097724cd5aad12fbc5661ed73ca11d4beb921"),
    "cl100k_base": ("0.14.0", "0.3.0", "8db5cdf98be92dcaf490ba0d3bfb4d58fa43b6978d64b065b42599b5498771b4"),
}


@cache
def agrees(encoding: str) -> bool:
    """Whether toktok of this process, in the recorded version, still counts the check texts as both counters did."""
    tiktoken_version, toktok_version, counts = RECORDED.get(encoding, ("", "", ""))
    return versions() == (tiktoken_version, toktok_version) and _digest(toktok_counts(_check_texts(), encoding)) == counts


def self_check(encoding: str) -> Agreement:
    """Compare both counters on texts of many kinds. Loads both: run it in a process of its own and keep what it says."""
    tiktoken_version, toktok = versions()
    if toktok is None:
        return Agreement(encoding=encoding, holds=False, tiktoken=tiktoken_version, toktok=None, reason="toktok-rs is not installed")
    texts = _check_texts()
    counts = toktok_counts(texts, encoding)
    wrong = [number for number, (text, fast) in enumerate(zip(texts, counts, strict=True), start=1) if len(encoder(encoding)(text)) != fast]
    reason = f"{len(wrong)} of {len(texts)} texts differ, the first is number {wrong[0]}" if wrong else ""
    return Agreement(encoding=encoding, holds=not wrong, tiktoken=tiktoken_version, toktok=toktok, reason=reason, counts=_digest(counts))


def _digest(counts: list[int]) -> str:
    return hashlib.sha256(json.dumps(counts).encode()).hexdigest()


def _check_texts() -> list[str]:
    """Texts of many kinds, made here: code, JSON, prose, Chinese, emoji, marks, directions, blanks, special tokens."""
    seeds = (
        "def view(call: int) -> list[str]:\n    return [f'{call:>5}' for _ in range(call)]\n",
        '{"id": "toolu_01", "input": {"path": "/srv/a b/ü.txt", "limit": 2000, "ratio": -1.5e-7}, "ok": [true, null]}\n',
        "It's what they'd've SAID; you'll see: naïve café, Ωμέγα, Привет, 12345678 × 0.5 — «done»…\n",
        "压缩之后，模型还记得什么？第１２３页，价格￥4,500。\n日本語のテキスト、한국어 문장입니다.\n",
        "👩‍👩‍👧‍👦👍🏽🇩🇪 e\u0301a\u0308 \u202eabc\u202c \u200b\ufeff ﷽ नमस्ते ก็ตาม\n",
        "<|endoftext|><|fim_prefix|><|endofprompt|><|im_start|>user\n",
        "\r\n\t  \n\n   \x00\x07 \u00a0\u2003\u3000 x\n",
        "0123456789abcdefABCDEF+/=" * 8,
    )
    repeated = [seed * times for seed in seeds for times in (1, 3, 40)]
    mixed = [first[: 7 + shift] + second[shift:] for shift, first in enumerate(seeds) for second in seeds]
    return ["", " " * 5000, " " * 5000 + "x", "a" * 5000, "\n" * 5000, *repeated, *mixed]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(self_check(sys.argv[1]))) + "\n")
