"""*broken*: what damaged and hostile files look like. Every record is accounted for in the import report."""

from __future__ import annotations

import json

from ctxweb.demo.script import Count, Script
from ctxweb.demo.texts import source_file

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> [open](javascript:alert(1)) "
    "\u202egnp.exe\u202c zero\u200bwidth \x1b[31mred\x1b[0m {{ 7*7 }} ' OR 1=1 --"
)


def broken_session(count: Count) -> bytes:
    """Orphans, hostile text, impossible figures, a glued line, a fragment, NUL bytes, bad UTF-8, a torn tail."""
    script = Script(seed=13, count=count, hidden=15_900)
    script.title("Why the nightly export stops (a damaged file)")
    script.user("Why does the nightly export stop? " + HOSTILE)
    script.step("Read", source_file(40, 6), script.say(HOSTILE), file_path="/home/ana/shop/export/<b>nightly</b>.py")
    lost = script.use("Bash", command="tail -n 40 export.log")
    script.answer(script.say("I will look at the log."), lost)
    script.user("It was killed; go on without the log.")
    orphan = script.use("Read", file_path="/home/ana/shop/export/queue.py")
    script.result(orphan, "This result has no call in the file.\n" + HOSTILE, is_error=True)
    script.answer(script.say("The export stops when the queue is empty: `get()` waits for ever."))
    lines = script.records
    glue_last_two(lines)
    script.write({"type": "telemetry-beat", "sessionId": script.session_id, "payload": {"uptime": 812}})
    lines.append(b'{"type":"user","uuid":"0b7a","message":{"role":"user","content":"half a rec')
    lines.append(b"not JSON at all: <svg onload=alert(1)>")
    script.user("次の質問: does 队列 need a timeout?")
    lines[-1] = b"\x00" * 16 + lines[-1]
    impossible_usage(script)
    script.user("Bytes that are no text follow: MARK")
    lines[-1] = lines[-1].replace(b"MARK", b"\xff\xfe\xc3(")
    lines.append(lines[1])
    lines.append(b"[1,2,3]")
    script.answer(script.say("With a timeout of 30 s the worker ends by itself and the export goes on."))
    script.user("Thanks. Please also write the release note")
    return b"\n".join(lines)[:-41]


def glue_last_two(lines: list[bytes]) -> None:
    """Two records on one line without a newline between them, as a crashed writer leaves them."""
    last = lines.pop()
    lines[-1] += last


def impossible_usage(script: Script) -> None:
    """A call whose figures cannot be counts: they stay in the raw text and are shown as unknown."""
    script.answer(script.say("Yes: without one a lost producer blocks the worker."))
    record = json.loads(script.records[-1])
    record["message"]["usage"] |= {"input_tokens": "1200", "cache_read_input_tokens": -5, "output_tokens": 1.5}
    script.records.pop()
    script.write(record)
