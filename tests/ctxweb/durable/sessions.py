"""A small session, imported, and items of durable state for it."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from ctxweb.models import Session
from ctxweb.services.session_import import session_import

LINES = (
    {"format": "ctxweb.message_list", "version": 1, "title": "A fix"},
    {"type": "message", "role": "user", "content": "The port is 5433."},
    {"type": "call", "usage": {"input_tokens": 10, "output_tokens": 4}},
    {"type": "message", "role": "assistant", "content": "Noted.", "call": 1},
)


def message_list(*more: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in (*LINES, *more))


def imported(data: bytes = message_list(), name: str = "talk.jsonl") -> Session:
    told = session_import(name=name, stream=BytesIO(data)).objects()
    assert {each["status"] for each in told} == {"imported"}, told
    return Session.objects.select_related("current", "project").get(public_id=told[0]["session"])


def fact(fact_id: str = "port", content: str = "The port is 5433.", **more: Any) -> dict[str, Any]:
    usual = {"source_pointer": "artifact:session:config.txt:" + "0" * 12, "last_confirmed_at": "2026-10-01T09:00:00Z"}
    return {"fact_id": fact_id, "content": content, **usual, **more}


def pending(item_id: str = "tests", status: str = "open", **more: Any) -> dict[str, Any]:
    usual = {"description": "Write the tests", "source_pointer": "transcript:session:1", "last_confirmed_at": "2026-10-01T09:00:00+02:00"}
    return {"item_id": item_id, "status": status, **usual, **more}


def hit(memory_id: str = "m1", **more: Any) -> dict[str, Any]:
    provenance = {"source_id": "artifact:session:notes.md:" + "1" * 12, "source_type": "note", "title": "Notes",
                  "captured_at": "2026-10-01T09:00:00Z"}  # fmt: skip
    return {"memory_id": memory_id, "score": 0.75, "rank": 1, "provenance": provenance, **more}
