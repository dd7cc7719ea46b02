"""The difference of two made checkpoints beside a difference of all their words.

    python -m benchmarks.diff REPS

prints a JSON object: lines of each text, the CPU seconds of the difference (a median), and at fewer lines those of both ways.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import sys
from collections.abc import Callable
from difflib import SequenceMatcher

from benchmarks.replay import cpu_s
from compaction.checkpoint_diff import diff_checkpoints

LINES, FEW_LINES = 1_500, 300  # with the few, a difference of all words takes a second
SECTION_LINES = 160
CHANGED, GONE, COME = 0.15, 0.05, 0.05  # shares of the lines
FAST_REPS = 5
WORDS = "the queue retries parser database summary adapter route import export never always port config file test build line".split()  # noqa: SIM905


def made(lines: int, seed: int = 5) -> tuple[str, str]:
    """Two checkpoints of so many lines: some lines gone, some new, some with two other words, the last section moved to the front."""
    chance = random.Random(seed)
    old = [_line(chance) if place % SECTION_LINES else f"## Section {place // SECTION_LINES}" for place in range(lines)]
    new: list[str] = []
    for line in old:
        drawn = 1.0 if line.startswith("##") else chance.random()
        if drawn < CHANGED:
            words = line.split(" ")
            words[chance.randrange(1, len(words))] = words[chance.randrange(1, len(words))] = "other"
            new.append(" ".join(words))
        elif drawn >= CHANGED + GONE:
            new.append(line)
        if CHANGED + GONE <= drawn < CHANGED + GONE + COME:
            new.append(_line(chance))
    last = max(place for place, line in enumerate(new) if line.startswith("##"))
    return "\n".join(old), "\n".join([*new[last:], *new[:last]])


def by_words(old: str, new: str) -> int:
    """What a user would write first: every word beside every word."""
    ours, theirs = (re.findall(r"\w+|\s+|.", text) for text in (old, new))
    return len(SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes())


def told(reps: int) -> dict[str, float]:
    """The figures."""
    whole, few = made(LINES), made(FEW_LINES)
    return {
        "lines": LINES,
        "few_lines": FEW_LINES,
        "diff_s": _median(lambda: diff_checkpoints(*whole), reps * FAST_REPS),
        "few_diff_s": _median(lambda: diff_checkpoints(*few), reps * FAST_REPS),
        "few_words_s": _median(lambda: by_words(*few), 1),
    }


def _median(work: Callable[[], object], reps: int) -> float:
    return statistics.median(cpu_s(work)[0] for _ in range(reps))


def _line(chance: random.Random) -> str:
    return "- " + " ".join(f"{chance.choice(WORDS)}{chance.randrange(30)}" for _ in range(12))


if __name__ == "__main__":
    print(json.dumps(told(int(sys.argv[1]))))
