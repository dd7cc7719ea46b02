"""What a prompt held that no record logs: the reported size, split so that its parts add up exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ctxweb.models import ModelCall, Revision

MIDDLE_START_TOKENS = 60_000  # a first prompt above this with an almost empty log began in another file
MIDDLE_START_SHARE = 0.10


class Sized(Protocol):
    @property
    def n(self) -> int: ...
    @property
    def unexplained(self) -> int | None: ...
    @property
    def epoch_anchor(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Unexplained tokens of one call: `before_log` + `reattached` + `drift` = its unexplained tokens; None is unknown.

    `before_log` was there at the first call of the session (system prompt, tools, reminders), `reattached` came by the
    first call of this epoch (`anchor`), `drift` since then. `starts_in_middle`: most of it is an earlier conversation.
    """

    before_log: int | None
    reattached: int | None
    drift: int | None
    anchor: int | None
    starts_in_middle: bool


def hidden_tokens(*, revision: Revision, call: Sized) -> Hidden:
    """The split for `call`; for a call that was never made, that of the epoch it continues."""
    calls = ModelCall.objects.filter(revision=revision, unexplained__isnull=False)
    first = calls.order_by("n").first()
    anchor = calls.filter(n=call.epoch_anchor).first() if call.epoch_anchor is not None else None
    if first is None:
        return Hidden(before_log=None, reattached=None, drift=None, anchor=None, starts_in_middle=False)
    base, at_anchor = first.unexplained or 0, anchor.unexplained if anchor else None
    drift = call.unexplained - at_anchor if call.unexplained is not None and at_anchor is not None else None
    return Hidden(
        before_log=base,
        reattached=at_anchor - base if at_anchor is not None and anchor is not None and anchor.n != first.n else None,
        drift=drift,
        anchor=call.epoch_anchor,
        starts_in_middle=_starts_in_middle(first),
    )


def _starts_in_middle(first: ModelCall) -> bool:
    size = first.prompt_tokens or 0
    return size > MIDDLE_START_TOKENS and (first.estimate or 0) < MIDDLE_START_SHARE * size
