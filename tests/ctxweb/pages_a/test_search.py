"""Full-text search, on both databases."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ctxweb.models import Block, Body, Message, Revision, Session, Source
from ctxweb.queries.search import bodies_with, search_page
from ctxweb.services.search_index import bodies_index
from tests.ctxweb.pages_b.rows import digest_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def said() -> Any:
    """Puts texts into a session, as an import stores and indexes them."""
    source = Source.objects.create(sha256="1" * 64, size=1, name="a.jsonl")

    def say(*texts: str, name: str = "one") -> Session:
        session = Session.objects.create(public_id=f"searched{name:0>12}", format="claude_code", lane="main", title=f"Session {name}")
        revision = Revision.objects.create(session=session, source=source, state="ready")
        session.current = revision
        session.save()
        for seq, text in enumerate(texts, 1):
            body, made = Body.objects.get_or_create(digest=digest_of(text), defaults={"text": text, "chars": len(text)})
            if made:
                bodies_index(bodies=[(body.pk, text)])
            Message.objects.create(revision=revision, seq=seq, role="user", origin="human", line=seq, record=seq)
            Block.objects.create(revision=revision, seq=seq, i=1, kind="text", body=body, chars=len(text))
        return session

    return say


def places(q: str, **parameters: str) -> list[str]:
    return [f"{hit.seq}.{hit.i}" for group in search_page(q=q, **parameters).groups for hit in group.hits]


@pytest.mark.parametrize(
    ("q", "place"),
    [
        ("compaction", "1.1"),  # an English word
        ("COMPACT", "1.1"),  # its beginning, in any case
        ("getUserName", "2.1"),  # code
        ("UserNam", "2.1"),  # the beginning of a later part of a name
        ("src/ledger.py", "3.1"),  # a path
        ("压缩", "4.1"),  # two Chinese characters
        ("文压", "4.1"),  # across what a reader takes for two words
        ("etUserNa", "2.1"),  # a part that begins at no word: found by reading
        ("window trigger", "1.1"),  # all words of a question in one block
    ],
)
def test_a_question_finds_its_block(said: Any, q: str, place: str) -> None:
    said(
        "The compaction began at the trigger, far below the window.",
        "def getUserName(self): return self._name",
        "see src/ledger.py for the balance",
        "上下文压缩之后丢失了约束",
        "nothing of interest",
    )
    assert places(q) == [place]


def test_words_of_different_blocks_do_not_match_together(said: Any) -> None:
    said("only alpha here", "only omega here")
    assert places("alpha omega") == []


def test_the_match_is_marked_and_the_rest_is_escaped(said: Any, client: Client) -> None:
    said("<b>bold</b> & needle <script>alert(1)</script>")
    page = client.get("/search?q=needle").content.decode()
    assert "<mark>needle</mark>" in page
    assert "&lt;b&gt;bold" in page
    assert "<script>alert" not in page
    assert "/messages?around=1#m1" in page


def test_an_excerpt_shows_the_text_around_a_match_deep_inside(said: Any) -> None:
    said("x " * 50_000 + "needle in the hay" + " y" * 50_000)
    ((hit,),) = [group.hits for group in search_page(q="needle").groups]
    written = "".join(piece.text for piece in hit.excerpt)
    assert written.startswith("…x x")
    assert "needle in the hay y" in written
    assert len(written) < 300


def test_hits_are_grouped_by_session_and_one_session_can_be_searched_alone(said: Any) -> None:
    said(*(f"needle number {n}" for n in range(9)), name="one")
    other = said("a needle too", name="two")
    page = search_page(q="needle")
    assert [(group.name, len(group.hits), group.more) for group in page.groups] == [("Session two", 1, 0), ("Session one", 4, 5)]
    assert places("needle", session=other.public_id) == ["1.1"]


def test_hits_stand_in_the_order_of_the_file_whenever_their_texts_were_stored(said: Any, client: Client) -> None:
    said("needle c", name="one")
    said("needle b", "needle c", "needle a", name="two")
    assert [[hit.seq for hit in group.hits] for group in search_page(q="needle").groups] == [[1, 2, 3], [1]]
    assert "in the order of the file within each" in client.get("/search?q=needle").content.decode()


def test_texts_of_readings_that_are_not_shown_any_more_are_not_found(said: Any) -> None:
    session = said("needle")
    session.current = None
    session.save()
    assert search_page(q="needle").found == 0


@pytest.mark.parametrize("q", ['"', "'", "a' OR '1'='1", "NEAR(", "*", "%", "_", "\\", "AND", "x" * 500, "\u202e", "😀"])
def test_no_question_is_an_error(said: Any, client: Client, q: str) -> None:
    said("text")
    assert client.get("/search", {"q": q}).status_code == 200
    assert client.get("/api/v1/search", {"q": q}).status_code == 200


def test_a_scan_that_runs_out_of_time_says_so(said: Any, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    said("text")
    ticks = iter([0.0, 10.0, 20.0, 30.0])
    monkeypatch.setattr("ctxweb.queries.search.time.monotonic", lambda: next(ticks))
    found = bodies_with(q="ext", most=10)
    assert (found.ids, found.scanned, found.complete) == ((), True, False)


def test_the_list_of_sessions_can_be_filtered_by_text(said: Any, client: Client) -> None:
    said("needle", name="one")
    said("hay", name="two")
    page = client.get("/?q=needle").content.decode()
    assert "Session one" in page
    assert "Session two" not in page


def test_the_filtered_list_counts_what_it_shows_and_names_its_filters(said: Any, client: Client) -> None:
    said("needle", name="one")
    said("hay", name="two")
    page = client.get("/?q=needle").content.decode()
    assert "<b>1 session matches, 0 recorded" in page
    assert "1 of 2 lanes matches" in page
    assert ">text <b>needle</b>" in page
    fragment = client.get("/?q=needle", headers={"HX-Request": "true", "HX-Target": "list"}).content.decode()
    assert '<span id="answer" hx-swap-oob="true"><b>1 session matches, ' in fragment
    assert "without text</a>" in client.get("/?q=nowhere").content.decode()


def test_the_twin_has_the_hits_of_the_page(said: Any, client: Client) -> None:
    said("needle one", "needle two")
    twin = client.get("/api/v1/search?q=needle").json()
    assert twin["found"] == 2
    assert [hit["seq"] for hit in twin["groups"][0]["hits"]] == [1, 2]
