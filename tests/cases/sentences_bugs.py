"""What must hold for the cases of public bug reports: a sentence of the case, and how it is seen."""

from __future__ import annotations

import itertools
import re
import zoneinfo
from collections.abc import Callable

from ctxweb.models import Finding, Record
from tests.cases.world import World

Check = Callable[[World], None]


def figures(told: dict[str, object]) -> dict[str, object]:
    return {key: told[key] for key in ("messages", "model_calls", "tool_calls", "tool_results", "usage", "peak_context")}


def counts_hold(world: World) -> None:
    """The figures of the case's own `expected`, for every lane; check_cases.py compares them in a process of its own too."""
    expected = (world.case["expected"] or world.case["steps"][-1]["expected"])["sessions"]
    for wanted in expected:
        names = [name for name in wanted if name in ("messages", "model_calls", "tool_calls", "tool_results", "peak_context", "records")]
        plain = {name: wanted[name] for name in names if not isinstance(wanted[name], dict)}
        assert any(all(told.get(name) == value for name, value in plain.items()) for told in world.last), plain


def everything_answers(world: World) -> None:
    """Every page of the case answers 200, and so does the JSON twin of each kind."""
    assert world.pages
    for session in world.sessions:
        for path in ("", "/messages", "/calls", "/report", "/records"):
            world.api(f"sessions/{session.public_id}{path}")
        world.api(f"histories/{session.public_id}r")
        world.api(f"histories/{session.public_id}r/ledger")
        world.api(f"histories/{session.public_id}r/calls/{session.call_count + 1}/view")


def imported(world: World) -> None:
    assert {told["status"] for told in world.last} == {"imported"}


def shown_as_continuation(world: World) -> None:
    assert world.other.parent == world.main
    assert world.main.public_id in world.pages[f"/s/{world.other.public_id}/"]


def inherited_records(world: World) -> None:
    inherited = [message for message in world.messages(world.other) if message.inherited]
    assert sum(message.records for message in inherited) == 6
    assert "inherited" in world.page("messages", world.other)


def calls_count_once(world: World) -> None:
    counted = [call.native_id for session in world.sessions for call in world.calls(session) if not call.inherited]
    assert len(counted) == len(set(counted)) == sum(told["model_calls"] for told in world.last)


def fork_counts_its_own(world: World) -> None:
    assert any(message.inherited for message in world.messages(world.other))
    assert [call.inherited for call in world.calls(world.other)].count(False) == 1
    assert next(told for told in world.last if told["lane"] == "fork")["model_calls"] == 1


def one_call_on_the_day(world: World) -> None:
    days = [call.at.date().isoformat() for call in world.calls(world.other) if call.at and not call.inherited]
    assert days == ["2026-03-09"]


def ordinals_inherited(world: World) -> None:
    (session,) = world.sessions
    inherited = [message for message in world.messages(session) if message.inherited]
    assert inherited
    assert all(not message.inherited for message in world.messages(session) if message.seq > inherited[-1].seq)
    assert "inherited" in world.page("messages", session)


def duplicates_reported(world: World) -> None:
    assert world.last[0]["verdicts"]["duplicate"] == 9
    assert "duplicate" in world.page("import")
    assert Record.objects.filter(verdict="duplicate").count() == 9


def second_copy_readable(world: World) -> None:
    copy = next(record for record in world.records() if record.verdict == "duplicate")
    assert b'"uuid"' in world.raw(copy)
    natives = [message.native_id for message in world.messages() if message.native_id]
    assert len(natives) == len(set(natives))


def phases_joined(world: World) -> None:
    (session,) = world.sessions
    assert len(world.recorded()) == 1
    (compaction,) = world.recorded()
    before = [message for message in world.messages() if message.line < compaction.line]
    assert before
    for message in before:
        assert world.fetched(f"/s/{session.public_id}/b/{message.seq}.1")
        assert f'"b/{message.seq}.1"' in world.pages[f"/s/{session.public_id}/messages"]


def summary_readable(world: World) -> None:
    messages = {message.seq for message in world.messages() if message.origin == "summary"}
    texts = [block.body.text for block in world.blocks() if block.seq in messages]
    assert texts
    page = world.page("messages")
    assert all(re.sub(r"\s+", " ", text.strip())[:40] in page for text in texts)


