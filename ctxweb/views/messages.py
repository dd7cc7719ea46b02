"""Messages: every message and block that the file held."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import get_args

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.messages import BLOCK_KINDS, BLOCK_STATES, BlockId, Role
from ctxweb import addresses
from ctxweb.models import Session
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.messages import LANES, MessageFilters, MessageRow, MessagesWindow, messages_window, tool_names
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.queries.side_records import SideRecords, side_records
from ctxweb.views import asked
from ctxweb.views.choices import Choice, same
from ctxweb.views.windows import after_place, rows_asked

ROWS_BEFORE = 3  # messages in front of the one that an anchor names
LANE_WORDS = {
    "path": "not abandoned",
    "abandoned": "abandoned branches",
    "inherited": "inherited",
    "attached": "attachments and hidden ones",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageGroup:
    """A message with the side records behind it."""

    message: MessageRow
    side: SideRecords | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesPage:
    """A window of blocks. `before` are the side records in front of its first message, `more` leads to the next window,
    `earlier` to the beginning where the window starts further on."""

    address: str
    report: str
    finding: str
    detail: str
    warning: str
    said: str
    unmatched: str
    calls: int
    tokenizer: str
    filtered: bool
    choices: tuple[Choice, ...]
    before: SideRecords | None
    groups: tuple[MessageGroup, ...]
    more: str | None
    earlier: str | None


@require_safe
def messages(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    filters = MessageFilters(**{name: asked.text(request.GET, name) for name in ("role", "kind", "tool", "state", "lane")})
    around = asked.number(request.GET, "around")
    after = BlockId(max(around - ROWS_BEFORE, 0), 0) if around is not None else after_place(request.GET)
    page = _page(lane, filters, after, limit=rows_asked(request))
    frame = session_frame(
        request,
        lane.session,
        tab="messages",
        title=f"Messages · {lane.session.message_count:,}",
        json=addresses.with_query(addresses.api_session(session_id, "messages"), **asdict(filters)),
    )
    return show(request, template="messages/page.html", frame=frame, page=page, fragments={"messages-more": "messages/_rows.html"})


def _page(lane: Lane, filters: MessageFilters, after: BlockId, *, limit: int) -> MessagesPage:
    session = lane.session
    window = messages_window(lane=lane, filters=filters, after=after, limit=limit)
    is_first = after == BlockId(0, 0)
    side = {} if filters.any() else side_records(revision=lane.revision, window=window, is_first=is_first)
    return MessagesPage(
        address=addresses.messages(session.public_id),
        report=addresses.import_report(session.public_id),
        finding=f"{counted(session.message_count, 'message')}, {counted(window.total, 'block')}.",
        detail=_detail(session),
        warning=_warning(session),
        said=_said(window, is_first),
        unmatched=f"The lane holds {counted(window.total, 'block')}; none of them has all of these.",
        calls=session.call_count,
        tokenizer=window.tokenizer or "o200k_base",
        filtered=filters.any(),
        choices=_choices(lane, filters),
        before=side.get(0),
        groups=tuple(MessageGroup(message=message, side=side.get(message.seq)) for message in window.messages),
        more=addresses.messages(session.public_id, **asdict(filters), after=window.next) if window.next else None,
        earlier=None if is_first else addresses.messages(session.public_id, **asdict(filters)),
    )


def _detail(session: Session) -> str:
    folded = session.messages_logged - session.message_count
    if folded <= 0:
        return ""
    return f"{counted(session.messages_logged, 'record')} of the file logged them: the lines of one model call are one message."


def _warning(session: Session) -> str:
    if not session.findings:
        return ""
    return f"{counted(session.findings, 'finding')} about this lane, such as a tool call without its result: each is marked at its message."


def _said(window: MessagesWindow, is_first: bool) -> str:
    shown = sum(len(message.blocks) for message in window.messages)
    place = "the first" if is_first else "from here"
    rest = f"{place} {shown:,} shown, the rest as you scroll" if window.next else f"{'all' if is_first else 'the last'} {shown:,} shown"
    return f"{window.matching:,} of {window.total:,} blocks · {rest}"


def _choices(lane: Lane, filters: MessageFilters) -> tuple[Choice, ...]:
    kinds = tuple((kind, kind.replace("_", " ")) for kind in BLOCK_KINDS)
    tools = same(name for name in tool_names(revision=lane.revision) if name)
    return (
        Choice(name="role", label="role", value=filters.role, options=same(get_args(Role))),
        Choice(name="kind", label="kind", value=filters.kind, options=kinds),
        Choice(name="tool", label="tool", value=filters.tool, options=tools),
        Choice(name="state", label="logged as", value=filters.state, options=same(BLOCK_STATES)),
        Choice(name="lane", label="branch", value=filters.lane, options=tuple((name, LANE_WORDS[name]) for name in LANES)),
    )
