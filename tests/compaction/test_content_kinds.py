"""A text's kind is read off its head."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.content_kinds import CONTENT_KINDS, HEAD_CHARS, content_kind

TEXTS = {
    "git diff": ("diff", "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n a\n+b\n"),
    "plain diff": ("diff", "--- old.txt\n+++ new.txt\n@@ -1 +1 @@\n-a\n+b\n"),
    "commit with a diff": ("diff", "commit 0123abc\nAuthor: Ana\n\n    Totals\n\ndiff --git a/t.py b/t.py\n@@ -1,2 +1,3 @@\n"),
    "object": ("json", '{"id": 7, "rows": [1, 2, 3]}'),
    "array of objects": ("json", '[\n  {"id": 7}\n]'),
    "numbers": ("json", "[1, 2, 3]"),
    "JSON lines": ("json", '{"id": 7}\n{"id": 8}\n'),
    "numbered lines": ("file", "     1→def total(lines):\n     2→    return sum(lines)\n     3→\n"),
    "source": ("file", "#!/usr/bin/env python\nimport sys\nprint(sys.argv)\n"),
    "module": ("file", "from __future__ import annotations\n\nimport re\n"),
    "log with times": ("log", "2026-01-01 10:00:00 INFO start\n2026-01-01 10:00:01 ERROR stop\n"),
    "log in brackets": ("log", "[2026-01-01 10:00:00] start\n[2026-01-01 10:00:01] stop\n"),
    "test run": ("log", "tests/test_a.py::test_one PASSED\ntests/test_a.py::test_two FAILED\n"),
    "stack": ("log", 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: no\n'),
    "ls -l": ("listing", "total 8\n-rw-r--r-- 1 ana ana 10 Jan  1 10:00 a.txt\ndrwxr-xr-x 2 ana ana 40 Jan  1 10:00 src\n"),
    "find": ("listing", "./src/a.py\n./src/b.py\n./README.md\n"),
    "hits": ("listing", "src/a.py:10:def total\nsrc/b.py:20:def lines\n"),
    "prose": ("other", "The port is 80. It was 8080 before the change, and nobody remembers why.\n"),
    "one word": ("other", "done"),
    "blank": ("other", " \n \n"),
    "nothing": ("other", ""),
}


@pytest.mark.parametrize("name", TEXTS)
def test_kind_of(name: str) -> None:
    kind, text = TEXTS[name]
    assert content_kind(text) == kind


def test_only_the_head_is_judged() -> None:
    head = TEXTS["log with times"][1] * 100
    assert content_kind(head[:HEAD_CHARS] + '{"id": 7}' * 1000) == content_kind(head) == "log"


@given(st.text(max_size=300))
def test_every_text_has_a_kind_that_does_not_change(text: str) -> None:
    assert content_kind(text) in CONTENT_KINDS
    assert content_kind(text) == content_kind(text)


@pytest.mark.parametrize("piece", ["[" * 9000, '{"' + "\\" * 9000, "a/" * 9000, "│ " * 9000, "-" * 9000])
def test_a_hostile_text_is_judged_as_quickly_as_any(piece: str) -> None:
    assert content_kind(piece) in CONTENT_KINDS
