"""Settings and help: what is configured and healthy, keys, and the words of the pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.glossary import GLOSSARY
from ctxweb.models import LOCAL
from ctxweb.page import TABS, counted, frame, show
from ctxweb.queries.audit import readable_project
from ctxweb.queries.health import Health, health
from ctxweb.queries.model_access import ModelAccess, model_access

KEYS = (
    # key, what it does
    ("j  k", "next, previous row"),
    ("n  p", "next, previous removal"),
    (",  .", "previous, next call"),
    ("[  ]", "fold, unfold all"),
    ("/", "search"),
    ("m", "more rows"),
    ("y", "copy the address"),
    ("?", "the keys of this page"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPage:
    """`keys` are those of every page, `tab_keys` those that lead to a session's tabs."""

    finding: str
    health: Health
    models: ModelAccess
    keys: tuple[tuple[str, str], ...]
    tab_keys: tuple[tuple[str, str], ...]
    glossary: tuple[tuple[str, str, str], ...]


@require_safe
def settings_page(request: HttpRequest) -> HttpResponse:
    found = health(home=settings.HOME, now=timezone.now())
    wrong = [check for check in found.checks if check.state != "ok"]
    failed = any(check.state == "failed" for check in wrong)
    page = SettingsPage(
        finding=f"{counted(len(wrong), 'thing')} to look at." if wrong else "Everything that is needed works.",
        health=found,
        models=model_access(project=readable_project(project_id=LOCAL)),
        keys=KEYS,
        tab_keys=tuple((tab.key, tab.label) for tab in TABS),
        glossary=GLOSSARY,
    )
    title = "(failed) Settings and health" if failed else "Settings and health"
    page_frame = frame(request, title=title, section="settings", json=f"{addresses.API}/health")
    return show(request, template="settings/page.html", frame=page_frame, page=page)