def detached_card(world: World) -> None:
    (compaction,) = world.recorded()
    assert compaction.detached
    assert "not on the active path" in world.page("ledger")


def later_messages_lost_nothing(world: World) -> None:
    last = world.calls()[-1].n
    older = {f"{block.seq}.{block.i}" for block in world.blocks() if block.first_call is not None and block.first_call < last}
    gone = older - set(world.view(last))
    on_path = {f"{entry.seq}.{entry.i}" for entry in world.entries() if not entry.adds and not entry.compaction.detached}
    assert gone <= on_path
    assert not any(row.index is not None and not row.detached for row in world.compactions())


def both_in_file_order(world: World) -> None:
    lines = [row["line"] for row in world.last[0]["compactions"]]
    assert lines == sorted(lines)
    assert len(world.recorded()) == 2


def middle_part_belongs(world: World) -> None:
    first, second = world.recorded()
    between = [message for message in world.messages() if first.line < message.line < second.line and message.origin != "summary"]
    assert between
    assert len(world.sessions) == 1


def middle_part_warned(world: World) -> None:
    finding = next(row for row in world.findings() if "skip" in row.code or "skip" in row.detail)
    assert finding.line is not None
    assert "skip" in world.page("ledger") + world.page("") + world.page("messages") + world.page("import")


def unknown_size_before(world: World) -> None:
    (compaction,) = world.recorded()
    assert compaction.tokens_before is None
    assert world.last[0]["compactions"][0]["tokens_before"] is None


def size_after(world: World, figure: str) -> None:
    assert world.last[0]["compactions"][0]["tokens_after"] == int(figure)
    assert f"{int(figure):,}" in world.page("ledger")


def never_from_zero(world: World) -> None:
    for address, page in world.visible.items():
        text = re.sub(r"\s+", " ", page.text)
        assert "from 0 to" not in text, address
        assert not re.search(r"(?<![\d,.])0 → \d", text), address


def orphans_with_text(world: World) -> None:
    orphans = Finding.objects.filter(code__contains="result")
    assert orphans.exists()
    page = world.page("messages")
    results = [block for block in world.blocks() if block.kind == "tool_result"]
    assert results
    assert all(re.sub(r"\s+", " ", block.body.text.strip())[:30] in page for block in results)


def findings_name_lines(world: World) -> None:
    lines = {row.line for row in world.findings() if "result" in row.code}
    assert {6, 10} <= lines


def one_call_without_result(world: World, native: str) -> None:
    found = [row for row in world.findings() if native in row.detail]
    assert len(found) == 1
    assert found[0].code == "unanswered_use"
    assert native in world.page("messages") + world.page("") + world.page("import") + world.page(f"view/{world.main.call_count + 1}")


def calls_may_lack_results(world: World) -> None:
    assert world.last[0]["tool_calls"] > world.last[0]["tool_results"]


def not_flagged(world: World, native: str) -> None:
    assert not [row for row in world.findings() if re.search(rf"\b{native}\b", row.detail)]


def peak_of_main(world: World) -> None:
    assert world.main.peak_context == 21605
    assert "21,605" in world.page("")
    assert "100,322" not in world.page("")


def lane_of_subagent(world: World) -> None:
    assert world.other.lane == "subagent"
    assert world.other.parent == world.main
    assert world.other.native_id in ("ag71", "agent-ag71")
    assert world.main.public_id in world.pages[f"/s/{world.other.public_id}/"]


def main_without_subagent(world: World) -> None:
    counts_hold(world)
    assert world.main.cache_read_tokens == 41000


def a_row_for_every_record(world: World) -> None:
    """Messages have a row each; what is no message is counted where it stands and listed in the import report."""
    for session in world.sessions:
        rows = world.api(f"sessions/{session.public_id}/messages")["messages"]
        assert len(rows) == len(world.messages(session))
        listed = world.api(f"sessions/{session.public_id}/records")
        shown = next(value for value in listed.values() if isinstance(value, list))
        assert len(shown) == Record.objects.filter(source=session.current.source).count()  # type: ignore[union-attr]


