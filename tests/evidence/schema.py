"""Whether an answer has exactly the keys and types that the OpenAPI document promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,),
    "null": (type(None),),
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], document: dict[str, Any], place: str = "answer") -> Iterator[str]:
    """Each place where `value` is not what `schema` says; a key that is not described is a fault."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        if all(any(True for _ in faults(value, option, document)) for option in schema["anyOf"]):
            yield f"{place}: none of the described kinds"
        return
    kind = schema.get("type")
    if kind is None:
        return
    if type(value) not in TYPES[kind]:
        yield f"{place}: {type(value).__name__} where {kind} is described"
    elif kind == "array":
        for i, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), document, f"{place}[{i}]")
    elif kind == "object":
        yield from _keys(value, schema, document, place)


def _keys(value: dict[str, Any], schema: dict[str, Any], document: dict[str, Any], place: str) -> Iterator[str]:
    described = schema.get("properties", {})
    others = schema.get("additionalProperties", not described)
    yield from (f"{place}.{key}: missing" for key in schema.get("required", ()) if key not in value)
    for key, item in value.items():
        if key in described:
            yield from faults(item, described[key], document, f"{place}.{key}")
        elif isinstance(others, dict):
            yield from faults(item, others, document, f"{place}.{key}")
        elif not others:
            yield f"{place}.{key}: not described"
