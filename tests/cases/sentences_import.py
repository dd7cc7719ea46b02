"""What must hold for the cases of formats, damaged files and hostile text: a sentence of the case, and how it is seen."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable

from ctxweb.models import Block, LedgerEntry, Record, Session, Source
from ctxweb.storage import blob_read
from ctxweb.visible_text import escaped
from tests.cases.sentences_bugs import counts_hold, everything_answers, imported, links_harmless, nothing_lost
from tests.cases.world import World


def block_stands_for_all(world: World) -> None:
    """The compaction block's message is in the next view, what was before it is not."""
    block = next(block for block in world.blocks() if block.kind == "compaction")
    view = world.view(world.main.call_count + 1)
    assert f"{block.seq}.{block.i}" in view
    instructions = {f"{message.seq}.1" for message in world.messages() if message.role == "system"}
    assert all(int(place.split(".")[0]) >= block.seq for place in set(view) - instructions)


def sizes_unknown(world: World) -> None:
    (compaction,) = world.last[0]["compactions"]
    assert compaction["tokens_before"] is None
    assert compaction["tokens_after"] is None


def summary_no_answer(world: World) -> None:
    counts_hold(world)
    assert any(block.kind == "compaction" for block in world.blocks())


def attempt_failed(world: World) -> None:
    (compaction,) = world.compactions()
    assert (compaction.status, compaction.edits, compaction.removed) == ("failed", 0, 0)
    assert "failed" in world.page("ledger")


def nothing_left(world: World) -> None:
    view = world.view(world.main.call_count + 1)
    older = [f"{block.seq}.{block.i}" for block in world.blocks() if block.first_call is not None]
    assert set(older) <= set(view)


def micro_is_its_own(world: World) -> None:
    assert [row.mechanism for row in world.recorded()] == ["clear_tool_result", "summary"]
    assert [row["mechanism"] for row in world.last[0]["compactions"]] == ["clear_tool_result", "summary"]


def micro_has_its_scale(world: World) -> None:
    micro = world.recorded()[0]
    assert micro.scale == "messages"
    assert "messages only" in world.page("ledger")
    assert "60,000" not in world.page("").split("what happened")[0] or "messages" in world.page("")


def spilled_marked(world: World) -> None:
    block = next(block for block in world.blocks() if block.state == "spilled")
    assert block.pointer
    assert "spilled" in world.page("messages")
    assert block.pointer.rsplit("/", 1)[-1] in world.page("messages") + world.page(f"b/{block.seq}.{block.i}")


def only_preview_counts(world: World) -> None:
    block = next(block for block in world.blocks() if block.state == "spilled")
    assert block.tokens is not None
    assert block.tokens <= block.chars
    assert block.chars == len(block.body.text)


def named_path_closed(world: World) -> None:
    """A path that a transcript names is shown and never opened: nothing in the store comes from it."""
    block = next(block for block in world.blocks() if block.state == "spilled")
    assert Source.objects.count() == len(world.inputs)
    assert not any(source.name == block.pointer for source in Source.objects.all())


def earlier_tools_gone(world: World) -> None:
    (compaction,) = world.recorded()
    before = [b for b in world.blocks() if b.kind in ("tool_use", "tool_result") and _line_of(world, b) < compaction.line]
    after = set(world.view(compaction.before_call or world.main.call_count + 1))
    assert before
    assert not {f"{block.seq}.{block.i}" for block in before} & after
    taken = {(entry.seq, entry.i) for entry in LedgerEntry.objects.filter(compaction=compaction, adds=False)}
    assert {(block.seq, block.i) for block in before} <= taken


def _line_of(world: World, block: Block) -> int:
    return next(message.line for message in world.messages() if message.seq == block.seq)


def rollback_is_user_action(world: World) -> None:
    rollback = next(row for row in world.compactions() if row.mechanism == "rewind")
    assert rollback.index is None
    assert "rewind" not in {row["mechanism"] for row in world.last[0]["compactions"]}
    assert "user action" in world.page("ledger")


def no_second_copies(world: World) -> None:
    counts_hold(world)
    texts = [block.body.text for block in world.blocks() if block.kind == "text"]
    assert len(texts) == len(set(texts))


def one_session(world: World) -> None:
    assert len(world.sessions) == 1


def five_messages(world: World) -> None:
    one_session(world)
    assert world.last[0]["messages"] == 5


def rows_keep_ids(world: World) -> None:
    first, second = world.told
    assert [told["session"] for told in first] == [told["session"] for told in second]
    assert Session.objects.count() == 1
    assert second[0]["records"] > first[0]["records"]


def recognised_later(world: World) -> None:
    imported(world)
    assert world.messages()[0].line > 1


