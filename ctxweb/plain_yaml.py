"""The plain part of YAML: mappings, sequences and scalars. What `dump` writes, any YAML 1.2 reader reads as the same value.

`load` reads JSON too, of which YAML is a superset. What it does not know (anchors, tags, several documents, folded
texts) it refuses with the line, and never guesses; a file of policies needs none of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Value = None | bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]

MOST_CHARS = 1_000_000
MOST_DEPTH = 20
BEFORE_A_VALUE = " \t[{,:"

_PLAIN_OUT = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_RESERVED = re.compile(r"(?i:null|true|false|yes|no|on|off|y|n)")
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'\[\]{},#&*!|>%@`?:-](?:[^:#]*[^\s:#])?)\s*:(?:\s+|$)""")
_MARK = re.compile(r"""["'#]""")
_QUOTED = {'"': re.compile(r'"(?:[^"\\]|\\.)*"'), "'": re.compile(r"'(?:[^']|'')*'")}
_UNKNOWN_STARTS = ("&", "*", "!", "|", ">", "%", "@", "`", "?")


class YamlError(ValueError):
    """A text that is none of this plain YAML. `line` counts from 1; the message holds no part of the text."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def dump(value: Value, indent: int = 0) -> str:
    """The value in block style, two blanks a level, keys in their order; ends with a line end."""
    pad = " " * indent
    if isinstance(value, Mapping) and value:
        return "".join(f"{pad}{_scalar(key)}:{_after(one, indent + 2)}" for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return "".join(f"{pad}-{_item(one, indent + 2)}" for one in value)
    return f"{pad}{_scalar(value)}\n"


def load(text: str) -> Value:
    """The value of a text. Raises YamlError."""
    if len(text) > MOST_CHARS:
        raise YamlError(1, f"the text has {len(text)} characters, {MOST_CHARS} are read: leave something out")
    if text.lstrip()[:1] in ("{", "["):
        return _json(text, 1)
    lines = _lines(text)
    if not lines:
        return None
    value, rest = _block(lines, 0, lines[0].indent, 0)
    if rest < len(lines):
        raise YamlError(lines[rest].number, "is indented less than the first line, or mixes a list with names")
    return value


def _after(value: Value, indent: int) -> str:
    nested = isinstance(value, Mapping | Sequence) and not isinstance(value, str) and len(value) > 0
    return f"\n{dump(value, indent)}" if nested else f" {_scalar(value)}\n"


def _item(value: Value, indent: int) -> str:
    nested = isinstance(value, Mapping | Sequence) and not isinstance(value, str) and len(value) > 0
    return f" {dump(value, indent)[indent:]}" if nested else f" {_scalar(value)}\n"


def _scalar(value: Value) -> str:
    if isinstance(value, str) and _PLAIN_OUT.fullmatch(value) and not _RESERVED.fullmatch(value):
        return value
    readable = isinstance(value, str) and value.isprintable()
    return json.dumps(value, ensure_ascii=not readable, allow_nan=False)


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = _without_comment(raw).rstrip()
        stripped = line.lstrip(" ")
        if stripped.startswith("\t"):
            raise YamlError(number, "is indented by a tab: use blanks")
        if stripped in ("---", "...") and found:
            raise YamlError(number, "begins a second document: give one")
        if stripped and stripped != "---":
            found.append(_Line(number, len(line) - len(stripped), stripped))
    return found


def _without_comment(line: str) -> str:
    """The line up to its comment. A quote opens a text at the begin of a value only; one that is not closed is a plain character, and
    so are those of its kind behind it: each part of a line is read once."""
    quoted, at = dict(_QUOTED), 0
    while mark := _MARK.search(line, at):
        start, at = mark.start(), mark.end()
        if mark.group() == "#":
            if start == 0 or line[start - 1].isspace():
                return line[:start]
        elif (pattern := quoted.get(mark.group())) and (start == 0 or line[start - 1] in BEFORE_A_VALUE):
            closed = pattern.match(line, start)
            if closed:
                at = closed.end()
            else:
                del quoted[mark.group()]
    return line


def _block(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Value, int]:
    """The value whose first line is `at`, and the line after it."""
    if depth > MOST_DEPTH:
        raise YamlError(lines[at].number, f"is nested more than {MOST_DEPTH} levels deep")
    if _is_item(lines[at]):
        return _sequence(lines, at, indent, depth)
    if _KEY.match(lines[at].text):
        return _mapping(lines, at, indent, depth)
    return _inline(lines[at].text, lines[at].number), at + 1


def _sequence(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Value, int]:
    items: list[Value] = []
    while at < len(lines) and lines[at].indent == indent and _is_item(lines[at]):
        rest = lines[at].text[1:]
        inner = rest.lstrip(" ")
        if inner:
            column = indent + 1 + len(rest) - len(inner)
            lines[at] = _Line(lines[at].number, column, inner)
            value, at = _block(lines, at, column, depth + 1)
        else:
            value, at = _nested(lines, at + 1, indent, depth)
        items.append(value)
        _check_indent(lines, at, indent)
    return items, at


def _mapping(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Value, int]:
    values: dict[str, Value] = {}
    while at < len(lines) and lines[at].indent == indent and (match := _KEY.match(lines[at].text)):
        line = lines[at]
        key = _inline(match.group(1), line.number)
        name = key if isinstance(key, str) else match.group(1)
        if name in values:
            raise YamlError(line.number, "repeats a name of the same mapping: keep one")
        if match.end() < len(line.text):
            values[name], at = _inline(line.text[match.end() :], line.number), at + 1
        else:
            same = at + 1 < len(lines) and lines[at + 1].indent == indent and _is_item(lines[at + 1])
            values[name], at = _nested(lines, at + 1, indent - same, depth)
        _check_indent(lines, at, indent)
    return values, at


def _nested(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Value, int]:
    if at < len(lines) and lines[at].indent > indent:
        return _block(lines, at, lines[at].indent, depth + 1)
    return None, at


def _check_indent(lines: list[_Line], at: int, indent: int) -> None:
    if at < len(lines) and lines[at].indent > indent:
        raise YamlError(lines[at].number, "is indented more than the lines that it belongs to")


def _is_item(line: _Line) -> bool:
    return line.text == "-" or line.text.startswith("- ")


def _inline(text: str, number: int) -> Value:
    """A scalar, or a list or mapping in the form of JSON."""
    if text[0] in '{["':
        return _json(text, number)
    if text[0] == "'":
        if len(text) < 2 or not re.fullmatch(r"'(?:[^']|'')*'", text):
            raise YamlError(number, "has a quoted text without its end")
        return text[1:-1].replace("''", "'")
    if text.startswith(_UNKNOWN_STARTS):
        raise YamlError(number, "uses a part of YAML that is not read here (anchor, tag, folded text): write the value plainly")
    if ": " in text or text.endswith(":"):
        raise YamlError(number, "has a colon in a plain text: put the text in quotes")
    return _plain(text)


def _plain(text: str) -> Value:
    words: dict[str, Value] = {"null": None, "~": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    if _INT.fullmatch(text) and len(text) < 40:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and math.isfinite(float(text)) else text


def _json(text: str, number: int) -> Value:
    try:
        value: Value = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise YamlError(number, "is neither JSON nor plain YAML: quote texts inside of brackets") from error
    return value


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value
