"""What a person asks of a replay: a policy, other limits, how to count, whose summaries. One conversion for pages, API and command.

Everything that is wrong is refused with the name of the field: `policy`, `count`, `summaries`, `orphans`, or a limit of the policy.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from compaction.errors import CompactionError, PolicyError
from compaction.policies import POLICIES, policy_named
from compaction.policy import Policy
from compaction.policy_json import policy_for, policy_from_data, policy_to_data, setting_names, with_settings
from compaction.replay.replayable import Replayable
from compaction.replay.run import Counting, Orphans
from compaction.summarizers import SUMMARIZERS

COUNTS: tuple[Counting, ...] = get_args(Counting)
ORPHANS: tuple[Orphans, ...] = get_args(Orphans)
SUMMARIES: tuple[str, ...] = tuple(kind.id for kind in SUMMARIZERS)
USUAL_POLICY = POLICIES[0].id
PUBLIC_ID_CHARS = 20
FORMAT = 1  # of what a replay's id is made from
Field = Literal["policy", "count", "summaries", "orphans"]


class ReplayRefused(Exception):
    """Settings that cannot be. `field` names the one that is wrong; the message says what to do."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayAsked:
    """`base` is the policy as it is published, or as its author wrote it; `limits` what is set beyond it."""

    base: Policy
    limits: Mapping[str, Any]
    count: Counting
    summaries: str
    orphans: Orphans

    def policy(self, lane: Replayable) -> Policy:
        """The policy as it holds for this lane, with the limits that were set. Raises ReplayRefused."""
        facts = lane.facts
        try:
            held = policy_for(self.base, facts.kind, starts_from_summary=lane.starts_from_summary)
            return with_settings(held, self.limits)
        except PolicyError as error:
            raise ReplayRefused(str(error), field=error.field or "policy") from error

    def settings(self) -> dict[str, Any]:
        """What is stored beside the policy."""
        return {"limits": dict(self.limits), "count": self.count, "summaries": self.summaries, "orphans": self.orphans}


def replay_asked(
    *,
    policy: str | Mapping[str, Any] = USUAL_POLICY,
    limits: Mapping[str, Any] | None = None,
    count: str = "own",
    summaries: str = "stub",
    orphans: str = "keep",
) -> ReplayAsked:
    """The settings, read and checked as far as they can be without a lane. Raises ReplayRefused."""
    asked = ReplayAsked(
        base=_policy(policy),
        limits=dict(limits or {}),
        count=cast(Counting, _one_of("count", count, COUNTS)),
        summaries=_one_of("summaries", summaries, SUMMARIES),
        orphans=cast(Orphans, _one_of("orphans", orphans, ORPHANS)),
    )
    try:
        held = setting_names(with_settings(asked.base, asked.limits))
    except PolicyError as error:
        raise ReplayRefused(str(error), field=error.field or "policy") from error
    return replace(asked, limits={name: held[name] for name in asked.limits})  # as numbers, however they were written


def limits_of(policy: str, given: Mapping[str, str], *, others: Collection[str]) -> dict[str, str]:
    """The limits among the parameters of an address, where they are not empty and not the policy's own; `others` are no limits.

    One that the policy does not have is kept, to be refused: a misspelt limit would show another replay than the one that was meant.
    """
    base = next((each for each in POLICIES if each.id == policy), None)
    usual = {} if base is None else setting_names(base)
    return {
        name: value
        for name, value in given.items()
        if value and name not in others and not (name in usual and value == written(usual[name]))
    }


def written(value: Any) -> str:
    """A limit as an address and a field hold it."""
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def history_id(*, session: str, policy: Policy, asked: ReplayAsked) -> str:
    """The public id of the history that a replay becomes: the same for the same session, policy and settings."""
    made_from = [FORMAT, session, policy_to_data(policy), asked.count, asked.summaries, asked.orphans]
    digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).digest()
    return base64.b32encode(digest).decode("ascii").lower()[:PUBLIC_ID_CHARS]


def _policy(given: str | Mapping[str, Any]) -> Policy:
    try:
        return policy_named(given) if isinstance(given, str) else policy_from_data(given)
    except CompactionError as error:
        raise ReplayRefused(str(error), field=getattr(error, "field", "") or "policy") from error


def _one_of(field: Field, value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ReplayRefused(f"{field} is {str(value)[:40]!r}: use one of {', '.join(allowed)}", field=field)
    return str(value)
