"""Import of the demo sessions, for a home that holds none."""

from __future__ import annotations

from io import BytesIO

from compaction.counters import bpe
from ctxweb.demo import DEMOS
from ctxweb.services.session_import import session_import

DEMO_ENCODING = "o200k_base"


def demo_import() -> None:
    """Make and import the three demo sessions; a session that is already there stays as it is."""
    for demo in DEMOS:
        session_import(stream=BytesIO(demo.make(_count)), name=demo.name)


def _count(text: str) -> int:
    return bpe.count_batch([text], DEMO_ENCODING)[0].tokens
