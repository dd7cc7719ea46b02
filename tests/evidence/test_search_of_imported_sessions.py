"""What an import stored is found by page and by twin, on both databases: words, parts of code, two Chinese characters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.ctxweb.services.sessions_made import entry, lines
from tests.evidence.elements import page_of
from tests.evidence.homes import imported, shared_home

pytestmark = pytest.mark.django_db

TEXTS = {
    # number of the record: its text
    1: "The compaction began below the window.",
    3: "def getUserName(self): return self._name",
    5: "上下文压缩之后丢失了约束",
    7: "nothing of interest",
}


@pytest.fixture(scope="module")
def public_id(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    records = [entry(n, message={"role": "user", "content": TEXTS[n]}) if n in TEXTS else entry(n) for n in range(1, 9)]
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("search")):
        with django_db_blocker.unblock():
            session = imported(name="session.jsonl", data=lines(records))
        yield session.public_id


@pytest.mark.parametrize(
    ("q", "block"),
    [
        ("compaction", "1.1"),  # an English word
        ("window below", "1.1"),  # two of them
        ("UserName", "3.1"),  # a later part of an identifier
        ("serNam", "3.1"),  # letters from the middle of one
        ("压缩", "5.1"),  # two Chinese characters
        ("文压", "5.1"),  # across two words
    ],
)
def test_page_and_twin_find_the_block(q: str, block: str, public_id: str) -> None:
    shown = page_of(Client().get("/search", {"q": q}).content.decode())
    hits = [link.text for row in shown.all("tr") if "data-row" in row.attributes for link in row.all("a")[:1]]
    assert hits == [block]
    assert [link.attributes["href"] for link in shown.all("a") if link.text == block] == [f"/s/{public_id}/b/{block}"]
    twin = Client().get("/api/v1/search", {"q": q}).json()
    assert [(group["id"], f"{hit['seq']}.{hit['i']}") for group in twin["groups"] for hit in group["hits"]] == [(public_id, block)]
    assert twin["found"] == 1


def test_what_is_in_no_text_is_not_found(public_id: str) -> None:
    assert "Nothing holds" in page_of(Client().get("/search", {"q": "缩压"}).content.decode()).text
    assert Client().get("/api/v1/search", {"q": "缩压"}).json()["groups"] == []
