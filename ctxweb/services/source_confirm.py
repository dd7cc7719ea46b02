"""What sources are at the moment of a confirmation: their digests are kept with the version that confirms them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ctxweb.models import Project
from ctxweb.services.importing.tables import batches
from ctxweb.services.source_verify import sources_check

CONFIRM_SECONDS = 5  # a person waits: what was not looked at by then has no digest, and the next check says its status
POINTERS_AT_ONCE = 100


def digests_now(project: Project, pointers: Sequence[str]) -> Mapping[str, str]:
    """SHA-256 of each source that is available now, by pointer."""
    deadline = time.monotonic() + CONFIRM_SECONDS
    found: dict[str, str] = {}
    for batch in batches(pointers, POINTERS_AT_ONCE):
        if time.monotonic() > deadline:
            break
        for one in sources_check(project=project, pointers=batch, run="confirmation").resolutions:
            if one.status == "available" and one.evidence_sha256:
                found[one.pointer] = one.evidence_sha256
    return found