def after_the_broken(world: World) -> None:
    broken = Record.objects.exclude(verdict__in=("ok", "blank")).order_by("-line").first()
    assert broken is not None
    assert any(message.line > broken.line for message in world.messages())
    counts_hold(world)


def lines_of_the_file(world: World) -> None:
    lines = world.inputs[-1].split(b"\n")
    for message in world.messages():
        assert message.native_id.encode() in lines[message.line - 1] or message.native_id.startswith(("msg_", "record:")), message.line
    rows = world.api(f"sessions/{world.main.public_id}/messages")["messages"]
    assert [row["line"] for row in rows] == [message.line for message in world.messages()]


def raw_is_the_file(world: World) -> None:
    """The stored bytes are those that were given, and the records with what lies between them are the stream."""
    for given in world.inputs:
        digest = hashlib.sha256(given).hexdigest()
        source = Source.objects.filter(sha256=digest).first()
        if source is not None:
            with blob_read(sha256=digest) as stream:
                assert stream.read() == given
    nothing_lost(world)


def too_deep_kept(world: World) -> None:
    record = Record.objects.get(verdict="too_deep")
    assert world.raw(record) in world.inputs[-1]


def second_value(world: World) -> None:
    assert "second value" in world.texts()
    assert "second value" in world.page("messages")


def raw_shows_both(world: World) -> None:
    raws = b"\n".join(world.raw(record) for record in world.records())
    assert b"second value" in raws
    assert raws.count(b'"content"') >= 2


def figure_unknown(world: World) -> None:
    assert any(None in (c.input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.output_tokens) for c in world.calls())
    assert any(call.flags for call in world.calls())
    raw_is_the_file(world)


def no_float(world: World) -> None:
    usage = world.last[0]["usage"] or {}
    assert all(value is None or type(value) is int for value in usage.values())


def every_record_of_the_line(world: World) -> None:
    lines = [record.line for record in world.records()]
    assert len(lines) > len(set(lines))
    assert not any(record.verdict == "invalid_json" for record in world.records())
    counts_hold(world)


def replaced_characters(world: World) -> None:
    assert Record.objects.filter(verdict="invalid_utf8").exists()
    assert "\ufffd" in world.texts()
    raw_is_the_file(world)


def one_record_a_line(world: World) -> None:
    assert Record.objects.count() == len(world.inputs[-1].rstrip(b"\n").split(b"\n"))


def surrogate_visible(world: World) -> None:
    everything_answers(world)
    assert "\ufffd" in world.texts()
    assert "\ufffd" in world.page("messages")


def like_any_other(world: World) -> None:
    assert set(world.last[0]["verdicts"]) <= {"ok", "blank"} or not world.last[0]["verdicts"].get("oversize")
    counts_hold(world)


def good_beside_bad(world: World) -> None:
    states = {told["status"] for told in world.last}
    assert {"imported", "failed"} <= states


def failed_with_reason(world: World) -> None:
    (told,) = world.last
    assert told["status"] == "failed"
    assert told["error"]["code"]
    assert len(told["error"]["message"]) > 20
    assert "Traceback" not in told["error"]["message"]


def no_session_listed(world: World) -> None:
    assert not world.sessions
    assert not world.api("sessions")["groups"]


def searchable_after(world: World) -> None:
    found = world.api("search?q=after")
    assert world.main.public_id in json.dumps(found)


def nul_visible(world: World) -> None:
    assert "\u2400" in world.texts()
    assert "\u2400" in world.page("messages")


def no_failure_by_nul(world: World) -> None:
    imported(world)
    assert not world.last[0]["verdicts"].get("truncated_tail")


def text_without_nul(world: World) -> None:
    record = Record.objects.get(verdict="nul_padding")
    assert b"\x00" in world.raw(record)
    assert "\x00" not in world.texts()
    assert "nul_padding" in world.page("import")


def record_after_nul(world: World) -> None:
    record = Record.objects.get(verdict="nul_padding")
    assert any(message.line == record.line for message in world.messages())


def kept_by_offset(world: World) -> None:
    record = Record.objects.get(verdict="oversize")
    assert record.length > 16 * 2**20
    given = world.inputs[-1][record.offset : record.offset + record.length]
    assert hashlib.sha256(given).digest() == bytes(record.digest)
    after = Record.objects.filter(number__gt=record.number).exclude(verdict="blank")
    assert all(following.verdict == "ok" for following in after)
    assert Record.objects.filter(line=record.line).count() == 1


def second_run_unchanged(world: World) -> None:
    first, second = world.told
    assert {told["status"] for told in second} == {"unchanged"}
    assert [told["session"] for told in first] == [told["session"] for told in second]
    assert len(world.api("sessions")["groups"]) == 1


