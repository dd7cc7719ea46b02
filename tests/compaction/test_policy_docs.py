"""docs/policies.md says what the registries say, and its examples run."""

from __future__ import annotations

import re

import pytest

from tests.compaction.policy_page import PAGE, section, tables

TABLES = tables()


@pytest.mark.parametrize("heading", TABLES)
def test_the_page_says_what_the_registries_say(heading: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert section(page, heading) == TABLES[heading], "run `python -m tests.compaction.policy_page` and look at what it changed"


def test_the_example_of_settings_runs() -> None:
    codes = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert codes
    for code in codes:
        exec(compile(code, "docs/policies.md", "exec"), {})
