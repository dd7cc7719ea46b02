"""Content blocks that a program wrote as Python calls, because JSON did not know their class.

The archive writes each message as JSON and every object of the provider's SDK as its text: `ToolUseBlock(id='t', input={…}, name='bash',
type='tool_use')`. Such a text is read as a literal; nothing in it is run.
"""

from __future__ import annotations

import ast
import re
from typing import Any

MOST_CHARS = 1_000_000
_BEGINS = re.compile(r"(?:Beta)?(?:\w+)Block\(")


def is_written(value: Any) -> bool:
    """Whether a value looks like a block that was written as a call."""
    return isinstance(value, str) and _BEGINS.match(value) is not None and value.endswith(")")


def read_written(value: Any) -> Any:
    """The block as the API writes it; anything else as it is."""
    if not is_written(value) or len(value) > MOST_CHARS:
        return value
    try:
        call = ast.parse(value, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return value
    if not isinstance(call, ast.Call) or call.args:
        return value
    block = {keyword.arg: _literal(keyword.value) for keyword in call.keywords if keyword.arg is not None}
    block = {name: field for name, field in block.items() if field is not None}
    return block if isinstance(block.get("type"), str) else value


def _literal(node: ast.expr) -> Any:
    """The value of a literal; None of an object inside."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None
