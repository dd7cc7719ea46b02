"""The benchmarks run and tell figures of a known shape. How large the figures are is no matter of a test."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bench import Bench
from benchmarks.cases import CASES
from benchmarks.files import grown_file
from benchmarks.measure import BenchFailed
from benchmarks.peers import PEERS, why_skipped
from benchmarks.rows import Row, table
from benchmarks.run import measure
from benchmarks.session import session_write
from tests.program import Program
from tests.shared import REPO

pytestmark = pytest.mark.nodb
DOCUMENT = (REPO / "docs" / "benchmarks.md").read_text(encoding="utf-8")
ROW_KEYS = {"case", "what", "figure", "unit", "beside", "beside_figure", "ratio", "mark", "reached"}


def bench(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = Program(home=home).environment()
    command = [sys.executable, "-m", "benchmarks.run", *arguments]
    return subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_every_case_gives_positive_figures_and_leaves_only_its_json(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    ended = bench(tmp_path / "home", "--size", "0.2", "--reps", "1", "--requests", "1", "--json", str(out))
    assert ended.returncode == 0, ended.stderr
    told: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    assert set(told) == {"machine", "reps", "requests", "session", "rates", "skipped", "failed", "rows"}
    assert [row["case"] for row in told["rows"]] == sorted((row["case"] for row in told["rows"]), key=list(CASES).index)
    assert {row["case"] for row in told["rows"]} == set(CASES)
    assert all(set(row) == ROW_KEYS and row["figure"] > 0 for row in told["rows"])
    assert all(rate > 0 for rate in told["rates"].values())
    assert told["session"]["bytes"] >= 200_000
    assert all(row["what"] in ended.stdout for row in told["rows"])
    assert len(told["skipped"]) == len(PEERS)
    assert list((tmp_path / "home" / "bench").iterdir()) == []


def test_a_case_that_fails_is_told_of_and_the_figures_of_the_others_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(bench: Bench) -> Iterator[Row]:
        raise BenchFailed("the page answered 500")

    def stands(bench: Bench) -> Iterator[Row]:
        yield Row(case="view", what="page", figure=1.5, unit="ms")

    monkeypatch.setitem(CASES, "pages", fails)
    monkeypatch.setitem(CASES, "view", stands)
    told = measure(Bench(work=tmp_path, size=100_000, reps=1, requests=1), ["pages", "view"])
    assert told["failed"] == {"pages": "the page answered 500"}
    assert [row["case"] for row in told["rows"]] == ["view"]
    assert "pages failed: the page answered 500" in capsys.readouterr().err


def test_an_unknown_case_is_refused_by_name(tmp_path: Path) -> None:
    ended = bench(tmp_path / "home", "--only", "import,replays")
    assert ended.returncode == 2
    assert "there is no case replays: choose from import,again" in ended.stderr


def test_a_session_is_the_same_bytes_each_time_and_the_grown_one_goes_on_with_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    counts = [session_write(file=file, seed=1, size=300_000, more=50_000, long=0.05) for file in (first, second)]
    assert counts[0] == counts[1]
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size == counts[0].bytes
    records = [json.loads(line) for line in first.read_bytes().splitlines()]
    assert len(records) == counts[0].lines
    assert len({record["message"]["id"] for record in records if record["type"] == "assistant"}) == counts[0].calls
    grown = grown_file(first).read_bytes()
    assert grown.startswith(first.read_bytes())
    assert len(grown) >= counts[0].bytes + 50_000


def test_a_peer_that_is_missing_or_would_take_too_much_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    bounded = next(peer for peer in PEERS if peer.most_bytes is not None)
    assert why_skipped(tmp_path, bounded, 1) == f"{bounded.name} is not installed in {tmp_path}: left out"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / bounded.name).touch()
    most = bounded.most_bytes or 0
    assert why_skipped(tmp_path, bounded, most) is None
    assert "is not given more than" in (why_skipped(tmp_path, bounded, most + 1) or "")


@pytest.mark.parametrize(("figure", "beside", "reached"), [(13.0, 10.0, True), (13.1, 10.0, False), (1.3, None, True), (1.4, None, False)])
def test_a_mark_is_of_the_ratio_where_there_is_one_else_of_the_figure(figure: float, beside: float | None, reached: bool) -> None:
    row = Row(case="import", what="CPU", figure=figure, unit="s", beside="floor", beside_figure=beside, mark=1.3)
    assert row.reached is reached
    assert ("reached" if reached else "missed") in table([row])


def test_the_document_names_every_case_and_peer() -> None:
    missing = [name for name in (*CASES, *(peer.name for peer in PEERS)) if f"`{name}`" not in DOCUMENT]
    assert missing == []
