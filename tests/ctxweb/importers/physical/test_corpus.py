"""The shared corpus of real files: as many records as were counted in each, and not a byte lost."""

import hashlib
import json
from typing import Any

import pytest

from ctxweb.importers.physical import document_records, open_stream, read_head, read_records, record_spans
from tests.ctxweb.importers.physical.sources import LIMITS, looks_like_record
from tests.shared import SHARED, needs_shared

pytestmark = [pytest.mark.nodb, needs_shared]

CORPUS = SHARED / "corpus"
MAIN_ARRAYS = {
    "cline": "messages",
    "gemini_cli": "messages",
    "langfuse": "observations",
    "opencode": "messages",
    "swe_agent": "trajectory",
}


def _index() -> list[dict[str, Any]]:
    if not SHARED.is_dir():
        return []
    entries = map(json.loads, (CORPUS / "index.jsonl").read_text().splitlines())
    return [entry for entry in entries if "records" in entry["expected"] and entry["format"] != "inspect"]


@pytest.mark.parametrize("entry", _index(), ids=lambda entry: entry["file"])
def test_a_real_file_gives_the_records_that_were_counted(entry: dict[str, Any]) -> None:
    (member,) = open_stream(CORPUS / entry["file"], limits=LIMITS).members
    layout = read_head(member.open, limits=LIMITS).layout
    with member.open() as stream:
        if layout == "document" and entry["format"] in MAIN_ARRAYS:
            records = list(document_records(stream, (MAIN_ARRAYS[entry["format"]],), limits=LIMITS))
        else:
            records = list(read_records(stream, limits=LIMITS, layout=layout, looks_like_record=looks_like_record))
    assert len(records) == entry["expected"]["records"]
    wanted = entry["expected"].get("verdicts", {})
    assert {verdict: sum(record.verdict == verdict for record in records) for verdict in wanted if verdict != "duplicate"} == {
        verdict: count for verdict, count in wanted.items() if verdict != "duplicate"
    }
    with member.open() as stream:
        data = stream.read()
    digest = hashlib.sha256()
    for span in record_spans(records, total=len(data)):
        digest.update(data[span.offset : span.offset + span.length])
    assert digest.digest() == hashlib.sha256(data).digest()
