"""The pages over sessions that were really imported: raw bytes, sums that add up, views that others have counted."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from django.test import Client

from compaction.counters import bpe
from ctxweb.demo import DEMOS
from ctxweb.models import Session, Source
from ctxweb.services.session_import import session_import
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.django_db(transaction=True)
ORACLES = (
    # file of the corpus, call, distinct tool calls, results, cleared results (analysis.md 9)
    ("codemie-ai__codemie-code__conv-c3a574c5", 52, 64, 64, 0),
    ("entireio__cli__68-60e2316a8a-0", 35, 38, 38, 0),
)


def get(address: str) -> Any:
    response = Client().get(f"/api/v1{address}")
    assert response.status_code == 200, response.content
    return response.json()


def demo(name: str) -> tuple[Session, bytes]:
    made = next(demo for demo in DEMOS if name in demo.name)
    raw = made.make(lambda text: bpe.count_batch([text], "o200k_base")[0].tokens)
    session_import(stream=BytesIO(raw), name=made.name)
    return Session.objects.order_by("-call_count")[0], raw


def test_every_record_of_a_broken_file_is_listed_and_its_bytes_are_those_of_the_file() -> None:
    session, raw = demo("broken")
    records = get(f"/sessions/{session.public_id}/records")["records"]
    assert b"".join(raw[record["offset"] : record["end"]] for record in records) == raw
    assert sum(get(f"/sessions/{session.public_id}/report")["verdicts"].values()) == len(records)
    for record in records:
        address = f"/s/{session.public_id}/import/{record['number']}"
        download = Client().get(f"{address}?as=bytes")
        assert b"".join(download.streaming_content) == raw[record["offset"] : record["end"]]  # type: ignore[attr-defined]
        assert download.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert Client().get(address).status_code == 200
    text = Client().get(f"/s/{session.public_id}/import").content.decode()
    assert "The last record is cut off" in text
    assert all(f">{verdict}<" in text for verdict in {record["verdict"] for record in records} - {"ok"})


def test_a_record_whose_bytes_are_gone_says_so() -> None:
    session, _ = demo("broken")
    Source.objects.update(sha256="0" * 64)
    for address in ("", "?as=bytes"):
        text = Client().get(f"/s/{session.public_id}/import/1{address}").content.decode()
        assert "cannot be read" in text
        assert "restore them from a backup" in text


def test_records_between_messages_are_counted_where_they_stand() -> None:
    session, _ = demo("broken")
    text = Client().get(f"/s/{session.public_id}/messages").content.decode()
    assert "no message</a>" in text
    assert "not read" in text


def test_reported_sizes_of_each_compaction_add_up_exactly_with_the_change_in_unexplained() -> None:
    session, _ = demo("long")
    rows = get(f"/histories/{session.public_id}r")["compactions"]
    assert {row["mechanism"] for row in rows} >= {"summary", "clear_tool_result"}
    for row in rows:
        assert row["estimate_before"] - row["removed"] + row["added"] == row["estimate_after"]
        sizes = row["reported"]
        if sizes:
            assert sizes["before"] + sizes["entered"] - sizes["removed"] + sizes["added"] + sizes["change"] == sizes["after"]
    assert any(row["reported"] for row in rows)


def test_the_hidden_tokens_of_every_call_add_up_to_the_unexplained_ones() -> None:
    session, _ = demo("long")
    for n in range(1, session.call_count + 1, 5):
        view = get(f"/histories/{session.public_id}r/calls/{n}/view?limit=1")
        hidden = view["hidden"]
        parts = [hidden["before_log"], hidden["reattached"] or 0, hidden["drift"]]
        assert sum(parts) == view["call"]["unexplained"]
        assert view["call"]["estimate"] + view["call"]["unexplained"] == view["call"]["prompt_tokens"]


@needs_shared
@pytest.mark.parametrize(("name", "n", "uses", "results", "cleared"), ORACLES)
def test_the_view_of_a_call_holds_what_a_plain_count_of_the_file_finds(name: str, n: int, uses: int, results: int, cleared: int) -> None:
    raw = (SHARED / "corpus" / "claude_code" / f"{name}.jsonl").read_bytes()
    session_import(stream=BytesIO(raw), name=f"{name}.jsonl")
    session = Session.objects.order_by("-call_count").first()
    assert session is not None
    blocks: list[Any] = []
    after: str | None = ""
    while after is not None:
        view = get(f"/histories/{session.public_id}r/calls/{n}/view?after={after}")
        blocks, after = blocks + view["blocks"], view["next"]
    assert len({block["tool_id"] for block in blocks if block["kind"] == "tool_use"}) == uses
    assert len({block["tool_id"] for block in blocks if block["kind"] == "tool_result"}) == results
    assert sum(block["state"] == "cleared" for block in blocks) == cleared


def test_the_job_of_an_import_leads_to_its_sessions() -> None:
    session, _ = demo("tidy")
    job = get("/jobs")["jobs"][0]
    detail = get(f"/jobs/{job['id']}")
    assert detail["state"] == "succeeded"
    assert session.public_id in detail["sessions"]
    assert (job["sessions_found"], job["records_read"]) == (len(detail["sessions"]), session.revisions.get().source.record_count)
    for address in ("/jobs", f"/jobs/{job['id']}"):
        text = Client().get(address).content.decode()
        assert f"{job['sessions_found']} session" in text
        assert f", {job['records_read']:,} record" in text
        assert "publishing" not in text
    assert f'href="/s/{session.public_id}/"' in text


def test_a_duplicate_says_which_record_it_repeats() -> None:
    session, _ = demo("broken")
    records = get(f"/sessions/{session.public_id}/records?verdict=duplicate")["records"]
    assert records
    for record in records:
        text = Client().get(f"/s/{session.public_id}/import/{record['number']}").content.decode()
        assert "duplicate</b> of <a href=" in text
