"""Texts of a lane, fetched when a layer reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from compaction.counters.sizes import TextSizes, text_sizes
from compaction.replay.rows import Texts

KEPT_CHARS = 20_000_000  # texts in memory; above it they are fetched again
FETCHED_AT_ONCE = 500


class LaneTexts(Mapping[bytes, str]):
    """The texts of the bodies `digests`, by digest. Raises KeyError for one that the source does not have."""

    def __init__(self, texts: Texts, digests: Collection[bytes]) -> None:
        self._texts = texts
        self._digests = digests
        self._kept: dict[bytes, str] = {}
        self._chars = 0

    def __getitem__(self, digest: bytes) -> str:
        text = self._kept.get(digest)
        if text is None:
            text = self._texts((digest,))[digest]
            self._keep(digest, text)
        return text

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)

    def fetch(self, digests: Collection[bytes]) -> None:
        """Have these at hand, with one question for all."""
        missing = [digest for digest in dict.fromkeys(digests) if digest not in self._kept]
        for digest, text in (self._texts(missing) if missing else {}).items():
            self._keep(digest, text)

    def sizes(self, digests: Collection[bytes]) -> dict[bytes, TextSizes]:
        """The lengths of these texts, which are not kept."""
        measured: dict[bytes, TextSizes] = {}
        waiting = iter(dict.fromkeys(digests))
        while batch := tuple(islice(waiting, FETCHED_AT_ONCE)):
            measured.update((digest, text_sizes(text)) for digest, text in self._texts(batch).items())
        return measured

    def _keep(self, digest: bytes, text: str) -> None:
        if self._chars > KEPT_CHARS:
            self._kept.clear()
            self._chars = 0
        self._kept[digest] = text
        self._chars += len(text)
