"""Transcript text on the pages of a session: shown literally, never as an element, nothing unseen."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from django.test import Client

from ctxweb.models import Block, Body, Finding, Message, Record, Session, Source
from ctxweb.visible_text import escaped
from tests.ctxweb.pages_b.rows import make_session
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.django_db

OWN = (
    "<script>window.pwn=1</script>", '" onmouseover="pwn()', "<img src=q onerror=pwn()>", "</textarea></pre><svg/onload=pwn()>",
    "{% load static %}{{ 7|add:42 }}", "<b data-hx-post='/x' hx-trigger=load>x</b>", "\u202enimda\u202c", "\x1b]0;t\x07",
    "&#60;b&#62;", "tag\U000e0041",
)  # fmt: skip
PAGES = (
    "/s/{s}/messages", "/s/{s}/messages?tool={t}", "/s/{s}/view/8", "/s/{s}/view/16", "/s/{s}/view/16?against=15&ghosts=all",
    "/s/{s}/ledger", "/s/{s}/b/3.1", "/s/{s}/b/2.2", "/s/{s}/import",
)  # fmt: skip


DENSEST = ("/s/{s}/messages", "/s/{s}/b/2.2")


class Page(HTMLParser):
    """The text of a page as people read it, its elements and the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.elements: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.text += data


def read(address: str) -> Page:
    page = Page()
    page.feed(Client().get(address).content.decode())
    return page


def fill(session: Session, payload: str) -> None:
    """Give every text of the session the payload; long enough ones of the tool's name and path are cut like any text."""
    blocks = Block.objects.filter(revision=session.current)
    blocks.update(excerpt=payload, chars=len(payload))
    blocks.filter(kind__in=("tool_use", "tool_result")).update(
        tool_name=payload, path=f"dir/{payload}", tool_id=payload, pointer=payload, media_type=payload
    )
    Body.objects.update(text=payload, chars=len(payload))
    Message.objects.filter(revision=session.current).update(label=payload, native_id=payload, model=payload)
    Session.objects.update(title=payload, native_id=payload, model=payload, producer_version=payload)
    Source.objects.update(name=payload, member=payload, unknown_types={payload: 1})
    Record.objects.update(type=payload[:80])
    Finding.objects.update(detail=payload)


def payloads() -> list[str]:
    if not SHARED.is_dir():
        return list(OWN)
    index = (SHARED / "cases" / "index.jsonl").read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in index if line]
    return [*OWN, *(payload for case in cases if case["area"] == "render" for payload in case.get("payloads") or ())]


def test_hostile_text_is_shown_as_it_is_and_makes_no_element_or_attribute() -> None:
    session = make_session(turns=7, name="h")
    fill(session, "plain")
    clean = {pattern: read(address_of(pattern, session, "plain")) for pattern in PAGES}
    for payload in payloads():
        fill(session, payload)
        for pattern in PAGES if payload in OWN else DENSEST:
            page = read(address_of(pattern, session, payload))
            assert page.elements <= clean[pattern].elements | {"span"}, (payload, pattern)
            assert page.attributes <= clean[pattern].attributes, (payload, pattern)
            assert escaped(payload)[:24] in page.text, (payload, pattern)


def address_of(pattern: str, session: Session, payload: str) -> str:
    return pattern.format(s=session.public_id, t=quote(payload))


def test_the_whole_text_of_a_body_is_shown_escaped_and_downloaded_as_it_is() -> None:
    payload = "\x1b[2J<script>pwn()</script>\u202e"
    session = make_session(turns=1, name="h", text=payload)
    digest = Client().get(f"/api/v1/sessions/{session.public_id}/messages?limit=1").json()["messages"][0]["blocks"][0]["body"]
    page = read(f"/s/{session.public_id}/body/{digest}")
    assert escaped(f"Question 1: {payload}") in page.text
    response = Client().get(f"/s/{session.public_id}/body/{digest}?as=text")
    assert b"".join(response.streaming_content).decode() == f"Question 1: {payload}"  # type: ignore[attr-defined]
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{digest}.txt"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_long_text_is_folded_and_reached_in_pieces() -> None:
    session = make_session(turns=1, name="l", text="<&\x1b" * 20_000)
    text = Client().get(f"/s/{session.public_id}/b/1.1").content.decode()
    assert len(text) < 100_000
    assert "characters folded" in text
    window = Client().get(f"/api/v1/sessions/{session.public_id}/messages?limit=1").json()
    body = window["messages"][0]["blocks"][0]["body"]
    start: int | None = 0
    whole, pieces = "", 0
    while start is not None:
        page = Client().get(f"/s/{session.public_id}/body/{body}?start={start}")
        assert len(page.content) < 200_000
        piece = Client().get(f"/api/v1/sessions/{session.public_id}/body/{body}?start={start}").json()
        whole, start, pieces = whole + piece["text"], piece["next"], pieces + 1
    assert whole == "Question 1: " + "<&\x1b" * 20_000
    assert pieces > 1


@needs_shared
def test_the_shared_payloads_are_among_those_tried() -> None:
    assert len(payloads()) > len(OWN) + 20