def odd_contents_marked(world: World) -> None:
    assert [block for block in world.blocks() if block.flags]
    assert sum(message.records for message in world.messages()) == world.last[0]["messages"]


def results_stay_linked(world: World) -> None:
    uses = {block.tool_id for block in world.blocks() if block.kind == "tool_use"}
    results = {block.tool_id for block in world.blocks() if block.kind == "tool_result"}
    assert results <= uses
    assert len(results) == world.last[0]["tool_results"]


def image_estimates(world: World) -> None:
    sizes = [call.estimate for call in world.calls() if call.estimate is not None]
    results = [block for block in world.blocks() if block.media_bytes or block.kind == "image"]
    assert results
    assert all(block.estimate is not None and block.estimate < 3_000 * max(1, world.last[0]["images"]) for block in results)
    assert max(sizes, default=0) < 25_000
    assert "≈" in world.page("messages")


def no_base64_on_pages(world: World) -> None:
    for address, page in world.pages.items():
        assert not re.search(r"[A-Za-z0-9+/]{400,}", page), address
    assert "image" in world.page("messages")


def image_message_there(world: World) -> None:
    assert world.last[0]["images"] > 0
    counts_hold(world)


def unknown_types_listed(world: World) -> None:
    report = world.page("import")
    unknown = Record.objects.filter(verdict="unknown_type")
    assert unknown.exists()
    for record in unknown:
        assert world.raw(record)
        if record.type:
            assert record.type in report


def nothing_lost(world: World) -> None:
    """Record bytes and what lies between them are the whole stream; verdicts add up."""
    for told in world.last:
        assert told["status"] == "failed" or sum(told["verdicts"].values()) == told["records"]
    for source in {record.source for record in Record.objects.select_related("source")}:
        places = list(Record.objects.filter(source=source).order_by("offset").values_list("offset", "length"))
        assert all(start + size <= following for (start, size), (following, _) in itertools.pairwise(places))
        assert source.record_count == len(places)


def tail_warned(world: World) -> None:
    tail = Record.objects.get(verdict="truncated_tail")
    report = world.page("import")
    assert "truncated" in report
    assert f"{tail.line:,}" in report
    assert f"{tail.offset:,}" in report
    assert world.raw(tail)


def tear_recovered(world: World) -> None:
    assert Record.objects.filter(verdict="recovered_splice").exists()


def fragment_kept(world: World) -> None:
    fragment = Record.objects.get(verdict="invalid_json")
    assert world.raw(fragment) in world.inputs[-1]
    assert len(world.raw(fragment)) == fragment.length > 0


def only_tail(world: World) -> None:
    assert world.last[0]["verdicts"].get("truncated_tail") == 1
    assert not world.last[0]["verdicts"].get("invalid_utf8")


def first_record_imported(world: World) -> None:
    record = Record.objects.get(number=1)
    assert record.verdict == "ok"
    assert world.messages()


def chinese_right(world: World) -> None:
    texts = [text for text in re.findall(r"[\u4e00-\u9fff]+", world.texts()) if text]
    assert texts
    assert texts[0] in world.page("messages")


def call_size_is_last_usage(world: World) -> None:
    window = 258_400
    assert all(call.prompt_tokens is None or call.prompt_tokens <= window for call in world.calls())
    counts_hold(world)


def impossible_flagged(world: World) -> None:
    flagged = [row for row in world.findings() if "594" in row.detail.replace(",", "")]
    record_flags = [record for record in world.records() if "impossible" in record.flags]
    assert flagged or record_flags
    assert "impossible" in world.page("import") + world.page("") + world.page("messages")


def window_is_kept(world: World) -> None:
    assert world.main.context_window in (258_400, None)
    assert "230 %" not in world.page("")


def opaque_summary(world: World) -> None:
    opaque = [block for block in world.blocks() if block.kind in ("compaction", "opaque")]
    assert opaque
    page = world.page("messages")
    assert "opaque" in page or "encrypted" in page
    assert all(re.search(r"\d", block.body.text) for block in opaque)


