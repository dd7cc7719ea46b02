"""Replay: what a policy would have done to this session, its thresholds drawn with the mouse, beside what really happened."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods, require_POST

from ctxweb import addresses
from ctxweb.charts.context_map import Stack
from ctxweb.page import session_frame, show
from ctxweb.queries.histories import HistoryRow, lane_histories
from ctxweb.queries.policies import PolicyRow, policy_row
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.queries.replay import ReplayDetail, replayed
from ctxweb.queries.replay_map import MapPair, map_pair
from ctxweb.replays.asked import ReplayAsked, ReplayRefused, replay_asked
from ctxweb.replays.lane import replayable_lane
from ctxweb.replays.run import is_costly
from ctxweb.services.history_replay import history_drop, history_pin, replay_keep
from ctxweb.views import asked
from ctxweb.views.choices import Choice
from ctxweb.views.replay_form import KnobGroup, address_of, asked_of, fields_of, how_choices, knob_groups, policy_choice, variant_links
from ctxweb.views.replay_words import Term, balances_of, detail_of, finding_of, notes_of, trigger_label

STACKS = ("order", "kind")
RESULT = "result"
USUAL_REACH = 200_000
CHARS_A_TOKEN = 4  # of a range that counts characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPage:
    """`detail` and `maps` are None where the settings are `refused`, or where the lane is so long that a job has to replay it
    (`by_job`). `kept` are the replays that are stored."""

    public_id: str
    address: str
    own_address: str
    policy: PolicyRow
    chooser: Choice
    variants: tuple[tuple[str, str, bool], ...]
    choices: tuple[Choice, ...]
    knobs: tuple[KnobGroup, ...]
    refused: str
    refused_field: str
    by_job: bool
    finding: str
    detail_words: str
    notes: tuple[str, ...]
    detail: ReplayDetail | None
    balances: tuple[tuple[str, tuple[Term, ...]], ...]
    maps: MapPair | None
    orders: tuple[tuple[str, str, bool], ...]
    kept: tuple[HistoryRow, ...]
    history: str
    fields: tuple[tuple[str, str], ...]
    trigger_words: str


@require_http_methods(["GET", "HEAD", "POST"])
def replay(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    if request.method == "POST":
        return _keep(request, lane)
    try:
        found = asked_of(request.GET)
    except ReplayRefused as refused:
        found, page = _usual(request), None
        page = _page(request, lane, found, refused=refused)
        return _answer(request, lane, found, page)
    try:
        page = _page(request, lane, found, refused=None)
    except ReplayRefused as refused:
        page = _page(request, lane, found, refused=refused)
    return _answer(request, lane, found, page)


def _usual(request: HttpRequest) -> ReplayAsked:
    """The policy that was named, as it is; the first one where it is not known."""
    try:
        return replay_asked(policy=asked.text(request.GET, "policy", longest=80))
    except ReplayRefused:
        return replay_asked()


def _answer(request: HttpRequest, lane: Lane, found: ReplayAsked, page: ReplayPage) -> HttpResponse:
    twin = address_of(lane.session.public_id, found).replace("/s/", f"{addresses.API}/sessions/", 1)
    frame = session_frame(request, lane.session, tab="replay", title=f"Replay · {found.base.title}", json=twin)
    is_fragment = bool(request.headers.get("HX-Request"))
    status = HTTPStatus.BAD_REQUEST if page.refused and not is_fragment else HTTPStatus.OK
    response = show(request, template="replay/page.html", frame=frame, page=page, fragments={RESULT: "replay/_result.html"}, status=status)
    if is_fragment:
        response.headers["HX-Replace-Url"] = page.own_address
    return response


def _page(request: HttpRequest, lane: Lane, found: ReplayAsked, *, refused: ReplayRefused | None) -> ReplayPage:
    session = lane.session
    stack = cast("Stack | None", asked.one_of(request.GET, "stack", STACKS, "") or None)
    by_job = refused is None and _needs_job(lane, found)
    result = None if refused is not None or by_job else replayed(lane=lane, asked=found)
    detail = result.detail if result is not None else None
    usual = detail.usual if detail is not None else policy_row(found.base).settings
    maps = map_pair(lane=lane, found=result, stack=stack) if result is not None else None
    window = (detail.window if detail is not None else None) or USUAL_REACH
    reach = window * (CHARS_A_TOKEN if policy_row(found.base).of == "characters" else 1)
    return ReplayPage(
        public_id=session.public_id,
        address=addresses.replay(session.public_id),
        own_address=address_of(session.public_id, found, stack=stack),
        policy=detail.policy if detail is not None else policy_row(found.base),
        chooser=policy_choice(found),
        variants=variant_links(session.public_id, found),
        choices=how_choices(found),
        knobs=knob_groups(session, found, usual, reach=reach, given=request.GET if refused is not None else None),
        refused=str(refused) if refused is not None else "",
        refused_field=refused.field if refused is not None else "",
        by_job=by_job,
        finding=finding_of(detail) if detail is not None else "",
        detail_words=detail_of(detail) if detail is not None else "",
        notes=notes_of(detail) if detail is not None else (),
        detail=detail,
        balances=balances_of(detail) if detail is not None else (),
        maps=maps,
        orders=_orders(session.public_id, found, maps),
        kept=tuple(row for row in lane_histories(lane=lane) if row.origin == "replayed"),
        history=detail.history if detail is not None and detail.is_kept else "",
        fields=fields_of(found),
        trigger_words=trigger_label(detail) if detail is not None else "",
    )


def _orders(session: str, found: ReplayAsked, maps: MapPair | None) -> tuple[tuple[str, str, bool], ...]:
    """The orders of the maps to switch between: word, address, whether it is shown."""
    if maps is None or not maps.can_stack_in_order:
        return ()
    words = (("order", "prompt order"), ("kind", "by kind"))
    return tuple((word, address_of(session, found, stack=stack), maps.stack == stack) for stack, word in words)


def _needs_job(lane: Lane, found: ReplayAsked) -> bool:
    with replayable_lane(session=lane.session, revision=lane.revision) as stored:
        return is_costly(found.policy(stored), stored)


def _keep(request: HttpRequest, lane: Lane) -> HttpResponse:
    """Store the replay, and go to its ledger; to its job where it takes longer."""
    try:
        kept = replay_keep(session=lane.session, revision=lane.revision, asked=asked_of(request.POST))
    except ReplayRefused as refused:
        page = _page(request, lane, _usual(request), refused=refused)
        return _answer(request, lane, _usual(request), page)
    if kept.history is None and kept.job is not None:
        return HttpResponseRedirect(addresses.job(kept.job.public_id))
    dropped = ", ".join(kept.dropped) or None
    return HttpResponseRedirect(addresses.ledger(lane.session.public_id, h=kept.history, dropped=dropped))


@require_POST
def replay_change(request: HttpRequest, session_id: str, history_id: str) -> HttpResponse:
    """Pin a kept replay, let it go again, or remove it."""
    lane = readable_lane(public_id=session_id, history_id=history_id)
    what = asked.one_of(request.POST, "change", ("pin", "unpin", "remove"), "") if lane.is_replayed else ""
    if what == "remove":
        history_drop(history=lane.history)
    elif what:
        history_pin(history=lane.history, pinned=what == "pin")
    return HttpResponseRedirect(addresses.replay(session_id, policy=lane.history.policy) + "#kept")
