"""What the filters of the session list offer."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from ctxweb.lane_rows import base_name
from ctxweb.models import Session

MOST_PROJECTS = 60  # those with most sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A value of a filter, what to call it, and how many sessions have it."""

    value: str
    word: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChoices:
    formats: tuple[Choice, ...]
    projects: tuple[Choice, ...]


def session_choices() -> SessionChoices:
    """What the filters offer."""
    readable = Session.objects.filter(current__isnull=False, parent__isnull=True)
    formats = readable.order_by().values_list("format").annotate(count=Count("pk")).order_by("-count", "format")
    projects = readable.exclude(cwd="").order_by().values_list("cwd").annotate(count=Count("pk")).order_by("-count", "cwd")[:MOST_PROJECTS]
    return SessionChoices(
        formats=tuple(Choice(value=name, word=name, count=count) for name, count in formats),
        projects=tuple(Choice(value=cwd, word=base_name(cwd), count=count) for cwd, count in projects),
    )
