"""Texts that are pointers, and what is nearly one: each has a status, and none an exception. A million with CTXWEB_STRESS=full."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compaction.sources.resolution import REASONS, STATUSES
from tests.compaction.source_trees import resolver

pytestmark = pytest.mark.nodb
FUZZED = 1_000_000 if os.environ.get("CTXWEB_STRESS") == "full" else 30_000


def fuzzed(seed: int, count: int) -> Iterator[str]:
    """Pointers and what is nearly one: parts that fit, parts that do not, cut, doubled, turned and strewn with odd characters."""
    chance = random.Random(seed)
    odd = ["\0", "\n", "\u2028", "\ud800", "/", "..", ".", "%2e", ":", "²", "１", "\u202e", " ", "~", "\\", "é", "\x7f", "9" * 5000, "-1"]
    good = ["transcript", "artifact", "memory", "s", "a.b_c-d", "f.txt", "1", "007", "a" * 12, "A1" * 32, "b" * 200, ""]
    for _ in range(count):
        parts = [chance.choice(good if chance.random() < 0.8 else odd) for _ in range(chance.choice((1, 2, 3, 3, 3, 4, 4, 4, 5)))]
        if chance.random() < 0.7:
            parts[0] = chance.choice(("transcript", "artifact"))
        text = ":".join(parts)
        if chance.random() < 0.3:
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice((*odd, chr(chance.randrange(sys.maxunicode + 1)))) + text[place + chance.randrange(2) :]
        yield text


def test_every_fuzzed_text_has_one_of_five_statuses_and_no_exception(tmp_path: Path) -> None:
    for name in ("transcripts", "artifacts"):
        (tmp_path / name).mkdir()
    statuses = set()
    with resolver(tmp_path) as made:
        for pointer in fuzzed(20261130, FUZZED):
            answer = made.resolve(pointer)
            assert answer.status in STATUSES
            assert answer.reason in REASONS
            assert (answer.evidence_sha256 is None) == (answer.status != "available")
            statuses.add(answer.status)
    assert statuses == {"missing", "corrupt", "unsupported"}
