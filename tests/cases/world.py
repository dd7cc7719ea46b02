"""A shared case, imported into an empty home, and the pages that show it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from django.test import Client

from ctxweb.models import Block, Compaction, Finding, LedgerEntry, Message, ModelCall, Record, Session, Span
from ctxweb.services.session_import import session_import
from tests.shared import SHARED

CASES = SHARED / "cases"
AREAS = ("bugs", "formats", "import", "render")
FAMILIES = ("claude_code", "codex", "dsh", "openai", "anthropic", "none")
BLOCKS_LOOKED_AT = 10
CALLS_LOOKED_AT = 3


def cases() -> list[dict[str, Any]]:
    """The import cases of the areas and formats that exist."""
    if not CASES.is_dir():
        return []
    rows = [json.loads(line) for line in (CASES / "index.jsonl").read_text(encoding="utf-8").split("\n") if line]
    return [row for row in rows if row["area"] in AREAS and row["format"] in FAMILIES and row["check"] == "import"]


def built(case: dict[str, Any], folder: Path) -> Path:
    sys.path.insert(0, str(CASES))
    try:
        from build_case import build  # type: ignore[import-not-found]  # lies beside the cases
    finally:
        sys.path.pop(0)
    return Path(build(case, folder, CASES))


class Visible(HTMLParser):
    """What a person reads of a page, and what it is made of."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.targets: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.targets += [value or "" for name, value in attributes if name in ("href", "src", "action", "hx-get", "hx-post", "data")]

    def handle_data(self, data: str) -> None:
        self.text += data


@dataclass(slots=False)
class World:
    """`told` is what each import of the case printed, in order; `inputs` are the bytes that were given."""

    case: dict[str, Any]
    folder: Path
    told: list[list[dict[str, Any]]] = field(default_factory=list)
    inputs: list[bytes] = field(default_factory=list)

    def run(self) -> None:
        steps = self.case.get("steps")
        if not steps:
            path = built(self.case, self.folder / "in")
            paths = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
            results = []
            for each in paths:
                self.inputs.append(each.read_bytes())
                results.append(session_import(name=str(each.relative_to(path.parent)), path=each))
            self.told.append([told for result in results for told in result.objects()])
        for number, step in enumerate(steps or ()):
            place = self.folder / f"step{number}" / step["as"]
            place.parent.mkdir(parents=True)
            place.write_bytes((CASES / self.case["file"] / step["file"]).read_bytes())
            self.inputs.append(place.read_bytes())
            self.told.append(session_import(name=step["as"], path=place).objects())

    @property
    def last(self) -> list[dict[str, Any]]:
        return self.told[-1]

    @cached_property
    def client(self) -> Client:
        return Client()

    @property
    def sessions(self) -> list[Session]:
        return list(Session.objects.exclude(current=None).order_by("lane", "pk").select_related("current"))

    @property
    def main(self) -> Session:
        return next(session for session in self.sessions if session.lane == "main")

    @property
    def other(self) -> Session:
        return next(session for session in self.sessions if session.lane != "main")

    def calls(self, session: Session | None = None) -> list[ModelCall]:
        return list(ModelCall.objects.filter(revision=(session or self.main).current).order_by("n"))

    def messages(self, session: Session | None = None) -> list[Message]:
        return list(Message.objects.filter(revision=(session or self.main).current).order_by("seq"))

    def blocks(self, session: Session | None = None) -> list[Block]:
        rows = Block.objects.filter(revision=(session or self.main).current).order_by("seq", "i")
        return list(rows.select_related("body"))

    def compactions(self, session: Session | None = None) -> list[Compaction]:
        return list(Compaction.objects.filter(history__revision=(session or self.main).current).order_by("ordinal"))

    def recorded(self, session: Session | None = None) -> list[Compaction]:
        return [row for row in self.compactions(session) if row.index is not None and row.origin == "recorded"]

    def entries(self, session: Session | None = None) -> list[LedgerEntry]:
        return list(LedgerEntry.objects.filter(history__revision=(session or self.main).current).order_by("ordinal"))

    def findings(self, session: Session | None = None) -> list[Finding]:
        return list(Finding.objects.filter(revision=(session or self.main).current).order_by("ordinal"))

    def records(self) -> list[Record]:
        return list(Record.objects.order_by("source_id", "number"))

    def view(self, n: int, session: Session | None = None) -> list[str]:
        spans = Span.objects.filter(history__revision=(session or self.main).current, from_call__lte=n, to_call__gt=n)
        return [f"{span.seq}.{span.i}" for span in spans.order_by("position")]

    def texts(self, session: Session | None = None) -> str:
        return "\n".join(block.body.text for block in self.blocks(session))

    def raw(self, record: Record) -> bytes:
        """The bytes of a record, as the download of its page gives them."""
        session = Session.objects.filter(current__source=record.source).order_by("pk").first()
        assert session is not None
        response = self.client.get(f"/s/{session.public_id}/import/{record.number}?as=bytes")
        assert response.status_code == 200
        body = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
        return bytes(body)

    def addresses(self, session: Session) -> Iterator[str]:
        place = f"/s/{session.public_id}"
        yield from (f"{place}/", f"{place}/messages", f"{place}/ledger", f"{place}/import", f"{place}/view/{session.call_count + 1}")
        yield from (f"{place}/view/{n}" for n in range(1, session.call_count + 1)[:CALLS_LOOKED_AT])
        yield from (f"{place}/b/{block.seq}.{block.i}" for block in self.blocks(session)[:BLOCKS_LOOKED_AT])

    @cached_property
    def pages(self) -> dict[str, str]:
        """Every page of the case by address; none answers anything but 200."""
        found = {}
        for address in ["/", *(each for session in self.sessions for each in self.addresses(session))]:
            response = self.client.get(address)
            assert response.status_code == 200, address
            found[address] = response.content.decode()
        return found

    @cached_property
    def visible(self) -> dict[str, Visible]:
        return {address: Visible(page) for address, page in self.pages.items()}

    def page(self, suffix: str, session: Session | None = None) -> str:
        """The visible text of one page of a session, white space folded."""
        address = f"/s/{(session or self.main).public_id}/{suffix}"
        text = self.visible[address].text if address in self.visible else Visible(self.fetched(address)).text
        return re.sub(r"\s+", " ", text)

    def fetched(self, address: str) -> str:
        response = self.client.get(address)
        assert response.status_code == 200, address
        return response.content.decode()

    def api(self, path: str) -> Any:
        """A JSON twin; its text holds no NaN and no Infinity."""
        response = self.client.get(f"/api/v1/{path}")
        assert response.status_code == 200, path
        return json.loads(response.content, parse_constant=lambda word: _refuse(word, path))


def _refuse(word: str, path: str) -> None:
    raise AssertionError(f"{path} answers {word}")
