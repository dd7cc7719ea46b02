"""*long*: an agent forgets an instruction. Several mechanisms take content, one of them without a record.

The story that docs/tutorial.md follows: in the first message Ana asks that nothing writes to the table `events` except
`EventGate.append()`. The first summary does not carry that sentence; the agent then writes the table directly.
"""

from __future__ import annotations

from typing import Any

from ctxweb.demo.script import Count, Script
from ctxweb.demo.texts import listing, source_file, test_log

INSTRUCTION = (
    "Move the order history to the new event store. One rule: nothing may write to the table `events` directly, "
    "only `EventGate.append()` may, because it assigns the sequence number. 事件 的顺序不能乱。"
)
FIRST_SUMMARY = """1. Request and intent: move the order history of the shop to the new event store.
2. Files: shop/order/history.py is converted; shop/event/store.py and shop/event/gate.py were read; shop/invoice/replay.py is next.
3. Errors and fixes: the replay test failed because timestamps were naive; they are UTC now.
4. Pending: convert invoice replay, then refunds; run the whole suite.
5. Current state: 14 of 31 call sites are converted, the tests of orders pass."""
SECOND_SUMMARY = """1. Request and intent: move the order history to the event store; nothing writes to `events` except EventGate.append().
2. Files: shop/refund/settle.py wrote the table directly and was corrected to use EventGate.
3. Errors and fixes: two rows had the same sequence number after the direct INSERT; they were renumbered.
4. Pending: the stock call sites.
5. Current state: 29 of 31 call sites are converted."""


def long_session(count: Count) -> bytes:
    """About ninety calls: two summaries, a micro-compaction, a spill, a rewind, a subagent, a drop without a record."""
    script = Script(seed=12, count=count, hidden=21_300)
    script.title("Move the order history to the event store")
    script.user(INSTRUCTION)
    explore(script)
    convert(script)
    script.compact(FIRST_SUMMARY, trigger="auto", attached=7_900)
    forget(script)
    delegate(script)
    lose_without_record(script)
    go_back(script)
    script.user("/compact", isMeta=True)
    script.compact(SECOND_SUMMARY, trigger="manual", attached=2_100)
    finish(script)
    return script.file()


def read(script: Script, path: str, seed: int, functions: int, *before: dict[str, Any]) -> dict[str, Any]:
    return script.step("Read", source_file(seed, functions), *before, file_path=f"/home/ana/shop/{path}")


def change(script: Script, path: str, old: str, new: str) -> None:
    script.step("Edit", "The file has been updated.", file_path=f"/home/ana/shop/{path}", old_string=old, new_string=new)


def explore(script: Script) -> None:
    script.step(
        "Glob",
        listing(50, 120),
        script.think("First find every place that reads or writes the history, then read the gate."),
        script.say("I will look at the event store and at every caller first."),
        pattern="shop/**/*.py",
    )
    read(script, "shop/event/gate.py", 51, 30, script.say("The gate comes first: it assigns the sequence number."))
    read(script, "shop/event/store.py", 52, 64)
    old = [read(script, f"shop/order/part_{number}.py", 53 + number, 56) for number in range(4)]
    old.append(script.step("Bash", test_log(60, 180), command="pytest -q tests/order"))
    script.user("Please keep the public names as they are.")
    read(script, "shop/order/history.py", 61, 72, script.think("History has 31 call sites; convert them in order."))
    read(script, "shop/core/clock.py", 62, 20)
    script.micro(*old[:4])
    script.step("Bash", test_log(63, 90), script.say("The old parts are no longer needed."), command="pytest -q tests/event")


def convert(script: Script) -> None:
    for number in range(12):
        change(script, "shop/order/history.py", f"rows = table.insert({number})", f"gate.append(OrderEvent.of({number}))")
        if number % 3 == 0:
            script.step("Bash", test_log(70 + number, 60), command=f"pytest -q tests/order -k part_{number}")
    for number in range(7):
        read(script, f"shop/invoice/replay_{number}.py", 80 + number, 74)
        script.answer(script.say(f"`replay_{number}` reads the store through the gate; nothing to change in its callers."))
        script.user("Go on.")
    script.step("Bash", test_log(90, 200), script.think("One more run before the refunds."), command="pytest -q")


