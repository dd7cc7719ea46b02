"""A model for summary jobs: a real server, the settings that lead to it, and a client with little patience."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from ctxweb.llm.network import Bounds
from ctxweb.llm.prices import ModelPrice
from ctxweb.llm.registry import SUMMARIZERS
from ctxweb.services import summary_model
from tests.model_server import ModelServer, model_server

IMPATIENT = Bounds(connect=1.0, read=0.4, total=1.2)
MODEL = "test-model"
WRITTEN_BY_JOBS = ("ctxweb_job", "ctxweb_summary", "ctxweb_breaker", "ctxweb_body")  # with all that begins so: calls, index of words


Serve = Callable[..., ModelServer]


@contextmanager
def configured_model(settings: Any, *behaviours: str, patch: pytest.MonkeyPatch, bounds: Bounds = IMPATIENT) -> Iterator[ModelServer]:
    """A server that behaves so, and this program set up to ask it for nothing."""
    with model_server(*behaviours) as server:
        for kind in ("ANTHROPIC", "OPENAI"):
            setattr(settings, f"CTXWEB_{kind}_BASE_URL", server.url if kind == "ANTHROPIC" else f"{server.url}/v1")
            setattr(settings, f"CTXWEB_{kind}_API_KEY", "key")
            setattr(settings, f"CTXWEB_{kind}_MODEL", MODEL)
        settings.CTXWEB_MODEL_PRICES = prices("1")
        patch.setattr(summary_model, "AGAIN_SECONDS", 0.0)
        patch.setattr(summary_model, "client_for", lambda summarizer, _: client(summarizer, settings, bounds))
        yield server


def client(summarizer: str, settings: Any, bounds: Bounds) -> Any:
    kind = next(kind for kind in SUMMARIZERS if kind.id == summarizer)
    assert kind.makes is not None
    prefix = kind.settings
    return kind.makes(base_url=getattr(settings, f"{prefix}_BASE_URL"), api_key=getattr(settings, f"{prefix}_API_KEY"), bounds=bounds)


def prices(dollars: str) -> dict[str, Any]:
    """What the model costs for a million tokens of any kind."""
    price = Decimal(dollars)
    return {MODEL: ModelPrice(input=price, output=price, cache_read=price, cache_write=price)}


def everything_else() -> str:
    """SHA-256 of every row of every table that a summary job does not write: sessions, views, ledgers, durable state, audit."""
    digest = hashlib.sha256()
    names = sorted(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for table in (name for name in names if name.startswith("ctxweb_") and not name.startswith(WRITTEN_BY_JOBS)):
            cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
            digest.update(f"{table}\0{cursor.fetchall()!r}".encode())
    return digest.hexdigest()
