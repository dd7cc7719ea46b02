"""Items of the OpenAI Responses API as drafts of messages; Codex rollouts hold the same items.

An item is read leniently: an odd shape gives flags, never an error. Encrypted content is opaque: only its length is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from compaction.messages import Origin, Role
from ctxweb.importers.anthropic_content import PATH_FIELDS, Drawn
from ctxweb.importers.lane_log import Draft, draw
from ctxweb.importers.values import compact_json, media, plain_text, word

JsonObject = Mapping[str, Any]

SILENT_TYPES = frozenset({"ghost_snapshot", "compaction_trigger"})
"""Items that no prompt ever holds: undo data, and the request for a compaction."""

COMPACTION_TYPES = frozenset({"compaction", "compaction_summary", "context_compaction"})
TEXT_PARTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"})
ORIGINS: dict[Role, Origin] = {"system": "harness", "developer": "harness", "user": "human", "assistant": "model", "tool": "tool"}
ROLES: dict[str, Role] = {"system": "system", "developer": "developer", "user": "user", "assistant": "assistant", "tool": "tool"}
PATH_SEARCH_CHARS = 100_000
ARGUMENT_KEYS = ("arguments", "input", "action", "code", "operation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item as a draft; `by_model` says that the model wrote it."""

    draft: Draft
    by_model: bool


def read_item(value: JsonObject) -> Item | None:
    """The item as a draft, None for an item that no prompt holds or whose type is not known."""
    kind = item_type(value)
    reader = READERS.get(kind)
    if reader is not None:
        return reader(value)
    if kind.endswith("_output"):
        return _tool_result(value)
    if kind.endswith("_call"):
        return _tool_use(value)
    return None


def item_type(value: JsonObject) -> str:
    """The type of an item; a bare {role, content} is a message."""
    kind = value.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if isinstance(value.get("role"), str) else ""


def is_known_type(kind: str) -> bool:
    return kind in READERS or kind in SILENT_TYPES or kind.endswith(("_call", "_output"))


def content_pieces(content: Any) -> tuple[Drawn, ...]:
    """Pieces of a message's content: a text, or a list of parts."""
    if isinstance(content, list):
        return tuple(part_piece(part) for part in content)
    plain = plain_text(content)
    return (draw("text", plain.text, flags=plain.flags),)


def part_piece(part: Any) -> Drawn:
    """One part of a content list."""
    kind = word(part.get("type")) if isinstance(part, Mapping) else None
    if kind in TEXT_PARTS:
        plain = plain_text(part.get("text", part.get("refusal")))
        return draw("text", plain.text, flags=plain.flags)
    if kind in ("input_image", "image_url"):
        return image_piece(part.get("image_url"))
    if kind in ("input_file", "file"):
        return _file_piece(part)
    if kind == "encrypted_content":
        return opaque_piece("encrypted content", part.get("encrypted_content"))
    plain = plain_text(part)
    return draw("text" if isinstance(part, str) else "opaque", plain.text, flags=plain.flags)


def image_piece(source: Any) -> Drawn:
    """An image given by a data URL or an address, which is shown and never fetched."""
    return _media_piece("image", source.get("url") if isinstance(source, Mapping) else source, None)


def opaque_piece(name: str, encrypted: Any) -> Drawn:
    """Content that only the provider can read, with its length in characters."""
    chars = len(encrypted) if isinstance(encrypted, str) else 0
    text = f"[{name}, {chars:,} characters]" if chars else f"[{name}, empty]"
    return draw("opaque", text, signature_chars=chars, flags=("encrypted",))


def _file_piece(part: JsonObject) -> Drawn:
    inner = part.get("file")
    file = inner if isinstance(inner, Mapping) else part
    return _media_piece("document", file.get("file_data"), file.get("filename") or file.get("file_id") or file.get("file_url"))


def _media_piece(kind: Literal["image", "document"], source: Any, name: Any) -> Drawn:
    if isinstance(source, str) and source.startswith("data:"):
        head, _, data = source[len("data:") :].partition(",")
        shown = media(kind, head.partition(";")[0], data, name)
    else:
        shown = media(kind, None, place=source or name)
    return draw(kind, shown.label, media_type=shown.media_type, media_bytes=shown.size)


def _message(value: JsonObject) -> Item:
    role = ROLES.get(str(value.get("role")), "user")
    flags = () if word(value.get("role")) in ROLES else ("odd_role",)
    draft = Draft(
        role=role, origin=ORIGINS[role], pieces=content_pieces(value.get("content")), native_id=word(value.get("id")), flags=flags
    )
    return Item(draft=draft, by_model=role == "assistant")


