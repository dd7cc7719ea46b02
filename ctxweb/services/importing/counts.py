"""Token counts by digest, in little memory: 20 bytes a body."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from compaction.messages import DIGEST_BYTES


class Counts(Mapping[bytes, int]):
    """A mapping of sorted digests, side by side in one run of bytes."""

    def __init__(self, pairs: Iterable[tuple[bytes, int]]) -> None:
        ordered = sorted(pairs)
        self._digests = b"".join(digest for digest, _ in ordered)
        self._tokens = array("q", (tokens for _, tokens in ordered))

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[bytes]:
        return map(self._digest, range(len(self)))

    def __getitem__(self, digest: bytes) -> int:
        place = bisect_left(range(len(self)), digest, key=self._digest)
        if place == len(self) or self._digest(place) != digest:
            raise KeyError(digest)
        return self._tokens[place]

    def _digest(self, place: int) -> bytes:
        return self._digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES]
