"""Addresses of the pages and of their JSON twins. Pages live at the root of the site; a test holds these against the URL patterns."""

from __future__ import annotations

from urllib.parse import quote, urlencode

SESSIONS = "/"
IMPORT = "/import"
SEARCH = "/search"
JOBS = "/jobs"
AUDIT = "/audit"
SETTINGS = "/settings"
API = "/api/v1"


def with_query(path: str, /, **parameters: str | int | None) -> str:
    """`path` with those parameters that have a value, in the given order."""
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def sessions(**parameters: str | int | None) -> str:
    return with_query(SESSIONS, **parameters)


def search(q: str = "", **parameters: str | int | None) -> str:
    return with_query(SEARCH, q=q, **parameters)


def overview(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/", **parameters)


def block_said(session: str, block: str) -> str:
    """Where the block `seq.i` stands among the messages."""
    return with_query(f"/s/{session}/messages", around=block.partition(".")[0]) + f"#b{block}"


def messages(session: str, *, seq: int | None = None, **parameters: str | int | None) -> str:
    """The messages page; with `seq`, the window that holds that message, at its anchor."""
    anchor = f"#m{seq}" if seq is not None else ""
    around = {"around": seq} if seq is not None else {}
    return with_query(f"/s/{session}/messages", **around, **parameters) + anchor


def view(session: str, n: int, *, against: int | None = None, h: str = "") -> str:
    """The prompt of call `n` in the history `h`, compared with call `against` where it is given."""
    return with_query(f"/s/{session}/view/{n}", against=against, h=h)


def ledger(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/ledger", **parameters)


def fate(session: str, seq: int, i: int, *, h: str = "") -> str:
    return with_query(f"/s/{session}/b/{seq}.{i}", h=h)


def summarise(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/summarise", **parameters)


def comparison(session: str, old: str, new: str) -> str:
    """Two summary jobs side by side."""
    return f"/s/{session}/summarise/{old}..{new}"


def checkpoints(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/checkpoints", **parameters)


def checkpoint(session: str, key: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/checkpoints/{key}", **parameters)


def checkpoint_range(session: str, key: str, **parameters: str | int | None) -> str:
    """The checkpoint of this key beside the range that it replaced."""
    return with_query(f"/s/{session}/checkpoints/{key}/range", **parameters)


def checkpoint_diff(session: str, old: str, new: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/checkpoints/{old}..{new}", **parameters)


def replay(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/replay", **parameters)


def units(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/units", **parameters)


def sources(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/sources", **parameters)


def source_verify(session: str) -> str:
    return f"/s/{session}/sources/verify"


def source_edit(session: str, **parameters: str | int | None) -> str:
    """The form that changes an item (`item`, its key), moves it (`move`), removes it (`remove`), or adds one (`new`)."""
    return with_query(f"/s/{session}/sources/edit", **parameters)


def source_keep(session: str, block: str) -> str:
    """The form that keeps what block `seq.i` says as a fact."""
    return f"/s/{session}/keep/{block}"


def source_proposal(session: str, number: int) -> str:
    return f"/s/{session}/sources/proposals/{number}"


def source_preview(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/sources/preview", **parameters)


def source_versions(session: str, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/sources/versions", **parameters)


def source_version(session: str, number: int, **parameters: str | int | None) -> str:
    return with_query(f"/s/{session}/sources/versions/{number}", **parameters)


def source_events(session: str) -> str:
    return f"/s/{session}/sources/events"


def source_badges(session: str) -> str:
    return f"/s/{session}/sources/badges"


def import_report(session: str) -> str:
    return f"/s/{session}/import"


def audit(**parameters: str | int | None) -> str:
    return with_query(AUDIT, **parameters)


def audit_drift(**parameters: str | int | None) -> str:
    return with_query(f"{AUDIT}/drift", **parameters)


def audit_entries(**parameters: str | int | None) -> str:
    return with_query(f"{AUDIT}/entries", **parameters)


def body(session: str, digest: str) -> str:
    return f"/s/{session}/body/{digest}"


def job(public_id: str) -> str:
    return f"/jobs/{public_id}"


def api_plan(session: str, **asked: str | int | None) -> str:
    """The dry run of a summary."""
    return with_query(f"{API}/sessions/{session}/summaries/plan", **asked)


def api_units(session: str, **parameters: str | int | None) -> str:
    return with_query(f"{API}/sessions/{session}/units", **parameters)


def api_sessions(**parameters: str | int | None) -> str:
    return with_query(f"{API}/sessions", **parameters)


def api_session(session: str, part: str = "") -> str:
    """The session's twin, or that of its `messages` or `calls`."""
    return f"{API}/sessions/{session}" + (f"/{part}" if part else "")


def api_history(history: str, part: str = "") -> str:
    """The history's twin, or a part of it: `ledger`, `calls/7/view`, `blocks/12.1/fate`."""
    return f"{API}/histories/{history}" + (f"/{part}" if part else "")


def api_checkpoint(public_id: str, part: str = "") -> str:
    """The checkpoint's twin, or a part of it: `range`, `diff/OTHER`."""
    return f"{API}/checkpoints/{public_id}" + (f"/{part}" if part else "")


def api_search(q: str, **parameters: str | int | None) -> str:
    return with_query(f"{API}/search", q=q, **parameters)


def api_job(public_id: str) -> str:
    return f"{API}/jobs/{quote(public_id)}"


def api_audit(part: str = "", **parameters: str | int | None) -> str:
    """The twin of the entries, or a part of the audit: `sources`, `drift`, `chain`, `bundle`."""
    return with_query(f"{API}/audit" + (f"/{part}" if part else ""), **parameters)
