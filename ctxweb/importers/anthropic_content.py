"""Content lists of the Anthropic Messages shape, as compact pieces and the texts they bring.

A piece is a block that has no place in a lane yet: readers keep pieces while a source is read and place them at the end. It holds
the digest of its text, never the text. A tool result with inner blocks is one piece: its texts are joined, images and other inner
blocks stand in it as labels, and a flag `images:N` says how many images it holds. Block types: official Messages API types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from compaction.messages import Block, BlockId, BlockKind, BlockState, Body
from ctxweb.importers.values import Media, body_of, compact_json, media, plain_text, word

PATH_FIELDS = ("file_path", "notebook_path", "path")
PERSISTED_MARK = "<persisted-output>"
PERSISTED_PATH = re.compile(r"(?:Full output )?saved to:\s*(\S[^\n]*)")
PERSISTED_HEAD_CHARS = 4_000  # the mark and the path stand before the preview


@dataclass(frozen=True, slots=True, kw_only=True)
class Rare:
    """What few pieces have; see `compaction.messages.Block` for the fields."""

    state: BlockState = "whole"
    path: str | None = None
    pointer: str | None = None
    media_type: str | None = None
    media_bytes: int | None = None
    signature_chars: int = 0
    is_error: bool = False
    flags: tuple[str, ...] = ()


PLAIN = Rare()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A block without its place: `digest` and `chars` are those of its body."""

    kind: BlockKind
    digest: bytes
    chars: int
    tool_id: str | None = None
    tool_name: str | None = None
    rare: Rare = PLAIN

    def block(self, place: BlockId) -> Block:
        rare = self.rare
        return Block(
            id=place,
            kind=self.kind,
            body=Body(digest=self.digest, chars=self.chars),
            state=rare.state,
            tool_id=self.tool_id,
            tool_name=self.tool_name,
            path=rare.path,
            pointer=rare.pointer,
            media_type=rare.media_type,
            media_bytes=rare.media_bytes,
            signature_chars=rare.signature_chars,
            is_error=rare.is_error,
            flags=rare.flags,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The pieces of one content with their bodies, side by side. `flags` tell of a content that has no piece at all."""

    pieces: tuple[Piece, ...] = ()
    bodies: tuple[Body, ...] = ()
    flags: tuple[str, ...] = ()


Drawn = tuple[Piece, Body]


def read_content(content: Any) -> Content:
    """Pieces of a message's `content`: a text, a list of blocks, or any odd value, which becomes a marked text."""
    if content is None:
        return Content(flags=("content_null",))
    if isinstance(content, str):
        drawn = [_text(content)] if content else []
    elif isinstance(content, list):
        drawn = [read_block(block) for block in content]
    else:
        drawn = [_odd_text(content)]
    flags = () if drawn else ("content_empty",)
    return Content(pieces=tuple(piece for piece, _ in drawn), bodies=tuple(body for _, body in drawn), flags=flags)


def read_block(block: Any) -> Drawn:
    """One block of a content list as a piece with its body; an unknown type becomes `opaque`, a stray value a marked text."""
    if not isinstance(block, dict):
        return _text(block) if isinstance(block, str) else _odd_text(block)
    kind = block.get("type")
    reader = READERS.get(kind) if isinstance(kind, str) else None
    return reader(block) if reader else _opaque(block)


def _draw(kind: BlockKind, text: str, rare: Rare = PLAIN, tool_id: str | None = None, tool_name: str | None = None) -> Drawn:
    body = body_of(text)
    piece = Piece(kind=kind, digest=body.digest, chars=body.chars, tool_id=tool_id, tool_name=tool_name, rare=rare)
    return piece, body


def _text(text: str) -> Drawn:
    return _draw("text", text)


def _odd_text(value: Any) -> Drawn:
    plain = plain_text(value)
    return _draw("text", plain.text, Rare(flags=plain.flags) if plain.flags else PLAIN)


def _opaque(block: dict[str, Any]) -> Drawn:
    return _draw("opaque", compact_json(block), Rare(flags=(f"type:{str(block.get('type'))[:40]}",)), word(block.get("tool_use_id")))


def _read_text(block: dict[str, Any]) -> Drawn:
    return _odd_text(block.get("text"))


def _read_thinking(block: dict[str, Any]) -> Drawn:
    plain = plain_text(block.get("thinking"))
    signature = block.get("signature")
    chars = len(signature) if isinstance(signature, str) else 0
    return _draw("thinking", plain.text, Rare(signature_chars=chars, flags=plain.flags))


def _read_redacted_thinking(block: dict[str, Any]) -> Drawn:
    data = block.get("data")
    size = len(data) if isinstance(data, str) else 0
    return _draw("thinking", f"[redacted thinking, {size:,} characters]", Rare(signature_chars=size, flags=("redacted",)))


def _read_tool_use(block: dict[str, Any]) -> Drawn:
    given = block.get("input")
    path = next((word(given[name]) for name in PATH_FIELDS if word(given.get(name))), None) if isinstance(given, dict) else None
    text = given if isinstance(given, str) else compact_json(given)
    return _draw("tool_use", text, Rare(path=path) if path else PLAIN, word(block.get("id")), word(block.get("name")))


def _read_image(block: dict[str, Any]) -> Drawn:
    found = _media(block)
    return _draw("image", found.label, Rare(media_type=found.media_type, media_bytes=found.size))


def _read_document(block: dict[str, Any]) -> Drawn:
    source = block.get("source")
    if isinstance(source, dict) and source.get("type") == "text" and isinstance(source.get("data"), str):
        return _draw("document", source["data"], Rare(media_type=word(source.get("media_type"))))
    found = _media(block)
    return _draw("document", found.label, Rare(media_type=found.media_type, media_bytes=found.size))


def _media(block: dict[str, Any]) -> Media:
    given = block.get("source")
    source = given if isinstance(given, dict) else {}
    data = source.get("data") if source.get("type") != "file" else None
    return media(str(block.get("type")), source.get("media_type"), data, source.get("url") or source.get("file_id"))


def _read_compaction(block: dict[str, Any]) -> Drawn:
    plain = plain_text(block.get("content"))
    return _draw("compaction", plain.text, Rare(flags=plain.flags))


def _read_tool_result(block: dict[str, Any]) -> Drawn:
    inner = tuple(_inner(block["content"])) if "content" in block else (_Inner(text="", flags=("content_absent",)),)
    text = "\n".join(part.text for part in inner)
    images = [part for part in inner if part.media and part.media.label.startswith("[image")]
    spilled = PERSISTED_MARK in text[:PERSISTED_HEAD_CHARS]
    pointer = PERSISTED_PATH.search(text[:PERSISTED_HEAD_CHARS]) if spilled else None
    flags = tuple(dict.fromkeys(flag for part in inner for flag in part.flags))
    rare = Rare(
        state="spilled" if spilled else "whole",
        path=word(block.get("_read_path")),
        pointer=word(pointer[1].strip()) if pointer else None,
        media_type=images[0].media.media_type if images and images[0].media else None,
        media_bytes=sum(part.media.size or 0 for part in images if part.media) if images else None,
        is_error=block.get("is_error") is True,
        flags=(*flags, f"images:{len(images)}") if images else flags,
    )
    return _draw("tool_result", text, PLAIN if rare == PLAIN else rare, word(block.get("tool_use_id")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inner:
    """One part of a tool result's content as text."""

    text: str
    flags: tuple[str, ...] = ()
    media: Media | None = None


def _inner(content: Any) -> Iterator[_Inner]:
    if not isinstance(content, list):
        plain = plain_text(content)
        yield _Inner(text=plain.text, flags=plain.flags)
        return
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            yield _Inner(text=part["text"])
        elif kind in ("image", "document"):
            found = _media(part)
            yield _Inner(text=found.label, media=found)
        else:
            plain = plain_text(part)
            yield _Inner(text=plain.text, flags=plain.flags or ("content_not_text",))


READERS: dict[str, Callable[[dict[str, Any]], Drawn]] = {
    "text": _read_text,
    "thinking": _read_thinking,
    "redacted_thinking": _read_redacted_thinking,
    "tool_use": _read_tool_use,
    "server_tool_use": _read_tool_use,
    "mcp_tool_use": _read_tool_use,
    "tool_result": _read_tool_result,
    "mcp_tool_result": _read_tool_result,
    "image": _read_image,
    "document": _read_document,
    "compaction": _read_compaction,
}
