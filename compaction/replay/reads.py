"""Which results are file reads, and by what they are told apart: the path as written, with the range where one was given."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTool:
    """A tool that gives the content of one file. `range_fields` narrow what it reads."""

    name: str
    path_fields: tuple[str, ...]
    range_fields: tuple[str, ...] = ("offset", "limit")


_PLAIN = (
    ReadTool(
        name="read_file", path_fields=("path", "file_path", "target_file"), range_fields=("offset", "limit", "start_line", "end_line")
    ),
    ReadTool(name="read", path_fields=("path", "file_path", "filePath")),
    ReadTool(name="Read", path_fields=("file_path", "path")),
)
_CLAUDE_CODE = (
    ReadTool(name="Read", path_fields=("file_path",), range_fields=("offset", "limit", "pages")),
    ReadTool(name="NotebookRead", path_fields=("notebook_path",), range_fields=("cell_id",)),
    ReadTool(name="View", path_fields=("file_path",)),
)
_CODEX = (ReadTool(name="read_file", path_fields=("file_path", "path"), range_fields=("offset", "limit", "mode", "indentation")),)
_DSH = (ReadTool(name="read", path_fields=("path", "file_path")),)

READ_TOOLS: dict[str, tuple[ReadTool, ...]] = {"claude_code": _CLAUDE_CODE, "codex": _CODEX, "dsh": _DSH}
"""Read tools by session format; a format that is not named here has the plain ones."""


def read_tool(format_id: str, tool_name: str) -> ReadTool | None:
    """The read tool of that name, None where the format has none."""
    return next((tool for tool in READ_TOOLS.get(format_id, _PLAIN) if tool.name == tool_name), None)


def read_key(tool: ReadTool, arguments: str) -> str:
    """The key of a read with these arguments, a JSON object; "" where it names no file."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return ""
    if not isinstance(given, dict):
        return ""
    path = next((given[name] for name in tool.path_fields if isinstance(given.get(name), str) and given[name]), "")
    narrowed = {name: given[name] for name in tool.range_fields if given.get(name) is not None}
    return f"{path}\n{json.dumps(narrowed, sort_keys=True)}" if path and narrowed else path
