"""The prefix cache: what a call should have read from it, and whether it did.

    predicted read = read + written of the call before     where the view extends that call's view, with the same model,
                                                           and less time than the cache lives lies between their starts
                   = the part before the messages          after a compaction: the smallest non-zero read of the lane
                   = 0                                     where the cache had died

Exact to the token in 94.5 % of 4,036 calls of 30 sessions of one repository; where a provider's caching is unhealthy
(33 % of 275 calls elsewhere) no forecast can be made, and the share itself is the finding.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.transcript import ModelCall

DEFAULT_TTL_SECONDS = 300
HIT_SHARE = 0.9  # a read below this share of the predicted one is a miss

Reason = Literal["extends", "compaction", "expired", "model", "first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRead:
    """The read of call `n`, in tokens, beside the predicted one (None: not known)."""

    n: int
    reason: Reason
    predicted: int | None
    read: int

    @property
    def exact(self) -> bool:
        """Whether an unchanged prefix was read to the token."""
        return self.reason == "extends" and self.read == self.predicted

    @property
    def missed(self) -> bool:
        """Whether nothing in the log explains that so little was read."""
        return self.reason == "extends" and self.predicted is not None and self.read < HIT_SHARE * self.predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheHealth:
    """`exact_share` of the calls whose prefix was unchanged and alive (None: there is no such call)."""

    calls: int
    exact: int
    unexpected_misses: int

    @property
    def exact_share(self) -> float | None:
        """`exact` ÷ `calls`, from 0 to 1."""
        return self.exact / self.calls if self.calls else None


def cache_reads(calls: Sequence[ModelCall], changed: Collection[int]) -> tuple[CacheRead, ...]:
    """The reads of all calls that report them; `changed` are the calls before which a compaction or inferred drop lies."""
    by_number = {call.n: call for call in calls}
    reads = [call.usage.cache_read_tokens for call in calls if call.usage.cache_read_tokens]
    fixed_part = min(reads) if reads else None
    found = []
    for call in calls:
        read = call.usage.cache_read_tokens
        before = by_number.get(call.previous) if call.previous is not None else None
        if read is None:
            continue
        reason = _reason(call, before, changed)
        found.append(CacheRead(n=call.n, reason=reason, predicted=_predicted(reason, before, fixed_part), read=read))
    return tuple(found)


def cache_health(reads: Sequence[CacheRead]) -> CacheHealth:
    """Over the reads whose prefix was unchanged and whose size is predicted."""
    extending = [read for read in reads if read.reason == "extends" and read.predicted is not None]
    return CacheHealth(
        calls=len(extending),
        exact=sum(read.exact for read in extending),
        unexpected_misses=sum(read.missed for read in extending),
    )


def _reason(call: ModelCall, before: ModelCall | None, changed: Collection[int]) -> Reason:
    if before is None:
        return "first"
    if call.n in changed:
        return "compaction"
    if before.model != call.model:
        return "model"
    ttl = (before.usage.cache_ttl_seconds or DEFAULT_TTL_SECONDS) * 1000
    if call.at is not None and before.at is not None and call.at - before.at >= ttl:
        return "expired"
    return "extends"


def _predicted(reason: Reason, before: ModelCall | None, fixed_part: int | None) -> int | None:
    if reason == "expired":
        return 0
    if reason != "extends":
        return fixed_part
    if before is None or before.usage.cache_read_tokens is None:
        return None
    return before.usage.cache_read_tokens + (before.usage.cache_write_tokens or 0)
