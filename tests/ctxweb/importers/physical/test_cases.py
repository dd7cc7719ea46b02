"""The shared cases of malformed input and of public bug reports, as far as they are about bytes."""

import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxweb.importers.physical import EmptySource, Head, RawRecord, open_stream, read_head, read_records, record_spans
from tests.ctxweb.importers.physical.sources import LIMITS, looks_like_record
from tests.shared import SHARED, needs_shared

pytestmark = [pytest.mark.nodb, needs_shared]

CASES = SHARED / "cases"
BY_FORMAT = {"ok", "unknown_type", "duplicate"}
"""Verdicts that a format gives; all others, and the sum of these, are decided by the bytes."""


def _index() -> dict[str, dict[str, Any]]:
    if not SHARED.is_dir():
        return {}
    entries = map(json.loads, (CASES / "index.jsonl").read_text().splitlines())
    return {entry["id"]: entry for entry in entries if entry["area"] in ("import", "bugs")}


INDEX = _index()


def _of_one_source(entry: dict[str, Any]) -> bool:
    sessions = (entry.get("expected") or {}).get("sessions", [])
    return len(sessions) == 1 and "verdicts" in sessions[0]


OF_ONE_SOURCE = [id for id, entry in INDEX.items() if _of_one_source(entry)]


def build(id: str, folder: Path) -> Path:
    spec = importlib.util.spec_from_file_location("build_case", CASES / "build_case.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Path(module.build(INDEX[id], folder))


def read_case(id: str, folder: Path) -> tuple[Head, list[RawRecord], bytes]:
    (member,) = open_stream(build(id, folder), limits=LIMITS).members
    head = read_head(member.open, limits=LIMITS)
    with member.open() as stream:
        data = stream.read()
    with member.open() as stream:
        return head, list(read_records(stream, limits=LIMITS, layout=head.layout, looks_like_record=looks_like_record)), data


@pytest.mark.parametrize("id", OF_ONE_SOURCE)
def test_every_record_gets_the_verdict_that_its_case_expects(id: str, tmp_path: Path) -> None:
    expected = INDEX[id]["expected"]["sessions"][0]
    _, records, data = read_case(id, tmp_path)
    physical = Counter(record.verdict for record in records)
    judged_by_format = physical.pop(None, 0)
    wanted = {verdict: count for verdict, count in expected["verdicts"].items() if not BY_FORMAT & set(verdict.split("+"))}
    assert physical == wanted
    assert len(records) == expected.get("records", len(records))
    assert judged_by_format == len(records) - sum(wanted.values())
    spans = record_spans(records, total=len(data))
    assert b"".join(data[span.offset : span.offset + span.length] for span in spans) == data


@pytest.mark.parametrize("id", [id for id in INDEX if id.startswith("import-nothing-usable")])
def test_a_source_of_nothing_is_empty_or_shows_what_it_begins_with(id: str, tmp_path: Path) -> None:
    try:
        head, _, data = read_case(id, tmp_path)
    except EmptySource as error:
        assert "Choose the session file itself" in str(error)  # noqa: PT017 whether there is an error depends on the case
        return
    assert head.preview.startswith(data[:7].decode())


def test_every_physical_verdict_occurs_in_the_cases() -> None:
    verdicts = {verdict for id in OF_ONE_SOURCE for verdict in INDEX[id]["expected"]["sessions"][0]["verdicts"]}
    assert {
        "blank",
        "invalid_json",
        "nul_padding",
        "oversize",
        "too_deep",
        "truncated_tail",
        "invalid_utf8",
        "recovered_splice",
    } <= verdicts


def only(records: list[RawRecord], verdict: str) -> RawRecord:
    (record,) = [record for record in records if record.verdict == verdict]
    return record


@pytest.mark.parametrize("id", [id for id in INDEX if id.startswith(("import-splice-", "bugs-21-torn-lines-12cd")) and "decoy" not in id])
def test_the_record_behind_a_tear_is_found_at_its_byte_and_the_fragment_is_kept(id: str, tmp_path: Path) -> None:
    _, records, data = read_case(id, tmp_path)
    torn, recovered = only(records, "invalid_json"), only(records, "recovered_splice")
    assert torn.line == recovered.line
    assert torn.offset + torn.length == recovered.offset
    assert json.loads(data[recovered.offset : recovered.offset + recovered.length]) == recovered.value


@pytest.mark.parametrize("id", [id for id in INDEX if id.startswith(("import-lone-surrogate", "import-invalid-utf8"))])
def test_what_was_no_text_is_visible_and_flagged(id: str, tmp_path: Path) -> None:
    _, records, _ = read_case(id, tmp_path)
    (lossy,) = [record for record in records if "lossy_text" in record.flags]
    text = json.dumps(lossy.value, ensure_ascii=False)
    assert "\ufffd" in text
    text.encode()


@pytest.mark.parametrize("id", [id for id in INDEX if id.startswith(("import-huge-integers", "import-non-finite"))])
def test_an_impossible_number_is_flagged_and_no_number(id: str, tmp_path: Path) -> None:
    _, records, _ = read_case(id, tmp_path)
    flagged = [record for record in records if {"big_integer", "non_finite"} & set(record.flags)]
    assert flagged
    assert all(isinstance(value, str) for record in flagged for value in _figures(record.value) if not isinstance(value, int))


def _figures(record: Any) -> list[Any]:
    return [value for value in record["message"]["usage"].values() if not isinstance(value, dict)]


@needs_shared
def test_side_records_before_the_first_message_do_not_hide_it_from_the_head(tmp_path: Path) -> None:
    head, _, _ = read_case("import-late-detection-1071", tmp_path)
    assert any(value.get("type") == "user" for value in head.values)


@pytest.mark.parametrize("id", [id for id in INDEX if id.startswith("bugs-22-encodings")])
def test_the_encoding_of_a_source_does_not_matter(id: str, tmp_path: Path) -> None:
    _, records, _ = read_case(id, tmp_path)
    assert all(record.flags == () and isinstance(record.value, dict) for record in records)
