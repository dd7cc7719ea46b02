"""What a module of one system holds: its functions by the names of the vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Given = Mapping[str, Any]
"""A case with its input at the top; `config`, `roots` and `files` beside it where the case has them."""

Answer = dict[str, Any]
Functions = dict[str, Callable[[Given], Answer]]
