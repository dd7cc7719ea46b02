"""Names in a text that somebody may need again word for word: addresses, paths, identifiers, hashes, numbers.

The text is cut into chunks by one pattern without nesting, and each chunk is judged by itself: the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

NameKind = Literal["url", "hash", "path", "identifier", "number"]

MOST_NAME_CHARS = 300
LEAST_URL, LEAST_PATH, LEAST_IDENTIFIER, LEAST_DIGITS = 14, 8, 10, 5
LEAST_DIGITS_IN_PROSE = 4
LEAST_PARTS = 3  # of an identifier; with fewer it must have LONG_IDENTIFIER characters
LONG_IDENTIFIER = 16

_CHUNK = re.compile(r"""https?://[^\s<>"'`)\]}|\\,]+|#\d{2,7}\b|[A-Za-z0-9_./@~+-]+""")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEX = re.compile(r"[0-9a-f]{7,40}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_MADE_UP = re.compile(r"https?://(?:[\w-]+\.)*(?:example\.(?:com|org|net)|(?:example|invalid))(?![\w.-])")  # RFC 2606: nobody's address
_EXAMPLE = re.compile(r"(?:abc|def|123|456|567|789|0)+[a-f0-9]?")  # hashes that people make up
_VERSION = re.compile(r"v?\d{1,4}(?:\.\d{1,5}){2,3}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_KNOWN = (
    "c cc cfg conf cpp cs css csv env ex go h hpp html ini ipynb java js json jsonl jsx kt lock lua md mjs php pl proto py rb rs sass "
    "scala scss sh sql svelte svg swift tf toml ts tsx txt vue xml yaml yml"
)
EXTENSIONS = frozenset(_KNOWN.split())
COMMON_PATHS = frozenset(("dev/null", "origin/main", "origin/master", "bin/bash", "bin/sh", "bin/env", "and/or", "usr/bin", "usr/local"))


class Name(NamedTuple):
    """A name as it stands, and the `key` under which two mentions are one: of a path the last two parts."""

    kind: NameKind
    text: str
    key: str


def names(text: str, *, prose: bool = True) -> Iterator[Name]:
    """The names of a text in order, repeated ones too. Outside of prose short numbers are none."""
    for match in _CHUNK.finditer(text):
        before = text[match.start() - 1 : match.start()]
        yield from _judged(match.group(), before, prose)


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rpartition("/")[2]


def _judged(chunk: str, before: str, prose: bool) -> Iterator[Name]:
    chunk = chunk.rstrip(".-/+~")
    if not chunk or len(chunk) > MOST_NAME_CHARS or before == "*":  # the end of a pattern is no name
        return
    if chunk.startswith(("http://", "https://")):
        if len(chunk) >= LEAST_URL and not _MADE_UP.match(chunk):
            yield Name("url", chunk, chunk.partition("://")[2].rstrip("/"))
    elif chunk[0] == "#" or chunk[0].isdigit() or chunk[:2] == "v0" or _VERSION.fullmatch(chunk):
        yield from _number_or_hash(chunk, before, prose)
    elif _is_hash(chunk):
        yield Name("hash", chunk, chunk[:7])
    elif "/" in chunk:
        yield from _path(chunk)
    elif _is_file(chunk):
        yield Name("path", chunk, chunk)
    else:
        yield from (Name("identifier", word, word) for word in _WORD.findall(chunk) if _is_identifier(word))


def _number_or_hash(chunk: str, before: str, prose: bool) -> Iterator[Name]:
    digits = chunk.lstrip("#").replace(",", "").replace("_", "")
    if _is_hash(chunk):
        yield Name("hash", chunk, chunk[:7])
    elif chunk[0] == "#" or _VERSION.fullmatch(chunk):
        yield Name("number", chunk, chunk.lstrip("#v"))
    elif "/" in chunk and not chunk.replace("/", "").replace("-", "").isdigit():
        yield from _path(chunk)
    elif digits.isdigit() and before not in (":", "L", ".", "-"):
        least = LEAST_DIGITS_IN_PROSE if prose else LEAST_DIGITS
        if len(digits) >= least and not digits.endswith("000") and not _YEAR.fullmatch(digits):
            yield Name("number", chunk, digits)


def _path(chunk: str) -> Iterator[Name]:
    parts = [part for part in chunk.split("/") if part not in ("", ".", "..", "~")]
    key = "/".join(parts[-2:])
    if len(parts) < 2 or len(chunk) < LEAST_PATH or key in COMMON_PATHS or "@" in chunk:
        return
    if _is_file(parts[-1]) or (("_" in key or "-" in key) and chunk[0] in "/~."):
        yield Name("path", chunk, key)


def _is_file(name: str) -> bool:
    stem, dot, extension = name.rpartition(".")
    return bool(dot) and len(stem) >= 2 and extension.lower() in EXTENSIONS and any(map(str.isalpha, stem))


def _is_hash(chunk: str) -> bool:
    mixed = any(map(str.isdigit, chunk)) and any(map(str.isalpha, chunk))
    return mixed and _HEX.fullmatch(chunk) is not None and _EXAMPLE.fullmatch(chunk) is None


def _is_identifier(word: str) -> bool:
    if len(word) < LEAST_IDENTIFIER or word.startswith("__"):
        return False
    inner = word.strip("_")
    parts = _PART.findall(inner)
    joined = "_" in inner or (any(map(str.islower, inner)) and any(map(str.isupper, inner[1:])))
    return joined and (len(parts) >= LEAST_PARTS or len(word) >= LONG_IDENTIFIER)
