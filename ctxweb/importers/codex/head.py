"""What the `session_meta` record of a rollout says of its session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.transcript import LaneKind
from ctxweb.importers.values import count, word


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`start_ordinal`: records with a smaller ordinal were copied from the parent; `is_fork`: some prefix was copied."""

    native_id: str | None = None
    kind: LaneKind = "main"
    parent_native_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    producer: str | None = None
    version: str | None = None
    instructions: str | None = None
    start_ordinal: int | None = None
    is_fork: bool = False


def head_of(payload: Mapping[str, Any]) -> Head:
    spawn = _spawn(payload.get("source"))
    forked_from = word(payload.get("forked_from_id"))
    parent = word(payload.get("parent_thread_id")) or word(spawn.get("parent_thread_id"))
    is_subagent = parent is not None or bool(spawn)
    git, instructions = payload.get("git"), payload.get("base_instructions")
    return Head(
        native_id=word(payload.get("id")) or word(payload.get("session_id")),
        kind="subagent" if is_subagent else "fork" if forked_from else "main",
        parent_native_id=parent or forked_from,
        cwd=word(payload.get("cwd")),
        git_branch=word(git.get("branch")) if isinstance(git, Mapping) else None,
        producer=word(payload.get("originator")),
        version=word(payload.get("cli_version")),
        instructions=word(instructions.get("text") if isinstance(instructions, Mapping) else instructions),
        start_ordinal=count(payload.get("subagent_history_start_ordinal")),
        is_fork=forked_from is not None,
    )


def _spawn(source: Any) -> Mapping[str, Any]:
    """How a subagent was started: {"subagent": {"thread_spawn": {…}}}, or {"subagent": "review"}."""
    subagent = source.get("subagent") if isinstance(source, Mapping) else None
    if isinstance(subagent, str):
        return {"name": subagent}
    spawn = subagent.get("thread_spawn") if isinstance(subagent, Mapping) else None
    return spawn if isinstance(spawn, Mapping) else {}
