"""The worked example of docs/adding.md does what the page says, and the pages name every format."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import ctxweb.importers
from ctxweb.importers import IMPORTERS, recognise
from ctxweb.importers.base import Importer
from tests.ctxweb.importers.readings import head_of, read
from tests.shared import REPO

ADDING = (REPO / "docs" / "adding.md").read_text()
MESSAGE_LIST = (REPO / "docs" / "message_list.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


@pytest.fixture
def teletype(tmp_path: Path) -> ModuleType:
    """The file of the example, as a module."""
    path = tmp_path / "teletype.py"
    path.write_text(blocks(ADDING, "python")[0])
    spec = importlib.util.spec_from_file_location("teletype", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_format_is_one_file_and_one_line(teletype: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    log = blocks(ADDING, "jsonl")[0].encode()
    assert recognise(head_of(log)) is None
    assert blocks(ADDING, "python")[1].strip() == "teletype.IMPORTER,"
    monkeypatch.setattr(ctxweb.importers, "IMPORTERS", (*IMPORTERS, teletype.IMPORTER))
    importer = recognise(head_of(log))
    assert importer is not None
    assert importer.id == "teletype"
    source = read(importer, log)
    assert dict(source.verdicts) == {"ok": 5}
    assert (source.only.view(1), source.only.view(2)) == (["Which port?"], ["And now?"])
    assert [(one.compaction.mechanism, one.edits) for one in source.only.listed] == [("sliding_window", 2)]
    assert source.only.usage("input_tokens") == 65


def test_the_example_passes_the_house_rules_of_the_linter(teletype: ModuleType) -> None:
    assert teletype.__doc__
    assert max(map(len, blocks(ADDING, "python")[0].splitlines())) <= 140


def test_every_format_stands_in_the_docs() -> None:
    assert [importer.id for importer in IMPORTERS if f"| `{importer.id}` |" not in ADDING] == []


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.id)
def test_every_importer_keeps_the_contract(importer: Importer) -> None:
    assert re.fullmatch(r"[a-z_]+", importer.id)
    assert importer.title
    assert importer.sniff(head_of(b'{"hello": "world"}')) == 0.0
    assert importer.looks_like_record({"hello": "world"}) is False
    assert [event for lane in importer.reader().lanes() for event in lane.events] == []


def test_the_small_file_of_the_message_list_page_is_read_as_the_page_says() -> None:
    importer = next(importer for importer in IMPORTERS if importer.id == "message_list")
    small = blocks(MESSAGE_LIST, "jsonl")[1].encode()
    reading = read(importer, small).only
    assert reading.view(1) == ["Fix the test"]
    assert reading.view(2) == ["The test was read."]
    assert (reading.lane.title, reading.usage("cache_read_tokens")) == ("A fix", 800)
