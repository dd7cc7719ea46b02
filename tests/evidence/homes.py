"""A home and a database that the tests of a module share: what they look at is imported once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.test.utils import override_settings

from ctxweb.demo import DEMOS
from ctxweb.home import Home
from ctxweb.models import Session
from ctxweb.services.search_index import index_clear
from ctxweb.services.session_import import session_import


@contextmanager
def shared_home(*, blocker: Any, root: Path) -> Iterator[None]:
    """A fresh home while the block runs. Open the database for what is stored; at the end everything in it is removed."""
    with override_settings(HOME=Home(root=root)):
        with blocker.unblock():
            settings.HOME.prepare()
        yield
        with blocker.unblock():
            call_command("flush", verbosity=0, interactive=False)
            index_clear()
            connections.close_all()


def imported(*, name: str, data: bytes) -> Session:
    """Import a file; its largest lane."""
    told = session_import(name=name, stream=BytesIO(data)).objects()
    assert {each["status"] for each in told} == {"imported"}, told
    return Session.objects.filter(public_id__in=[each["session"] for each in told]).order_by("-call_count")[0]


def demo_file(name: str) -> bytes:
    """The bytes of one of the demo sessions."""
    return next(demo.make(lambda text: len(text) // 4) for demo in DEMOS if demo.name == f"demo-{name}.jsonl")
