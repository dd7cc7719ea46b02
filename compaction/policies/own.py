"""A policy of our own: limits by kind of content, and other limits for subagents and for sessions that begin with a summary."""

from __future__ import annotations

from compaction.layers.clear_tool_results import ClearToolResults
from compaction.layers.limit_by_kind import LimitByKind
from compaction.layers.restore_files import RestoreFiles
from compaction.layers.summarise_keep_recent import SummariseKeepRecent
from compaction.policy import Guard, Policy, Provenance, Stage, Trigger, Variant

BY_CONTENT = Policy(
    id="by-content",
    title="Limits by kind of content",
    unit="estimate",
    trigger=Trigger(kind="ratio", value=0.8, count="estimate", scope="prompt"),
    stages=(
        Stage(layer=LimitByKind(only_new=True), when="arrival"),
        Stage(layer=ClearToolResults(keep=6), trigger=Trigger(kind="ratio", value=0.6, count="estimate", scope="prompt")),
        Stage(layer=SummariseKeepRecent(keep_first=1, keep_ratio=0.2)),
        Stage(layer=RestoreFiles(files=3)),
    ),
    guard=Guard(must_shrink=True, retries=1),
    provenance=Provenance(label="ours, not measured against others", source="this project", as_of="2026-11", grade="U"),
    variants=(
        Variant(
            id="subagent",
            title="Subagents: shorter memory",
            settings=(("clear_tool_results.keep", 3), ("summarise_keep_recent.keep_ratio", 0.1)),
            lanes=("subagent",),
        ),
        Variant(
            id="resumed",
            title="Sessions that begin with a summary: it stays with the first message after it",
            settings=(("summarise_keep_recent.keep_first", 2),),
            starts_from_summary=True,
        ),
    ),
)
