"""What a text is, judged by its head: a log, a diff, JSON, a listing, a file, or something else.

A guess for limits that differ by content. It reads the first `HEAD_CHARS` characters only, so a long or hostile text
costs no more than a short one; the same text always gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

ContentKind = Literal["log", "diff", "json", "listing", "file", "other"]

CONTENT_KINDS: tuple[ContentKind, ...] = get_args(ContentKind)
HEAD_CHARS = 4096
LINE_CHARS = 400  # of a longer line only its beginning is judged
MOST_LINES = 40
MOST = 0.6  # this share of the lines decides for a listing or a numbered file
SOME = 0.3  # logs are mixed with other lines

_DIFF = re.compile(r"(?:diff --git |Index: |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|--- \S.*\n\+\+\+ \S)", re.MULTILINE)
_JSON_ITEM = r"(?:-?\d[\d.eE+-]*|true|false|null)\s*[,\]]"
_JSON = re.compile(rf'\s*(?:\{{\s*(?:"(?:[^"\\\n]|\\.){{0,200}}"\s*:|\}}\s*\Z)|\[\s*(?:[{{\["]|\]\s*\Z|{_JSON_ITEM}))')
_NUMBERED = re.compile(r"\s*\d+(?:→|\t|:\s|\|)")
_SOURCE = re.compile(
    r"(?:#!|<\?xml|<!DOCTYPE|# -\*-|\"\"\"|/\*|//\s?\S|#include |#pragma |using [\w.]+;|import [\w.{*\"']|from [\w.]+ import "
    r"|package [\w.]+;?\s*$|use [\w:]+|(?:async )?def \w+\(|class \w+|(?:pub )?fn \w+|func \w+|module [\w.]+)"
)
_LISTED = re.compile(
    r"(?:[dlcbsp-][rwxsStT-]{9}[.+@]?\s.*|total \d+[KMG]?|(?:\.{0,2}/)?[\w@.+-]+(?:/[\w@.+-]+)*/?"
    r"|[│├└─\s]+[\w@.+-]+/?|[\w@.+/-]+:\d+:.*)"
)
_LOGGED = re.compile(
    r"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|.{0,60}\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b|.{0,200}\b(?:PASSED|FAILED|SKIPPED)\b"
    r"|(?:ok|not ok|FAIL|PASS|---) |\s+at \S+ ?\(|\s+File \"|Traceback )"
)


def content_kind(text: str) -> ContentKind:
    """The kind of `text`. Where nothing speaks for one of the others, `other`."""
    head = text[:HEAD_CHARS]
    lines = [line[:LINE_CHARS] for line in head.splitlines()[:MOST_LINES] if line.strip()]
    if not lines:
        return "other"
    if _DIFF.match(head) or _share(_DIFF, lines) * len(lines) >= 1:
        return "diff"
    if _JSON.match(head):
        return "json"
    return _by_lines(lines)


def _by_lines(lines: Sequence[str]) -> ContentKind:
    if _share(_NUMBERED, lines) >= MOST or any(_SOURCE.match(line) for line in lines[:3]):
        return "file"
    if _share(_LOGGED, lines) >= SOME:
        return "log"
    if len(lines) > 1 and _share(_LISTED, lines, whole=True) >= MOST:
        return "listing"
    return "other"


def _share(pattern: re.Pattern[str], lines: Sequence[str], *, whole: bool = False) -> float:
    test = pattern.fullmatch if whole else pattern.match
    return sum(test(line) is not None for line in lines) / len(lines)
