"""The prompt of a call as its session recorded it, for a summary that asks behind it and so can reuse the provider's prefix cache.

It sends the session's own system prompt, tools and history as they were, so a project has to opt in, and the file has to hold them:
logs of dsh, and requests of the Messages API.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from compaction.view import PromptView
from ctxweb.importers.anthropic_messages.exchanges import request_of
from ctxweb.importers.dsh.request_header import PLACEHOLDERS, SYSTEM, TOOLS
from ctxweb.models import Message, ModelCall, Record, Revision, Session
from ctxweb.services.record_read import RecordUnreadable, record_read
from ctxweb.services.summary_asked import SummaryAsked
from ctxweb.services.summary_range import HIDDEN_ROLES, SummaryRange
from ctxweb.services.summary_wire import chat, chat_tools, messages_api, messages_api_tools

CHAT = "openai_compatible"
DSH, ANTHROPIC = "dsh", "anthropic_messages"
FORMATS = (DSH, ANTHROPIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPrompt:
    """System prompt, tool definitions and messages in the provider's own form."""

    system: str | tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    messages: tuple[dict[str, Any], ...]


class NoPrefix(Exception):
    """The shape `prefix` cannot be had. `field` names what to change, empty where nothing of the request can help."""

    def __init__(self, message: str, *, field: str = "shape") -> None:
        super().__init__(message)
        self.field = field


def recorded_prompt(*, session: Session, revision: Revision, found: SummaryRange, asked: SummaryAsked) -> RecordedPrompt:
    """The prompt of the call of the range. Raises NoPrefix where it may not or cannot be sent, with the reason."""
    _check(session, found, asked)
    is_chat = asked.summarizer == CHAT
    if session.format == DSH:
        prompt = _of_dsh(revision, found.shown.view, is_chat=is_chat)
    elif is_chat:
        raise NoPrefix("the session was recorded in the words of the Messages API: use anthropic, or the shape framed", field="summarizer")
    else:
        prompt = _of_request(revision, found.shown.call)
    if not prompt.system or not prompt.messages:
        raise NoPrefix("the session did not record the system prompt of this call: use the shape framed")
    return prompt


def _check(session: Session, found: SummaryRange, asked: SummaryAsked) -> None:
    if not session.project.prefix_summaries:
        raise NoPrefix(
            "the shape prefix sends the session's own system prompt, tools and history as they were, and this project has not opted "
            f"in: run manage.py project {session.project_id} --prefix-summaries on, or use the shape framed"
        )
    if session.format not in FORMATS:
        raise NoPrefix(f"sessions of the format {session.format} do not record their system prompt and tools: use the shape framed")
    if asked.is_incremental:
        raise NoPrefix("what is asked behind the whole prompt cannot be incremental: use the shape framed", field="is_incremental")
    if asked.canaries:
        raise NoPrefix("canaries are planted in a framed range only: use the shape framed", field="canaries")
    if len(found.messages) != sum(message.role not in HIDDEN_ROLES for message in found.shown.view.messages):
        raise NoPrefix("the shape prefix summarises the whole prompt: leave out from_call and keep_tokens", field="from_call")


def _of_request(revision: Revision, call: int) -> RecordedPrompt:
    """From the record of the request itself."""
    line = ModelCall.objects.filter(revision=revision, n=call).values_list("line", flat=True).get()
    for record in Record.objects.filter(source=revision.source_id, line=line).order_by("number"):
        try:
            value = json.loads(record_read(source=revision.source, offset=record.offset, length=record.length))
        except RecordUnreadable as error:
            raise NoPrefix(f"the request cannot be read: {error}", field="") from error
        except (ValueError, RecursionError):
            continue
        request = request_of(value) if isinstance(value, dict) else None
        if request is not None:
            return RecordedPrompt(
                system=_system(request.get("system")), tools=_objects(request.get("tools")), messages=_objects(request["messages"])
            )
    raise NoPrefix("no record holds the request of this call: use the shape framed")


def _of_dsh(revision: Revision, view: PromptView, *, is_chat: bool) -> RecordedPrompt:
    """From the header that stands in front of the view, and the messages as the view holds them."""
    labels = dict(Message.objects.filter(revision=revision, label__in=(SYSTEM, TOOLS), role=SYSTEM).values_list("seq", "label"))
    texts: dict[str, str] = {}
    for message in view.messages:
        if message.role in HIDDEN_ROLES and message.seqs[0] in labels:
            texts[labels[message.seqs[0]]] = "".join(view.pricer.text(visible.body) for visible in message.blocks)
    if not PLACEHOLDERS.isdisjoint(texts.values()):
        raise NoPrefix("this log holds a placeholder where its system prompt and tools stood: use the shape framed")
    visible = PromptView.holding([message for message in view.messages if message.role not in HIDDEN_ROLES], view.pricer)
    messages, tools = (chat, chat_tools) if is_chat else (messages_api, messages_api_tools)
    return RecordedPrompt(system=texts.get(SYSTEM, ""), tools=tools(_tools(texts.get(TOOLS, ""))), messages=messages(visible))


def _tools(text: str) -> tuple[dict[str, Any], ...]:
    try:
        return _objects(json.loads(text)) if text else ()
    except (ValueError, RecursionError):
        raise NoPrefix("the tools of this log are no JSON: use the shape framed") from None


def _system(given: Any) -> str | tuple[dict[str, Any], ...]:
    return given if isinstance(given, str) else _objects(given)


def _objects(given: Any) -> tuple[dict[str, Any], ...]:
    return tuple(each for each in given if isinstance(each, dict)) if isinstance(given, list) else ()