def linked_revision(world: World) -> None:
    old = Source.objects.exclude(superseded_by=None).get()
    assert old.superseded_by is not None
    assert old.superseded_by.sha256 == hashlib.sha256(world.inputs[1]).hexdigest()
    assert world.main.current is not None
    assert world.main.current.source == old.superseded_by
    with blob_read(sha256=old.sha256) as stream:
        assert stream.read() == world.inputs[0]
    assert old.sha256[:12] in world.page("import")
    assert len(world.api("sessions")["groups"]) == 1


def recovered_from_line(world: World, line: str) -> None:
    record = Record.objects.get(verdict="recovered_splice")
    assert record.line == int(line)
    assert world.inputs[-1][record.offset :].startswith(world.raw(record)[:20])


def offset_named(world: World) -> None:
    record = Record.objects.get(verdict="recovered_splice")
    assert f"{record.offset:,}" in world.page("import")


def decoy_refused(world: World) -> None:
    assert not Record.objects.filter(verdict="recovered_splice").exists()
    counts_hold(world)


def tail_and_blanks_apart(world: World) -> None:
    assert world.last[0]["verdicts"].get("truncated_tail") == 1
    assert world.last[0]["verdicts"].get("blank", 0) >= 1


def tail_bytes_kept(world: World) -> None:
    tail = Record.objects.get(verdict="truncated_tail")
    assert world.inputs[-1].rstrip(b"\r\n ").endswith(world.raw(tail).rstrip(b"\r\n "))


def two_sessions(world: World) -> None:
    assert len(world.sessions) == 2
    counts_hold(world)


def no_tail_warning(world: World) -> None:
    assert not world.last[0]["verdicts"].get("truncated_tail")


def time_unknown(world: World) -> None:
    assert any(message.at is None for message in world.messages())
    for page in world.pages.values():
        assert not re.search(r"\b(1970|9999)-\d\d-\d\d\b", page)


def inert_with_raw(world: World) -> None:
    for record in Record.objects.filter(verdict="unknown_type"):
        assert world.raw(record).strip()
        assert f'"import/{record.number}"' in world.pages[f"/s/{world.main.public_id}/import"]


def payloads_literal(world: World) -> None:
    """Each payload stands on the pages as text; searching a word of it finds the session."""
    texts = [re.sub(r"\s+", " ", page.text) for page in world.visible.values()]
    for payload in world.case["payloads"]:
        shown = re.sub(r"\s+", " ", escaped(payload)).strip()
        assert any(shown in text for text in texts), payload


def no_element_made(world: World) -> None:
    for address, page in world.visible.items():
        assert not page.elements & {"iframe", "object", "embed", "base", "style", "marquee", "video", "audio", "form-x"}, address
        assert not {name for name in page.attributes if name.startswith("on") or name in ("style", "srcdoc", "hx-on")}, address
        assert page.elements & {"img"} <= set(), address
    links_harmless(world)


def invisible_escaped(world: World) -> None:
    payloads_literal(world)
    for address, page in world.visible.items():
        assert not re.search(r"[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", page.text), address
    assert any("hidden-count" in page for page in world.pages.values())


def digest_of_bytes(world: World) -> None:
    for block in world.blocks():
        assert hashlib.sha256(block.body.text.encode()).digest()[:16] == bytes(block.body.digest)
    raw_is_the_file(world)


def host_shown(world: World) -> None:
    assert "bad.invalid" in world.page("messages") or "bad.invalid" in world.texts()
    assert all("img" not in page.elements for page in world.visible.values())


def name_literal(world: World) -> None:
    assert "=cmd+1 (x) %3Cb%3E.jsonl" in world.page("import")


def safe_download(world: World) -> None:
    record = world.records()[0]
    response = world.client.get(f"/s/{world.main.public_id}/import/{record.number}?as=bytes")
    disposition = response.headers["Content-Disposition"]
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', disposition)
    assert "\n" not in disposition


def no_template_output(world: World) -> None:
    payloads_literal(world)
    for page in world.visible.values():
        assert "SECRET_KEY" not in page.text.replace("settings.SECRET_KEY", "")


def no_raw_escape(world: World) -> None:
    for told in world.last:
        assert "\x1b" not in json.dumps(told, ensure_ascii=False)
    for address, page in world.visible.items():
        assert "\x1b" not in page.text, address


def twin_is_json(world: World) -> None:
    everything_answers(world)


