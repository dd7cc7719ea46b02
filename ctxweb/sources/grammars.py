"""How the pointers of all schemes are written, without what they are looked up with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from compaction.errors import SourcePointerError
from compaction.sources import SCHEMES
from compaction.sources.base import Grammar
from compaction.sources.pointers import SourcePointer, checked_component, checked_digest
from ctxweb.sources.base import checked_path

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ObjectGrammar:
    """`object:<store>:<key>:<digest>`."""

    name: Literal["object"] = "object"

    def parse(self, raw: str) -> SourcePointer:
        """See `Grammar`."""
        parts = raw.split(":")
        if len(parts) != 4:
            raise SourcePointerError("an object pointer is object:<store>:<key>:<digest>", code="object_pointer_shape")
        store, key = checked_component(parts[1], "store"), checked_path(parts[2], "key")
        return SourcePointer(raw=raw, kind=self.name, session_id=store, place=(key,), digest_prefix=checked_digest(parts[3]))


@dataclass(frozen=True, slots=True)
class GitGrammar:
    """`file+git:<repository>:<commit>:<path>`."""

    name: Literal["file+git"] = "file+git"

    def parse(self, raw: str) -> SourcePointer:
        """See `Grammar`."""
        parts = raw.split(":")
        if len(parts) != 4:
            raise SourcePointerError("such a pointer is file+git:<repository>:<commit>:<path>", code="git_pointer_shape")
        repository, path = checked_component(parts[1], "repository"), checked_path(parts[3], "path")
        if not _COMMIT.fullmatch(parts[2]):
            raise SourcePointerError("a commit is named by its 40 or 64 lower-case digits", code="git_commit_invalid")
        return SourcePointer(raw=raw, kind=self.name, session_id=repository, place=(parts[2], path))


GRAMMARS: tuple[Grammar, ...] = (*SCHEMES, ObjectGrammar(), GitGrammar())