def _agent_message(value: JsonObject) -> Item:
    """A message between agents: it instructs like a user's, and a subagent wrote it."""
    draft = Draft(
        role="user",
        origin="subagent",
        pieces=content_pieces(value.get("content")),
        native_id=word(value.get("id")),
        label=word(value.get("author")),
    )
    return Item(draft=draft, by_model=False)


def _reasoning(value: JsonObject) -> Item:
    encrypted = value.get("encrypted_content")
    chars = len(encrypted) if isinstance(encrypted, str) else 0
    parts = [*_list(value.get("summary")), *_list(value.get("content"))]
    text = "\n\n".join(text_of(piece) for piece in map(part_piece, parts))
    return _by_model(value, draw("thinking", text, signature_chars=chars, flags=("encrypted",) if chars else ()))


def _compaction(value: JsonObject) -> Item:
    piece = opaque_piece("encrypted compaction", value.get("encrypted_content"))
    return Item(draft=Draft(role="assistant", origin="summary", pieces=(piece,), native_id=word(value.get("id"))), by_model=False)


def _tool_use(value: JsonObject) -> Item:
    """A call; one without an id to answer to (a web search) has no output by design."""
    kind = item_type(value)
    tool_id = word(value.get("call_id")) or (word(value.get("id")) if kind == "mcp_call" else None)
    name = word(value.get("name")) or kind.removesuffix("_call")
    text, flags = _arguments(value), () if tool_id else ("no_output",)
    use = draw("tool_use", text, tool_id=tool_id, tool_name=name, path=path_in(text), flags=flags)
    answer = value.get("output") if kind == "mcp_call" else None
    results = () if answer is None else (draw("tool_result", plain_text(answer).text, tool_id=tool_id),)
    return _by_model(value, use, *results)


def _arguments(value: JsonObject) -> str:
    """What the model asked the tool for: the arguments as it wrote them, else the action as JSON."""
    given = next((value[key] for key in ARGUMENT_KEYS if value.get(key) is not None), None)
    if given is None:
        given = {key: value[key] for key in ("queries", "revised_prompt", "status") if key in value}
    return given if isinstance(given, str) else compact_json(given)


def _tool_result(value: JsonObject) -> Item:
    output = value.get("output", value.get("tools"))
    failed = value.get("status") == "failed"
    if isinstance(output, Mapping) and "content" in output:
        failed = failed or output.get("success") is False
        output = output["content"]
    text, flags = result_text(output)
    piece = draw("tool_result", text, tool_id=word(value.get("call_id")), tool_name=word(value.get("name")), is_error=failed, flags=flags)
    draft = Draft(role="tool", origin="tool", pieces=(piece,), native_id=word(value.get("id")))
    return Item(draft=draft, by_model=value.get("execution") == "server")


def result_text(output: Any) -> tuple[str, tuple[str, ...]]:
    """A result as one text; images in it stand as labels, and a flag says how many."""
    parts = output if isinstance(output, list) else [output] if isinstance(output, Mapping) else None
    if parts is None:
        plain = plain_text(output)
        return plain.text, plain.flags
    pieces = [part_piece(part) for part in parts]
    images = sum(piece.kind == "image" for piece, _ in pieces)
    return "\n".join(map(text_of, pieces)), (f"images:{images}",) if images else ()


def _additional_tools(value: JsonObject) -> Item:
    piece = draw("text", compact_json(value.get("tools")))
    return Item(draft=Draft(role="developer", origin="harness", pieces=(piece,), label="tools"), by_model=False)


def _by_model(value: JsonObject, *pieces: Drawn) -> Item:
    return Item(draft=Draft(role="assistant", origin="model", pieces=pieces, native_id=word(value.get("id"))), by_model=True)


def text_of(drawn: Drawn) -> str:
    return drawn[1].text or ""


def path_in(arguments: str) -> str | None:
    """The file that the arguments of a tool call name, if they are a JSON object that names one."""
    if len(arguments) > PATH_SEARCH_CHARS or not arguments.lstrip().startswith("{"):
        return None
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return next((found for name in PATH_FIELDS if (found := word(given.get(name)))), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


READERS: dict[str, Callable[[JsonObject], Item]] = {
    "message": _message,
    "agent_message": _agent_message,
    "reasoning": _reasoning,
    "additional_tools": _additional_tools,
    **dict.fromkeys(COMPACTION_TYPES, _compaction),
}