SENTENCES: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"the block stands for everything before it in the next view", block_stands_for_all),
    (r"sizes are unknown, not 0", sizes_unknown),
    (r"the summary counted as an ordinary answer", summary_no_answer),
    (r"the attempt is shown as failed and removed nothing", attempt_failed),
    (r"an empty summary standing for the earlier messages", nothing_left),
    (r"the micro compaction is an event of its own|one merged event", micro_is_its_own),
    (r"its 60,000 and 21,000 tokens are not drawn on the scale of the provider's prompt sizes", micro_has_its_scale),
    (r"the result is marked as spilled, with the name of its file and whether that file can be had", spilled_marked),
    (r"only the preview counts in the prompt", only_preview_counts),
    (r"the named path is opened outside the imported set", named_path_closed),
    (r"tool calls and outputs before it are shown as gone", earlier_tools_gone),
    (r"the rollback is a user action, not a compaction", rollback_is_user_action),
    (r"user_message events shown as second copies of the messages", no_second_copies),
    (r"one session of five messages|five sessions", five_messages),
    (r"one session", one_session),
    (r"counts are those of the whole file|records twice", counts_hold),
    (r"the rows of the first import keep their ids", rows_keep_ids),
    (r"the format is recognised from the later lines", recognised_later),
    (r"every record after the broken lines is imported|the session shown as ended there", after_the_broken),
    (r"line numbers on the page are those of the file", lines_of_the_file),
    (r"concatenated raw records equal the file|raw bytes unchanged|the stored raw bytes equal the file", raw_is_the_file),
    (r"verdict too_deep, raw bytes kept", too_deep_kept),
    (r"the import takes less than 5 s more than without the line", too_deep_kept),
    (r"imported|recognised|imported like any other|oversize", like_any_other),
    (r"the last value counts: the page shows \"second value\"", second_value),
    (r"the raw record shows both", raw_shows_both),
    (r"the figure is unknown and flagged(?:, the raw text keeps all digits)?", figure_unknown),
    (r"a float", no_float),
    (r"every record of the line is imported", every_record_of_the_line),
    (r"the message is imported with U\+FFFD and the verdict invalid_utf8", replaced_characters),
    (r"one record per physical line \(0x0A only\)|more records than lines", one_record_a_line),
    (r"page, JSON and exports work; the place is visible", surrogate_visible),
    (r"good files are imported although a bad one is beside them|exit status 1", good_beside_bad),
    (r"the JSON answer of the API stays valid JSON|NaN in an API answer", twin_is_json),
    (r"one line of JSON with status failed, a code and a message that names the reason|a traceback on stdout", failed_with_reason),
    (r"no session appears in the list", no_session_listed),
    (r"the message is searchable by the word \"after\"|search blind after the character", searchable_after),
    (r"the character is shown visibly \(for example U\+2400\)", nul_visible),
    (r"a warning, not a failure|truncated_tail|the line refused", no_failure_by_nul),
    (r"the text is shown without the NUL bytes, with a note", text_without_nul),
    (r"the record after the NUL bytes is imported", record_after_nul),
    (r"the record is kept by offset and not parsed|the records after it are imported|the line split in two records", kept_by_offset),
    (r"one session in the list|a second session|the second run says unchanged and names the same public id", second_run_unchanged),
    (r"a new revision linked to the old one|the old revision's raw bytes can still be had|old bytes overwritten", linked_revision),
    (r"the list shows the session once, with its newest revision", linked_revision),
    (r"the record after the cut is recovered from line (\d+)", recovered_from_line),
    (r"its ledger row names the byte offset where it starts", offset_named),
    (r"the reader stops at the first bad line", after_the_broken),
    (r"the inner object is not taken for a record|recovered_splice", decoy_refused),
    (r"tail and blank lines are separate ledger rows", tail_and_blanks_apart),
    (r"the raw bytes of the tail are kept", tail_bytes_kept),
    (r"two sessions, each with its own counts|one session with both", two_sessions),
    (r"no warning about the tail", no_tail_warning),
    (r"an unreadable time is shown as unknown|1970 or year 9999 in the list", time_unknown),
    (r"each is an inert row with its raw text", inert_with_raw),
    (r"each of the payloads appears on the session page, .* as literal text|all payloads shown literally", payloads_literal),
    (r"script execution|a script runs|an element, attribute or style made from the payload", no_element_made),
    (r"every control or invisible character is shown as a visible escape, and a badge counts them", invisible_escaped),
    (r"the digest shown is that of the bytes", digest_of_bytes),
    (r"the remote picture is not fetched: its host is shown as text|the picture's host is shown as text.*", host_shown),
    (r"the name is shown literally and links work", name_literal),
    (r"downloads carry a plain safe name|a second header line", safe_download),
    (r"template output such as 49 or a settings value", no_template_output),
    (r"server log and command output hold no raw escape byte", no_raw_escape),
)

ELSEWHERE: tuple[tuple[str, str], ...] = (
    (r"resident memory stays below 300 MB", "tests/stress: memory is measured in a process of its own"),
    (r"cells of CSV exports that would start with .*", "no CSV export exists"),
)
