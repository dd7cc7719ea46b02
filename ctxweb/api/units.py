"""JSON twin of the page of units."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja import Router

from ctxweb.queries.readable import readable_lane
from ctxweb.queries.units import UnitDetail, unit_detail

router = Router(tags=["replays"])


@router.get(
    "/sessions/{session_id}/units",
    response=UnitDetail,
    summary="A prompt in every unit, how far each unit is from exact tokens by kind of text, and what providers would refuse",
)
def units(request: HttpRequest, session_id: str, call: int | None = None) -> UnitDetail:
    lane = readable_lane(public_id=session_id)
    call = call or lane.session.call_count
    if not 1 <= call <= lane.session.call_count:
        raise Http404
    return unit_detail(lane=lane, call=call)
