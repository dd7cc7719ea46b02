"""A Claude Code session of a wanted size, made by the writer of the demo sessions from a seed.

    python -m benchmarks.session FILE SEED BYTES MORE LONG

writes FILE, writes beside it FILE with MORE bytes appended (`grown_file`), and prints the `Written` of FILE as JSON.
Like long sessions that were looked at, it has a call about every 8 KB, 3.2 lines a call, of which those of one call share
a message id, about a third of its text in Chinese, and a summary whenever the prompt has grown to 150,000 tokens.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.files import grown_file
from benchmarks.prose import chinese, english
from ctxweb.demo.script import Script
from ctxweb.demo.texts import listing, source_file, test_log

PROMPT_TOKENS = 150_000
TURN_CALLS = 12  # calls between two things that the user says
NEEDLE_CALLS = 100  # a call in so many has the needle in its result
NEEDLE = "replayWindowGuard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a file holds. `messages` counts the lines of one call as one."""

    bytes: int
    lines: int
    messages: int
    calls: int
    compactions: int


class Session:
    """The session while it is written; lines leave the memory after each call. `long` is the share of long results."""

    def __init__(self, out: BinaryIO, seed: int, long: float) -> None:
        self.out = out
        self.long = long
        self.script = Script(seed=seed, count=quarter, hidden=16_000)
        self.chance = random.Random(seed)
        self.bytes = self.lines = self.calls = self.turns = self.compactions = 0

    def write_until(self, size: int) -> Written:
        while self.bytes < size:
            self._say()
            self._call()
            self._flush()
        messages = 2 * self.calls + self.turns + self.compactions
        return Written(bytes=self.bytes, lines=self.lines, messages=messages, calls=self.calls, compactions=self.compactions)

    def _say(self) -> None:
        if sum(self.script.prompt.values()) > PROMPT_TOKENS:
            self.script.compact(self._prose(5_000), trigger="auto", attached=0)
            self.compactions += 1
        if self.calls % TURN_CALLS == 0:
            self.script.user(self._prose(300))
            self.turns += 1

    def _call(self) -> None:
        before: list[dict[str, Any]] = []
        if self.chance.random() < 0.6:
            before.append(self.script.think(self._prose(350)))
        if self.chance.random() < 0.6:
            before.append(self.script.say(self._prose(400)))
        self.calls += 1
        number = self.calls
        if self.chance.random() < 0.4:
            content = source_file(number, self.chance.randrange(2, 9))
            self.script.step("Write", "The file has been written.", *before, file_path=f"/home/ana/shop/part_{number}.py", content=content)
        else:
            self.script.step("Read", self._output(number), *before, file_path=f"/home/ana/shop/part_{number % 400}.py")

    def _output(self, number: int) -> str:
        scale = 8 if self.chance.random() < self.long else 1
        if number % NEEDLE_CALLS == 1:
            return f"{source_file(number, 3)}\n    {NEEDLE}({number})"
        made = (
            lambda: source_file(number, scale * self.chance.randrange(2, 12)),
            lambda: chinese(self.chance, scale * self.chance.randrange(500, 4_000)),
            lambda: test_log(number, scale * self.chance.randrange(10, 70)),
            lambda: listing(number, scale * self.chance.randrange(20, 90)),
        )
        return self.chance.choice(made)()

    def _prose(self, chars: int) -> str:
        return chinese(self.chance, chars // 2) if self.chance.random() < 0.5 else english(self.chance, chars)

    def _flush(self) -> None:
        for record in self.script.records:
            self.bytes += self.out.write(record + b"\n")
        self.lines += len(self.script.records)
        self.script.records.clear()


def quarter(text: str) -> int:
    """A token figure good enough for what the session reports: nothing here depends on a tokenizer."""
    return len(text.encode()) // 4


def session_write(*, file: Path, seed: int, size: int, more: int, long: float) -> Written:
    """Write both files; what the grown one has more is what the session went on with."""
    with file.open("wb") as out:
        session = Session(out, seed, long)
        written = session.write_until(size)
    with grown_file(file).open("wb") as out:
        out.write(file.read_bytes())
        session.out = out
        session.write_until(written.bytes + more)
    return written


if __name__ == "__main__":
    made = session_write(
        file=Path(sys.argv[1]), seed=int(sys.argv[2]), size=int(sys.argv[3]), more=int(sys.argv[4]), long=float(sys.argv[5])
    )
    print(json.dumps(asdict(made)))
