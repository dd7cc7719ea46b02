"""Sources of our own making, and durable items that point at them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from compaction.sources.resolution import SourceResolution
from ctxweb.models import DurableItem, Project, Session
from ctxweb.services.session_import import session_import
from ctxweb.sources.resolving import project_resolver

Finding = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """A root of artifacts."""

    root: Path

    def path(self, session: str, name: str) -> Path:
        return self.root / session / "tool-results" / name

    def write(self, session: str, name: str, content: bytes) -> str:
        """Make the file; its pointer."""
        path = self.path(session, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return pointer_to(session, name, content)


def pointer_to(session: str, name: str, content: bytes) -> str:
    return f"artifact:{session}:{name}:{hashlib.sha256(content).hexdigest()}"


def imported(data: bytes, name: str = "talk.jsonl") -> Session:
    told = session_import(name=name, stream=BytesIO(data)).objects()
    assert {each["status"] for each in told} == {"imported"}, told
    return Session.objects.select_related("current__source", "project").get(public_id=told[0]["session"])


def records(*lines: dict[str, object] | bytes) -> bytes:
    """A message list of these records; bytes are written as they are, without an end of line."""
    head: dict[str, object] = {"format": "ctxweb.message_list", "version": 1}
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in (head, *lines))


def said(content: str) -> dict[str, object]:
    return {"type": "message", "role": "user", "content": content}


def resolve(project: Project, pointer: str) -> SourceResolution:
    with project_resolver(project=project, pointers=[pointer], excerpt_chars=200) as opened:
        return opened.resolver.resolve(pointer)


def look(project: Project, pointer: str) -> Finding:
    """What a pointer of the project comes to: status and reason."""
    found = resolve(project, pointer)
    return found.status, found.reason


def keep(project: Project, session: str, pointers: Iterable[str], confirmed: str = "") -> None:
    """Items of a session's durable state that have these sources, as its index has them."""
    there = DurableItem.objects.filter(session=session).count()
    DurableItem.objects.bulk_create(
        DurableItem(
            project=project, session=session, version=1, domain="facts", ordinal=there + number, item_id=f"fact{there + number}",
            pointer=pointer, confirmed_sha256=confirmed,
        )
        for number, pointer in enumerate(pointers)
    )  # fmt: skip