def history_no_new_messages(world: World) -> None:
    counts_hold(world)
    assert len(world.recorded()) == 1


def no_empty_summary(world: World) -> None:
    assert all(block.body.text for block in world.blocks() if block.kind in ("compaction", "opaque"))


def buckets_apart(world: World) -> None:
    (call,) = world.calls()
    assert (call.input_tokens, call.cache_read_tokens) == (200, 8_900)
    assert "8,900" in world.page("messages") + world.page("")


def no_double_prompt(world: World) -> None:
    assert world.main.peak_context == 9_100
    assert "18,000" not in world.page("")


def zone_days(world: World) -> None:
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    assert {call.at.astimezone(zone).date().isoformat() for call in world.calls() if call.at} == {"2026-03-29"}


def times_utc(world: World) -> None:
    for message in world.api(f"sessions/{world.main.public_id}/messages")["messages"]:
        assert message["at"] is None or message["at"].endswith(("Z", "+00:00"))


def gap_of_forty_minutes(world: World) -> None:
    first, second = (call.at for call in world.calls())
    assert first is not None
    assert second is not None
    assert 38 * 60 <= (second - first).total_seconds() <= 42 * 60


def compaction_far_behind(world: World) -> None:
    (compaction,) = world.recorded()
    assert compaction.line == 10_000
    assert "10,000" in world.page("ledger")


def lists_paged(world: World) -> None:
    page = world.page("messages")
    assert re.search(r"\d+–\d[\d,]* of [\d,]+|[\d,]+ of [\d,]+", page)
    assert len(world.pages[f"/s/{world.main.public_id}/messages"]) < 200_000


def last_page_ends(world: World) -> None:
    last = world.messages()[-1]
    window = world.api(f"sessions/{world.main.public_id}/messages?after={last.seq - 1}.1")
    assert [row["seq"] for row in window["messages"]] == [last.seq]
    assert window["next"] is None


def script_text_literal(world: World) -> None:
    payload = "<script>top.location='//bad.invalid'</script>"
    assert any(payload in page.text for page in world.visible.values())
    assert payload in world.page("messages")


def links_harmless(world: World) -> None:
    for address, page in world.visible.items():
        for target in page.targets:
            assert not target.lower().startswith(("javascript:", "data:", "vbscript:")), address
            assert not re.match(r"(?i)(https?:)?//", target), address


def impossible_usage(world: World) -> None:
    assert any(call.input_tokens is None or call.output_tokens is None or call.cache_read_tokens is None for call in world.calls())
    assert any(call.flags for call in world.calls()) or any(record.flags for record in world.records())


def not_in_totals(world: World) -> None:
    usage = world.last[0]["usage"]
    assert usage is None or all(value not in (1, 1200, 1201) for value in usage.values())


def usage_unknown(world: World) -> None:
    (call,) = [call for call in world.calls() if call.prompt_tokens is None]
    row = next(row for row in world.api(f"sessions/{world.main.public_id}/calls")["calls"] if row["n"] == call.n)
    assert not [value for key, value in row.items() if key in ("prompt_tokens", "reported", "input_tokens") and value is not None]
    assert "≈" in world.page(f"view/{call.n}")


def synthetic_is_no_call(world: World) -> None:
    page = world.page("messages")
    assert "no model call" in page
    counts_hold(world)


def no_cost(world: World) -> None:
    assert not any("$0" in page.text for page in world.visible.values())


def body_cut_and_had(world: World) -> None:
    assert all(len(page) < 1_000_000 for page in world.pages.values())
    block = max(world.blocks(), key=lambda each: max(each.chars, each.media_bytes or 0))
    digest = bytes(block.body.digest).hex()
    assert world.client.get(f"/s/{world.main.public_id}/body/{digest}").status_code == 200
    record = Record.objects.order_by("-length").first()
    assert record is not None
    assert len(world.raw(record)) == record.length > 4_000_000


def neighbours_apart(world: World) -> None:
    users = [message for message in world.messages() if message.role == "user" and message.origin != "summary"]
    assert len([message for message in users if message.line > world.recorded()[0].line]) >= 2
    counts_hold(world)


