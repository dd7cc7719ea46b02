"""A bundle for export: manifest, entries of one chain, the status of each pointer at its end, and whatever rows a caller adds.

`verify_bundle` checks it. It is text, one JSON object a line, and every byte of it is under some hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from compaction.errors import AuditError
from compaction.sources.verify_bundle import FORMAT, AuditEntry, Head, canonical, manifest_mac, status_row

OWN_PARTS = ("entries", "statuses")


def bundle_lines(
    entries: Sequence[AuditEntry],
    *,
    tenant: str,
    tool: str,
    made_at: str,
    start: Head | None = None,
    key: bytes | None = None,
    more: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
) -> Iterator[bytes]:
    """The lines of the bundle. `start`: the place before the first entry where it is not the chain's beginning; `tool`: name
    and version of the writer; `more`: further parts by name, such as sign-offs. Raises AuditError for a name that is taken."""
    taken = [name for name in more or {} if name in OWN_PARTS]
    if taken:
        raise AuditError(f"a part of a bundle cannot be named {taken[0]}: choose another name")
    parts = {
        "entries": [canonical(asdict(entry)) for entry in entries],
        "statuses": [canonical(row) for row in {entry.pointer: status_row(entry) for entry in entries}.values()],
        **{name: [canonical(dict(row)) for row in rows] for name, rows in (more or {}).items()},
    }
    before = start or Head()
    manifest: dict[str, object] = {
        "format": FORMAT,
        "tool": tool,
        "tenant": tenant,
        "made_at": made_at,
        "start": str(before),
        "head": str(Head(entries[-1].seq, entries[-1].hash) if entries else before),
        "parts": [
            {"name": name, "lines": len(lines), "sha256": hashlib.sha256(b"".join(lines)).hexdigest()} for name, lines in parts.items()
        ],
    }
    sealed = manifest | {"mac": manifest_mac(key, manifest) if key else ""}
    yield from _summed([canonical(sealed), *(line for lines in parts.values() for line in lines)])


def _summed(lines: Sequence[bytes]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
        yield line
    yield canonical({"sha256": digest.hexdigest()})
