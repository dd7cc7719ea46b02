"""Session folders of agents on this machine. Only names and sizes are looked at; no file is opened before the person agrees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

MOST_FILES = 20_000  # looked at in one folder
DEEPEST = 6  # folders below the session folder


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFolder:
    """Where an agent keeps sessions of a format that can be imported. `below` is the part under its root."""

    agent: str
    format: str
    setting: str
    below: str
    suffix: str | tuple[str, ...]


AGENT_FOLDERS: tuple[AgentFolder, ...] = (
    AgentFolder(agent="Claude Code", format="claude_code", setting="CTXWEB_CLAUDE_ROOTS", below="projects", suffix=".jsonl"),
    AgentFolder(agent="Codex", format="codex", setting="CTXWEB_CODEX_ROOTS", below="sessions", suffix=".jsonl"),
    AgentFolder(agent="DeepSeek Harness", format="dsh", setting="CTXWEB_DSH_ROOTS", below="sessions", suffix=(".jsonl", ".jsonl.zstd")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFolder:
    """A folder that exists: its session files and their bytes. `more` says that counting stopped at `MOST_FILES`."""

    agent: str
    path: str
    files: int
    size: int
    more: bool


def found_folders() -> tuple[FoundFolder, ...]:
    """The agents' folders that exist and hold session files, in the order of `AGENT_FOLDERS`."""
    found = []
    for kind in AGENT_FOLDERS:
        for path in dict.fromkeys(Path(root) / kind.below for root in getattr(settings, kind.setting)):
            sizes = _sizes(path, suffix=kind.suffix)
            if sizes:
                shown = sizes[:MOST_FILES]
                found.append(FoundFolder(agent=kind.agent, path=str(path), files=len(shown), size=sum(shown), more=len(sizes) > MOST_FILES))
    return tuple(found)


def _sizes(folder: Path, *, suffix: str | tuple[str, ...]) -> list[int]:
    """Sizes of the regular files below `folder` that end in `suffix`, one more than `MOST_FILES` at most."""
    sizes: list[int] = []
    for size in _walk(folder, suffix=suffix, depth=0):
        sizes.append(size)
        if len(sizes) > MOST_FILES:
            break
    return sizes


def _walk(folder: Path, *, suffix: str | tuple[str, ...], depth: int) -> Iterator[int]:
    """Links are not followed, and a folder that may not be read holds nothing."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEEPEST:
                        yield from _walk(Path(entry.path), suffix=suffix, depth=depth + 1)
                elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_size
    except OSError:
        return
