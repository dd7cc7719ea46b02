"""Durable items by hand: add, edit, move, remove. Each makes a version; a form for an older one is refused and given back."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from compaction.durable.canonical import Item
from compaction.durable.pending import MOVES
from compaction.durable.values import DurableFact, PendingItem
from compaction.errors import DurableError
from ctxweb import addresses
from ctxweb.importers.values import clean_text
from ctxweb.queries.readable import readable_session
from ctxweb.queries.sources import SourceItem, Stored, item_key, source_item, stored_state, text_of
from ctxweb.services.durable_changes import durable_change
from ctxweb.services.durable_versions import Author
from ctxweb.views import asked
from ctxweb.views.source_form import WHY, Change, Field, FormPage, Side, answer_form, name_field
from ctxweb.views.source_words import DOMAIN_WORDS

POINTER_HINT = "transcript:<session>:<record>, artifact:<session>:<file>:<12 or 64 hex digits>, or another scheme that is set up"
ID_HINT = "empty: one is made"
NEW = {
    # list: title, field of the id, field of the text, label of the text
    "facts": ("Add a fact", "fact_id", "content", "Fact"),
    "pending_items": ("Add work", "item_id", "description", "What is to be done"),
}
MOVE_WORDS = {
    # status: title, submit
    "open": ("Open this work again", "Open it"),
    "blocked": ("This work is blocked", "It is blocked"),
    "done": ("This work is done", "It is done"),
}


@require_http_methods(["GET", "HEAD", "POST"])
def source_edit(request: HttpRequest, session_id: str) -> HttpResponse:
    session, _ = readable_session(public_id=session_id)
    stored = stored_state(session=session)
    page, change = _form(request, stored)
    return answer_form(request, session, page, change, json=addresses.api_session(session_id, "durable"))


def _form(request: HttpRequest, stored: Stored) -> tuple[FormPage, Change]:
    new = asked.one_of(request.GET, "new", tuple(NEW), "")
    if new:
        return _new(request, stored, new)
    found = source_item(stored=stored, key=asked.text(request.GET, "item", longest=40))
    move = asked.text(request.GET, "move", longest=10)
    if request.GET.get("remove"):
        return _remove(request, stored, found)
    if move:
        return _move(request, stored, found, move)
    return _edit(request, stored, found)


def _new(request: HttpRequest, stored: Stored, domain: str) -> tuple[FormPage, Change]:
    title, id_field, text_field, label = NEW[domain]
    page = _page(
        stored,
        title=title,
        detail="The digest of its source, where it is available, is kept with the version.",
        query={"new": domain},
        submit="Keep it",
        fields=(
            Field(name=text_field, label=label, lines=3),
            Field(name="source_pointer", label="Source", hint=POINTER_HINT),
            Field(name=id_field, label="Id", hint=ID_HINT),
            WHY,
            name_field(request),
        ),
    )

    def change(values: Mapping[str, str], author: Author, version: int) -> str:
        item_id = " ".join(values[id_field].split()) or f"{'fact' if domain == 'facts' else 'work'}-{secrets.token_hex(6)}"
        if any(one.id == item_id for one in getattr(stored.state, domain)):
            raise DurableError("an item with this id is there: give another one", code="duplicate_id", field=id_field)
        item = {id_field: item_id, text_field: values[text_field], "source_pointer": values["source_pointer"]}
        return _changed(stored, domain, item_id, author, version, {domain: [item | {"last_confirmed_at": _now()}]})

    return page, change


def _edit(request: HttpRequest, stored: Stored, found: SourceItem) -> tuple[FormPage, Change]:
    item, domain = found.item, found.domain
    if not isinstance(item, DurableFact | PendingItem) or (isinstance(item, PendingItem) and item.status == "done"):
        raise Http404
    _, id_field, text_field, label = NEW[domain]
    page = _page(
        stored,
        title=f"Edit {DOMAIN_WORDS[domain]} {found.place:,}",
        detail="Saving confirms it as of now, with the digest of its source.",
        query={"item": found.key},
        submit="Confirm it like this",
        fields=(
            Field(name=text_field, label=label, lines=3, value=text_of(item)),
            Field(name="source_pointer", label="Source", hint=POINTER_HINT, value=clean_text(item.source_pointer)),
            WHY,
            name_field(request),
        ),
    )

    def change(values: Mapping[str, str], author: Author, version: int) -> str:
        after: dict[str, str | None] = {
            id_field: item.id,
            text_field: values[text_field],
            "source_pointer": values["source_pointer"],
            "last_confirmed_at": _now(),
        }
        if isinstance(item, PendingItem):
            after |= {"status": item.status, "reason": item.reason}
        return _changed(stored, domain, item.id, author, version, {domain: [after]})

    return page, change


def _move(request: HttpRequest, stored: Stored, found: SourceItem, move: str) -> tuple[FormPage, Change]:
    item = found.item
    if not isinstance(item, PendingItem) or move not in MOVES[item.status]:
        raise Http404
    title, submit = MOVE_WORDS[move]
    reason = Field(name="reason", label="What it waits for", hint="a blocked item has a reason") if move == "blocked" else WHY
    page = _page(
        stored,
        title=title,
        detail="Done is final." if move == "done" else "",
        query={"item": found.key, "move": move},
        submit=submit,
        fields=(
            Field(name="source_pointer", label="Where one sees that", hint=POINTER_HINT, value=clean_text(item.source_pointer)),
            reason,
            name_field(request),
        ),
        sides=(_side("Work", item),),
    )

    def change(values: Mapping[str, str], author: Author, version: int) -> str:
        step = {"item_id": item.id, "status": move, "last_confirmed_at": _now(), "source_pointer": values["source_pointer"]}
        step |= {"reason": values["reason"]} if move == "blocked" else {}
        return _changed(stored, found.domain, item.id, author, version, {"moves": [step]})

    return page, change


def _remove(request: HttpRequest, stored: Stored, found: SourceItem) -> tuple[FormPage, Change]:
    page = _page(
        stored,
        title=f"Remove {DOMAIN_WORDS[found.domain]} {found.place:,}",
        detail="It stays in the versions before, and in the audit.",
        query={"item": found.key, "remove": "1"},
        submit="Remove it",
        fields=(Field(name="reason", label="Why", hint="a removal needs a reason"), name_field(request)),
        sides=(_side("What goes", found.item),),
    )

    def change(values: Mapping[str, str], author: Author, version: int) -> str:
        _changed(stored, found.domain, found.item.id, author, version, {"remove": {found.domain: [found.item.id]}})
        return addresses.sources(stored.session.public_id)

    return page, change


def _changed(stored: Stored, domain: str, item_id: str, author: Author, version: int, changes: Mapping[str, Any]) -> str:
    session = stored.session
    durable_change(project=session.project, session=session.public_id, expected=version, author=author, changes=changes)
    return addresses.sources(session.public_id, item=item_key(domain, " ".join(item_id.split())))


def _page(
    stored: Stored,
    *,
    title: str,
    detail: str,
    query: Mapping[str, str],
    submit: str,
    fields: tuple[Field, ...],
    sides: tuple[Side, ...] = (),
) -> FormPage:
    public_id = stored.session.public_id
    return FormPage(
        title=title,
        detail=detail,
        action=addresses.source_edit(public_id, **query),
        back=addresses.sources(public_id, item=query.get("item", "")),
        submit=submit,
        version=stored.number,
        fields=fields,
        sides=sides,
    )


def _side(title: str, item: Item) -> Side:
    pointer = getattr(item, "source_pointer", "") or getattr(item, "source_id", "")
    return Side(title=title, text=text_of(item), pointer=clean_text(pointer), note=str(getattr(item, "status", "")))


def _now() -> str:
    return timezone.now().isoformat()
