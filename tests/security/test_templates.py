"""Templates escape what a transcript says, and hold nothing that the content security policy would block."""

import re
from pathlib import Path

import pytest

from tests.shared import REPO

pytestmark = pytest.mark.nodb
TEMPLATES = sorted((REPO / "templates").rglob("*.html"))
HOLES = {
    "a filter that stops escaping": r"\|\s*(safe|safeseq)\b",
    "escaping turned off": r"\{%\s*autoescape\s+off",
    "a script in the page": r"<script(?![^>]*\ssrc=)",
    "a style in the page": r"<style\b|\sstyle\s*=",
    "an event attribute": r"\son[a-z]+\s*=",
    "an htmx attribute that holds JavaScript": r"hx-on|hx-vals\s*=\s*[\"']js:|hx-headers\s*=\s*[\"']js:|javascript:",
    "an htmx trigger filter": r"hx-trigger\s*=\s*[\"'][^\"']*\[",
    "an address of another host": r"(?:src|href|action)\s*=\s*[\"']?(?:https?:)?//",
    "an unquoted attribute that holds a value": r"\s[\w-]+=\{[{%]",
}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(REPO)))
def test_a_template_has_no_hole(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert [hole for hole, pattern in HOLES.items() if re.search(pattern, text)] == []


@pytest.mark.parametrize(
    ("text", "hole"),
    [
        ("{{ a|safe }}", "a filter that stops escaping"),
        ("<script>x</script>", "a script in the page"),
        ('<p style="x">', "a style in the page"),
        ('<a onclick="x">', "an event attribute"),
        ('<a hx-trigger="click[x]">', "an htmx trigger filter"),
        ('<img src="//evil.example">', "an address of another host"),
        ("<a title={{ a }}>", "an unquoted attribute that holds a value"),
    ],
)
def test_each_hole_would_be_seen(text: str, hole: str) -> None:
    assert re.search(HOLES[hole], text)
    assert not re.search(HOLES[hole], '<script src="{% static \'a.js\' %}" defer></script><a href="/" title="{{ a }}">{{ a }}</a>')
