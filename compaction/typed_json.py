"""Frozen dataclasses as JSON-able data and back, by their annotations. What does not fit is refused with its place.

Known are numbers, texts, booleans, None, literals, unions, tuples and frozen dataclasses of these. Numbers are finite,
a boolean is no number, and a name that the dataclass does not have is an error, so a misspelt limit is never ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from compaction.errors import LimitError, PolicyError

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Value = TypeVar("Value")

MOST_NUMBER = 10**12  # in size: no session is that long, and a figure of it can still be drawn and stored
MOST_NAME_CHARS = 80  # of an unknown name that a message repeats

_WORDS: dict[type, str] = {int: "an integer", float: "a number", str: "a text", bool: "true or false", NoneType: "null"}


def to_json(value: object) -> Json:
    """The value as data: dataclasses as mappings of all their fields, tuples as lists."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [to_json(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is no JSON-able value")


def from_json(kind: type[Value], given: object, place: str) -> Value:
    """A dataclass of `kind` from its data. Raises PolicyError with the place of what does not fit."""
    values = arguments(kind, given, place)
    return made(lambda: kind(**values), place)


def made(make: Callable[[], Value], place: str, *, exactly: bool = False) -> Value:
    """What `make` makes. What its own checks refuse is named by its place, or `exactly` by the place given."""
    try:
        return make()
    except (LimitError, PolicyError) as refused:
        field = refused.field or str(getattr(refused, "key", None) or "")
        raise PolicyError(str(refused), field=at(place, field) if field and not exactly else place) from refused


def arguments(kind: type, given: object, place: str, *, leave: frozenset[str] = frozenset()) -> dict[str, object]:
    """The arguments of a dataclass from a mapping, each read by its annotation, but those named in `leave` as they are."""
    if not isinstance(given, Mapping):
        raise PolicyError(f"{place or 'it'} is {_what(given)}: it must be a mapping", field=place)
    known = {field.name: field for field in fields(kind)} if is_dataclass(kind) else {}
    for name in given:
        if name not in known:
            named = at(place, shown(str(name)))
            raise PolicyError(f"{named} is not known: use one of {', '.join(known)}", field=named)
    for name, field in known.items():
        if name not in given and _required(field):
            raise PolicyError(f"{at(place, name)} is missing: give it", field=at(place, name))
    hints = hints_of(kind)
    return {name: one if name in leave else read(hints[name], one, at(place, name)) for name, one in given.items()}


def read(hint: object, given: object, place: str) -> object:
    """A value as the annotation `hint` asks for it."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _read_union(get_args(hint), given, place)
    if origin is Literal:
        return _read_literal(get_args(hint), given, place)
    if origin is tuple:
        return _read_tuple(get_args(hint), given, place)
    if isinstance(hint, type) and is_dataclass(hint):
        return from_json(hint, given, place)
    if isinstance(hint, type) and _is(hint, given):
        return _bounded(given, place)
    raise PolicyError(f"{place} is {_what(given)}: it must be {_WORDS.get(hint, 'another kind')}", field=place)  # type: ignore[call-overload]


@cache
def hints_of(kind: type) -> dict[str, object]:
    """The annotations of a dataclass, by field."""
    return get_type_hints(kind)


def at(place: str, name: str) -> str:
    """The place of a part: `stages.2.settings.keep`."""
    return f"{place}.{name}" if place else name


def _read_union(kinds: tuple[object, ...], given: object, place: str) -> object:
    if given is None and NoneType in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not NoneType)
    for kind in kinds[:-1]:
        try:
            return read(kind, given, place)
        except PolicyError:
            continue
    return read(kinds[-1], given, place)


def _read_literal(words: tuple[object, ...], given: object, place: str) -> object:
    if isinstance(given, str | int) and not isinstance(given, bool) and given in words:
        return given
    raise PolicyError(f"{place} is {_what(given)}: it must be one of {', '.join(map(str, words))}", field=place)


def _read_tuple(kinds: tuple[object, ...], given: object, place: str) -> tuple[object, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise PolicyError(f"{place} is {_what(given)}: it must be a list", field=place)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(given)
    if len(kinds) != len(given):
        raise PolicyError(f"{place} has {len(given)} items: it must have {len(kinds)}", field=place)
    return tuple(read(kind, one, at(place, str(index))) for index, (kind, one) in enumerate(zip(kinds, given, strict=True)))


def shown(name: str) -> str:
    """A name that somebody gave, short enough for a message, and as text that can be sent."""
    return name[:MOST_NAME_CHARS].encode("utf-8", "replace").decode("utf-8")


def _bounded(given: object, place: str) -> object:
    """The value itself, where it can be compared, drawn and stored. Raises PolicyError."""
    if isinstance(given, int | float) and abs(given) > MOST_NUMBER:
        raise PolicyError(f"{place} is beyond {MOST_NUMBER:,} in size: use a smaller number", field=place)
    if isinstance(given, str) and not given.isascii() and any("\ud800" <= char <= "\udfff" for char in given):
        raise PolicyError(f"{place} holds half of a character (a lone surrogate): write it whole", field=place)
    return given


def _is(kind: type, given: object) -> bool:
    if isinstance(given, bool) or given is None:
        return isinstance(given, kind) and kind in (bool, NoneType)
    if isinstance(given, float) and not math.isfinite(given):
        return False
    return isinstance(given, int | float if kind is float else kind)


def _required(field: Field[object]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _what(given: object) -> str:
    """What was given, short, and quoted only where it is a number or a short word."""
    if given is None or isinstance(given, bool):
        return {None: "null", True: "true", False: "false"}[given]
    if isinstance(given, int) and abs(given) > MOST_NUMBER:
        return f"beyond {MOST_NUMBER:,}"
    if isinstance(given, int | float) or (isinstance(given, str) and len(given) <= 40):
        return repr(given)
    if isinstance(given, str):
        return "a long text"
    return "a mapping" if isinstance(given, Mapping) else "a list" if isinstance(given, Sequence) else "of no JSON kind"