def neighbours_noted(world: World) -> None:
    assert [row.code for row in world.findings()].count("consecutive_user") >= 1
    assert "consecutive user" in world.page("messages")


def lanes_are_linked(world: World) -> None:
    assert [session.parent_id for session in world.sessions].count(None) == 1


def phrase_shown(world: World, figure: str) -> None:
    assert f"{int(figure):,}" in world.page("") + world.page("messages")
    assert world.main.output_tokens == int(figure)


def folding_reported(world: World) -> None:
    page = world.page("import") + world.page("messages")
    assert re.search(r"\d+ (lines|records)", page)
    assert any(message.records > 1 for message in world.messages())


def last_line_counts(world: World) -> None:
    assert [call.output_tokens for call in world.calls()] == [410]


def no_such_output(world: World) -> None:
    assert world.main.output_tokens == 410


SENTENCES: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"each model call is counted once although its lines share one message\.id", counts_hold),
    (r"the session page shows output tokens (\d+)", phrase_shown),
    (r"the import report says how many lines belong to how many calls", folding_reported),
    (r"usage multiplied by the number of lines", counts_hold),
    (r"output tokens of the call are 410, the last line's figure", last_line_counts),
    (r"output tokens shown as 3 or as 527", no_such_output),
    (r"calls are grouped by message\.id alone when requestId is absent or empty", counts_hold),
    (r"four model calls", counts_hold),
    (r"the second session is shown as a continuation of the first", shown_as_continuation),
    (r"its first 6 records are marked as inherited", inherited_records),
    (r"summed over both sessions every message\.id is counted once", calls_count_once),
    (r"the copied calls counted in both sessions", calls_count_once),
    (r"the replayed prefix is marked as inherited and counts nothing in the fork", fork_counts_its_own),
    (r"day 2026-03-09 is charged with one call only", one_call_on_the_day),
    (r"the parent's tokens counted again on the day of the fork", fork_counts_its_own),
    (r"records with an ordinal below 8 are shown as inherited", ordinals_inherited),
    (r"usage counts the sub-agent's own call only", counts_hold),
    (r"usage that includes the copied call of 9000 input tokens", counts_hold),
    (r"9 records carry the verdict duplicate, and the import report says so", duplicates_reported),
    (r"the first copy is kept, the second stays readable in the record list", second_copy_readable),
    (r"messages counted twice|only the longest chain kept", counts_hold),
    (r"a second compaction|two compactions", lambda world: _compactions(world, 1)),
    (r"one session with two phases joined through logicalParentUuid", phases_joined),
    (r"the messages before the boundary can still be opened", phases_joined),
    (r"the summary text is readable on the page|the summary is readable", summary_readable),
    (r"the part before the boundary missing from the messages", phases_joined),
    (r"a card for the compaction is shown, marked as not on the active path|no card", detached_card),
    (r"the messages after it are not shown as if they had lost anything", later_messages_lost_nothing),
    (r"both compactions are listed in file order", both_in_file_order),
    (r"the messages between them are part of the session|middle part orphaned", middle_part_belongs),
    (r"a warning says that the parent chain skips the middle part", middle_part_warned),
    (r"the size before is shown as unknown, or as the last call's reported prompt with its source named", unknown_size_before),
    (r"the size after is (\d+), the first prompt after the boundary", size_after),
    (r"\"from 0 to\" anywhere|0 shown for an unknown size", never_from_zero),
    (r"both orphan results are shown with their text|orphan results dropped", orphans_with_text),
    (r"two protocol findings name lines 6 and 10", findings_name_lines),
    (r"import fails|status failed|0 sessions|the whole file refused|nothing imported", lambda world: _some_imported(world)),
    (r"one finding: call (\w+) has no result", one_call_without_result),
    (r"tool calls and results forced to be equal", calls_may_lack_results),
    (r"(tu1) flagged", not_flagged),
    (r"peak context of the main session is 21605, not 100322", peak_of_main),
    (r"the sub-agent has its own lane keyed by agentId, linked to the Task call", lane_of_subagent),
    (r"two unrelated sessions in the list without a parent link", lanes_are_linked),
    (r"the main session's usage includes the sub-agent's", main_without_subagent),
    (r"every record has a row on the page|each record has a row|a dropped message", a_row_for_every_record),
    (r"each strange content is shown as text or as its JSON, marked", odd_contents_marked),
    (r"all tool results stay linked to their calls", results_stay_linked),
    (r"each image block has an estimate below 3,000 tokens, labelled as an estimate", image_estimates),
    (r"an estimate of 25,000 tokens or more for one image", image_estimates),
    (r"the page shows the picture or a size label, not base64 text", no_base64_on_pages),
    (r"the image-only message missing", image_message_there),
    (r"every record of an unknown type is an inert row with its type and raw JSON", unknown_types_listed),
    (r"the import report counts unknown types by name|counted per type on the import report", unknown_types_listed),
    (r"a red error page", everything_answers),
    (r"a lost record|two records lost|the record lost|a lost compaction", nothing_lost),
    (r"the tail is reported as a warning with its line and byte offset", tail_warned),
    (r"one warning: truncated tail|the import succeeds with one warning", tail_warned),
    (r"the whole record after the tear is recovered", tear_recovered),
    (r"the fragment is kept as raw text|the fragment's bytes are kept", fragment_kept),
    (r"invalid_utf8 as well as truncated_tail", only_tail),
    (r"record 1 is imported", first_record_imported),
    (r"Chinese text is shown right|text is shown right", chinese_right),
    (r"all records are imported", counts_hold),
    (r"the context size of a call is its last_token_usage", call_size_is_last_usage),
    (r"fill never exceeds 100 % of 258,400 without a flag", call_size_is_last_usage),
    (r"the 594,000 figure is flagged as impossible", impossible_flagged),
    (r"a context of 230 % of the window", window_is_kept),
    (r"one compaction, its summary labelled opaque with its length", opaque_summary),
    (r"the compaction item is labelled opaque with its length", opaque_summary),
    (r"the replacement history is not shown as new chat messages", history_no_new_messages),
    (r"an empty summary shown as text", no_empty_summary),
    (r"input 200 and cache read 8,900 are shown apart", buckets_apart),
    (r"a prompt of 18,000", no_double_prompt),
    (r"with the user's zone Europe/Berlin both calls fall on 2026-03-29", zone_days),
    (r"stored times are UTC", times_utc),
    (r"the gap between the two calls is shown as about 40 minutes|a gap of 1 h 40 min or a negative gap", gap_of_forty_minutes),
    (r"the compaction is listed although it lies past 9,000 records", compaction_far_behind),
    (r"lists are paged, and every page says which part of how many it shows", lists_paged),
    (r"the last page ends with the last record|a cap that looks like a loss", last_page_ends),
    (r"every page and export shows the text `.*` literally", script_text_literal),
    (r"the link is shown as text, or its href starts with http: or https:", links_harmless),
    (r"an anchor with a javascript: or data: target|a request to another host|a request to bad\.invalid", links_harmless),
    (r"figures that are not integers are unknown and flagged", impossible_usage),
    (r"1200 or 1 added to a total", not_in_totals),
    (r"the call's usage is shown as unknown, the estimate beside it is labelled|0 tokens for that call", usage_unknown),
    (r"the synthetic row is labelled as no model call", synthetic_is_no_call),
    (r"no cost of \$0\.00 is stated for it", no_cost),
    (r"the peak or the totals change because of it", counts_hold),
    (r"the session page answers within 2 s and is below 1 MB|hang", body_cut_and_had),
    (r"the body is cut on the page with its full size named, and the whole can be had", body_cut_and_had),
    (r"all three user messages are shown apart|merged text", neighbours_apart),
    (r"the view notes consecutive messages of one role", neighbours_noted),
    (r"a crash on mixed contents|HTTP 500|a crash of the process", everything_answers),
    (r"(?:Unicode(?:De|En)code|Type|Value|Overflow|Recursion|Integrity|Data)Error", everything_answers),
)


def _compactions(world: World, count: int) -> None:
    assert len(world.recorded()) == count


def _some_imported(world: World) -> None:
    assert any(told["status"] in ("imported", "updated") for told in world.last)
    assert world.sessions
