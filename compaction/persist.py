"""Results that went to a file: a preview and the way back stand in the view, and the file holds the text that they stand for.

The name of a file is made from the id of the call and from the text itself. The id is cleaned, so it never chooses a
place; the text's digest is in the name, so another text of the same id is another file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compaction.errors import StoreError

PERSIST_ABOVE_CHARS = 30_000
PREVIEW_CHARS = 2_000
MOST_ID_CHARS = 120  # of an id in a file name

_NOT_CLEAN = re.compile(r"[^A-Za-z0-9._-]+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")

Store = Callable[[str, str], str | None]
"""Puts a text away under a name and says where it is; None where there is no store, StoreError where it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persisted:
    """What stands for a stored text: where it is (`pointer`), its length in characters, and how it begins."""

    pointer: str
    original_chars: int
    preview: str

    @property
    def text(self) -> str:
        """The text as the model sees it."""
        return f"<persisted-output>\nFull output: {self.pointer}\nPreview:\n{self.preview}\n</persisted-output>"


def stored_name(text: str, tool_id: str | None) -> str:
    """The file name for a result: what is harmless of its id, and the SHA-256 of its text."""
    clean = _NOT_CLEAN.sub("_", tool_id or "")[:MOST_ID_CHARS].strip("._-")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{clean}-{digest}.txt" if clean else f"{digest}.txt"


def persist(
    text: str, tool_id: str | None, store: Store, *, above_chars: int = PERSIST_ABOVE_CHARS, preview_chars: int = PREVIEW_CHARS
) -> Persisted | None:
    """Store a text of more than `above_chars` characters; None where it is shorter, where what would stand for it is not
    shorter, or where it could not be stored: the text stays then."""
    if len(text) <= above_chars:
        return None
    try:
        pointer = store(text, stored_name(text, tool_id))
    except StoreError:
        return None
    if not pointer:
        return None
    result = Persisted(pointer=pointer, original_chars=len(text), preview=text[:preview_chars])
    return result if len(result.text) < len(text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderStore:
    """Files in one folder that only its owner can read. Nothing is written outside it, and no link is followed."""

    folder: Path

    def store(self, text: str, name: str) -> str:
        """Write `text` to the file `name` and give its path. A file that holds something else is replaced.

        Raises StoreError where the name could lead elsewhere, or where the file cannot be written.
        """
        if not _NAME.fullmatch(name):
            raise StoreError(f"a file name of {len(name)} characters is refused: use letters, digits, `.`, `_` and `-` only")
        path = self.folder / name
        content = text.encode("utf-8", "surrogatepass")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.is_symlink() or not path.is_file() or path.read_bytes() != content:
                _replace(path, content)
        except OSError as failed:
            raise StoreError(
                f"{len(content)} bytes could not be stored ({type(failed).__name__}): check the folder of the store"
            ) from failed
        return str(path)


def _replace(path: Path, content: bytes) -> None:
    """The old file, or none, is there until the new one is whole."""
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_bytes(content)
    draft.replace(path)