def forget(script: Script) -> None:
    script.step("Read", source_file(91, 50), script.say("I go on with the refunds."), file_path="/home/ana/shop/shop/refund/settle.py")
    spill = script.use("Bash", command="python -m shop.event.dump --all")
    script.answer(script.say("I need all stored events of the refunds."), spill)
    script.result(
        spill,
        "<persisted-output>\nOutput too large (1.4MB). Full output saved to: "
        f"/home/ana/.claude/projects/-home-ana-shop/{script.session_id}/tool-results/{spill['id']}.txt\n\n"
        f"Preview (first 2KB):\n{listing(92, 44)}\n...\n</persisted-output>",
    )
    change(
        script,
        "shop/refund/settle.py",
        "history.add(refund)",
        'connection.execute("INSERT INTO events (kind, body) VALUES (?, ?)", ("refund", refund.json()))',
    )
    script.step("Bash", test_log(93, 110), script.say("Refunds write their events now."), command="pytest -q tests/refund")
    for number in range(5):
        read(script, f"shop/refund/case_{number}.py", 94 + number, 40)


def delegate(script: Script) -> None:
    """A subagent of its own lane: its records are sidechains of this file."""
    task = script.use(
        "Task", description="Check sequence numbers", prompt="Look for gaps in the sequence numbers.", subagent_type="general"
    )
    asked = script.answer(script.say("A second pair of eyes on the sequence numbers."), task)
    prompt, hidden, sent = script.prompt, script.hidden, script.sent
    script.prompt, script.hidden, script.sent, script.last = {}, 9_800, 0, None
    agent: dict[str, Any] = {"isSidechain": True, "agentId": "a51c09e2"}
    script.chain("user", message={"role": "user", "content": "Look for gaps in the sequence numbers."}, **agent)
    use = script.use("Grep", pattern="INSERT INTO events", path="shop")
    script.answer(script.say("I will search for direct writes."), use, **agent)
    found = {"type": "tool_result", "tool_use_id": use["id"], "content": "shop/refund/settle.py:88: INSERT INTO events (kind, body)"}
    key = script.chain("user", message={"role": "user", "content": [found]}, **agent)
    script.prompt[key] = script.size(str(found["content"]))
    script.answer(script.say("Two rows share sequence 4711: settle.py writes the table without the gate."), **agent)
    script.prompt, script.hidden, script.sent, script.last = prompt, hidden, sent, asked
    script.result(task, "Two rows share sequence 4711: settle.py writes the table without the gate.")


def lose_without_record(script: Script) -> None:
    script.wait(5_400)
    script.drop_unrecorded(11_600)
    script.user("I was away. Why do two events have the number 4711?")
    read(script, "shop/refund/settle.py", 91, 50, script.think("The direct INSERT did not ask the gate for a number."))


def go_back(script: Script) -> None:
    """Ana withdraws an answer and asks again: the branch between is given up."""
    before = script.answer(script.say("`settle.py` writes the table directly; the gate never saw those rows."))
    script.user("Just delete the two rows.")
    script.step("Bash", "2 rows deleted", command="sqlite3 shop.db 'DELETE FROM events WHERE seq = 4711'")
    script.rewind(before)
    script.user("No: renumber them, and write through EventGate.append() as I asked in the beginning.")
    change(
        script,
        "shop/refund/settle.py",
        'connection.execute("INSERT INTO events (kind, body) VALUES (?, ?)", ("refund", refund.json()))',
        "gate.append(RefundEvent.of(refund))",
    )
    script.step("Bash", test_log(101, 160), script.say("Refunds go through the gate again."), command="pytest -q")


def finish(script: Script) -> None:
    for number in range(6):
        read(script, f"shop/stock/level_{number}.py", 110 + number, 34)
        change(script, f"shop/stock/level_{number}.py", "history.add(move)", "gate.append(StockEvent.of(move))")
    script.step("Bash", test_log(120, 140), command="pytest -q")
    script.answer(script.say("All 31 call sites are converted; every event passes the gate. 事件 的顺序不会乱。"))
