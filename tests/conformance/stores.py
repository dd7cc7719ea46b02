"""The stub of a store that the spill vectors describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.errors import StoreError
from compaction.spill import Stored


@dataclass
class StubStore:
    """`kind` is `ok`, `none` or `fail`; `saved` says whether it took a text."""

    kind: str
    stored: Stored
    saved: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> StubStore:
        return cls(kind=given["store"], stored=Stored(locator=given["locator"], hint=given["retrieval_hint"]))

    @property
    def exists(self) -> bool:
        return self.kind != "none"

    def save(self, text: str) -> Stored:
        if self.kind == "fail":
            raise StoreError("the stub was told to fail")
        self.saved = True
        return self.stored
