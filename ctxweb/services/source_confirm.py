"""What sources are at the moment of a confirmation: their digests are kept with the version that confirms them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxweb.audit_rows import latest_entries
from ctxweb.models import Project
from ctxweb.storable import pointer_key


def digests_now(project: Project, pointers: Sequence[str]) -> Mapping[str, str]:
    """SHA-256 of each source that was available at its last check, by pointer."""
    last = latest_entries(project_id=project.pk, pointers=pointers)
    found = {pointer: last[pointer_key(pointer)] for pointer in pointers if pointer_key(pointer) in last}
    return {pointer: entry.digest for pointer, entry in found.items() if entry.status == "available"}
