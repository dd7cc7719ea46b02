"""Fields of a record, read strictly: the records refer to each other, so one that is wrong makes the rest wrong too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from compaction.messages import BlockId
from ctxweb.importers.physical import PhysicalError
from ctxweb.importers.values import count

_Word = TypeVar("_Word", bound=str)

LATEST_MS = 253_402_300_799_000  # the end of the year 9999
_MISSING = object()


class BadField(PhysicalError):
    """A field of a message list that cannot be read. The message names line and field, never the text of a message."""

    code = "bad_field"


class Fields:
    """The fields of one object. Each is read once; `done` refuses what nobody read."""

    def __init__(self, value: Any, *, line: int, path: str = "") -> None:
        self.line = line
        self._path = path
        if not isinstance(value, Mapping):
            raise self.error("", "must be a JSON object")
        self._left = dict(value)

    def error(self, name: str, problem: str) -> BadField:
        where = f"{self._path}{name}" or "the record"
        return BadField(f"Line {self.line}, field {where}: {problem}. The format is described in docs/message_list.md.")

    def has(self, name: str) -> bool:
        return name in self._left

    def done(self) -> None:
        if self._left:
            raise self.error(next(iter(self._left)), "is not a field of this record")

    def value(self, name: str) -> Any:
        """Whatever is there, None where nothing is; the caller reads it."""
        return self._left.pop(name, None)

    def text(self, name: str) -> str | None:
        value = self._left.pop(name, None)
        if value is not None and not isinstance(value, str):
            raise self.error(name, "must be a text or null")
        return value

    def needed_text(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise self.error(name, "is missing")
        return value

    def choice(self, name: str, words: Sequence[_Word], default: _Word | None = None) -> _Word:
        value = self._left.pop(name, default)
        for word in words:
            if value == word:
                return word
        raise self.error(name, f"must be one of {', '.join(words)}")

    def number(self, name: str, default: int | None = None) -> int | None:
        """A count; null and absent are the default."""
        value = self._left.pop(name, None)
        if value is None:
            return default
        number = count(value)
        if number is None:
            raise self.error(name, "must be an integer from 0 to 2^53 or null")
        return number

    def time(self, name: str) -> int | None:
        """Milliseconds since 1970 UTC."""
        value = self._left.pop(name, None)
        if value is not None and (type(value) is not int or not -LATEST_MS <= value <= LATEST_MS):
            raise self.error(name, "must be a time in milliseconds since 1970 UTC or null")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._left.pop(name, default)
        if not isinstance(value, bool):
            raise self.error(name, "must be true or false")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        return tuple(self._items(name, str, "a text"))

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple(self._items(name, int, "an integer"))

    def objects(self, name: str) -> list[Fields]:
        found = self._items(name, Mapping, "a JSON object")
        return [Fields(value, line=self.line, path=f"{self._path}{name}[{place}].") for place, value in enumerate(found)]

    def object(self, name: str) -> Fields:
        return Fields(self._left.pop(name, {}), line=self.line, path=f"{self._path}{name}.")

    def block(self, name: str) -> BlockId | None:
        value = self.text(name)
        return None if value is None else self._block(name, value)

    def blocks(self, name: str) -> tuple[BlockId, ...] | None:
        """Blocks by their ids; None if the field is absent."""
        return tuple(self._block(name, value) for value in self.words(name)) if self.has(name) else None

    def _block(self, name: str, value: str) -> BlockId:
        seq, _, place = value.partition(".")
        if not (seq.isdecimal() and place.isdecimal() and len(value) <= 40):
            raise self.error(name, "must be a block id such as 3.1: the message, then the block in it, both from 1")
        return BlockId(int(seq), int(place))

    def _items(self, name: str, kind: Any, called: str) -> list[Any]:
        value = self._left.pop(name, _MISSING)
        if value is _MISSING:
            return []
        if not isinstance(value, list) or any(not isinstance(item, kind) or isinstance(item, bool) for item in value):
            raise self.error(name, f"must be a list, each item {called}")
        return value
