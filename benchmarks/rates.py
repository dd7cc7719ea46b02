"""What this machine allows on one thread, measured on the session itself: `python -m benchmarks.rates FILE` prints JSON."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from compaction.counters.bpe import toktok_counts

SAMPLE_BYTES = 20_000_000  # more of the file would say the same
RUNS = 3
ENCODING = "o200k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """MB (10⁶ bytes) a CPU second, each the best of three runs; `text_share` is distinct text by bytes of the file."""

    text_share: float
    read: float
    orjson: float
    sha256: float
    sqlite: float
    full_text: float
    toktok: float

    def floor_s(self, size: int) -> float:
        """CPU seconds that `size` bytes cost at least: all read, hashed and parsed; their texts stored, indexed and counted."""
        text = self.text_share * (1 / self.sqlite + 1 / self.full_text + 1 / self.toktok)
        return size / 1e6 * (1 / self.read + 1 / self.sha256 + 1 / self.orjson + text)


def rates_of(file: Path) -> Rates:
    with file.open("rb") as stream:
        lines = stream.readlines(SAMPLE_BYTES)
    data = b"".join(lines)
    texts = sorted({text for line in lines for text in texts_of(orjson.loads(line))})
    text_bytes = sum(len(text.encode()) for text in texts)
    toktok_counts(texts[:1], ENCODING)  # loads the ranks
    return Rates(
        text_share=text_bytes / len(data),
        read=rate(lambda: read(file, len(data)), len(data)),
        orjson=rate(lambda: [orjson.loads(line) for line in lines], len(data)),
        sha256=rate(lambda: hashlib.sha256(data), len(data)),
        sqlite=rate(lambda: insert(texts, "CREATE TABLE body (id INTEGER PRIMARY KEY, text TEXT)"), text_bytes),
        full_text=rate(lambda: insert(texts, "CREATE VIRTUAL TABLE body USING fts5(text, content='')"), text_bytes),
        toktok=rate(lambda: toktok_counts(texts, ENCODING), text_bytes),
    )


def texts_of(record: dict[str, Any]) -> Iterator[str]:
    """The texts of a line: its content, block by block."""
    content = record["message"]["content"] if "message" in record else ""
    for block in [{"text": content}] if isinstance(content, str) else content:
        yield (
            next(block[key] for key in ("text", "thinking", "content") if key in block)
            if "input" not in block
            else json.dumps(block["input"])
        )


def read(file: Path, size: int) -> None:
    with file.open("rb") as stream:
        stream.read(size)


def insert(texts: list[str], table: str) -> None:
    with tempfile.NamedTemporaryFile(suffix=".sqlite3") as file:
        database = sqlite3.connect(file.name)
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(table)
        name = "rowid" if "VIRTUAL" in table else "id"
        database.executemany(f"INSERT INTO body ({name}, text) VALUES (?, ?)", enumerate(texts, start=1))
        database.commit()
        database.close()


def rate(work: Callable[[], object], size: int) -> float:
    return size / 1e6 / min(seconds(work) for _ in range(RUNS))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(asdict(rates_of(Path(sys.argv[1])))))
