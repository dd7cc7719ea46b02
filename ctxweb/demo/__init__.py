"""Three sessions of our own making, so that a newcomer sees every page alive.

`DEMOS` lists them: *tidy* has no compaction, *long* has several mechanisms, *broken* is what damaged files look like.
Each is made by a generator from a fixed seed: the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ctxweb.demo.broken import broken_session
from ctxweb.demo.long import long_session
from ctxweb.demo.tidy import tidy_session

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demo session: `make(count)` gives the bytes of its file; `count` counts the tokens of a text."""

    name: str
    make: Callable[[Count], bytes]


DEMOS: tuple[Demo, ...] = (
    Demo(name="demo-tidy.jsonl", make=tidy_session),
    Demo(name="demo-long.jsonl", make=long_session),
    Demo(name="demo-broken.jsonl", make=broken_session),
)
