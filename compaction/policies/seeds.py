"""The programs whose behaviour is replayed figure by figure: workbuddy s14, learn-claude-code s08, dsh, and mini-harness 09."""

from __future__ import annotations

from compaction.layers.clear_old_results import ClearOldResults
from compaction.layers.dedup_file_reads import DedupFileReads
from compaction.layers.prune_old_messages import PruneOldMessages
from compaction.layers.prune_results import PruneResults
from compaction.layers.result_budget import ResultBudget
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.summarise_everything import SummariseEverything
from compaction.layers.summarise_old import SummariseOld
from compaction.layers.summarise_range import SummariseRange
from compaction.layers.summarise_reactive import SummariseReactive
from compaction.layers.truncate_results import TruncateResults
from compaction.policy import Guard, Policy, Provenance, Stage, Trigger

WORKBUDDY_S14 = Policy(
    id="workbuddy-s14",
    title="learn-workbuddy s14: four layers",
    unit="s14_chars4",
    trigger=Trigger(kind="tokens", value=80_000),
    stages=(
        Stage(layer=TruncateResults(max_tool_result_tokens=5_000)),
        Stage(layer=DedupFileReads()),
        Stage(layer=PruneOldMessages(keep_recent_messages=6)),
        Stage(layer=SummariseOld(keep_recent_messages=4)),
    ),
    stop="below",
    guard=Guard(must_shrink=True, hard_limit=120_000),
    provenance=Provenance(label="learn-workbuddy, chapter s14", source="adongwanai/learn-workbuddy", as_of="2026-08", grade="S"),
    notes=(
        "One passage of the source text says 100,000; the program uses 80,000.",
        "The summary sees only what the pruning left: three messages at most.",
    ),
)
LEARN_CLAUDE_CODE_S08 = Policy(
    id="learn-claude-code-s08",
    title="learn-claude-code s08: budget, snip, micro, summary",
    unit="s08_repr",
    trigger=Trigger(kind="characters", value=50_000, inclusive=False),
    stages=(
        Stage(layer=ResultBudget(batch_chars=200_000, store_above=30_000, preview_chars=2_000), when="always"),
        Stage(layer=SnipMessages(max_messages=50, keep_head=3), when="always"),
        Stage(layer=ClearOldResults(keep_results=3, longer_than=120), when="always"),
        Stage(layer=SummariseEverything()),
        Stage(layer=SummariseReactive(keep_messages=5), when="overflow"),
    ),
    provenance=Provenance(label="learn-claude-code, chapter s08", source="shareAI-lab/learn-claude-code", as_of="2026-08", grade="S"),
    notes=(
        "Every size is in characters of Python's repr, also where the source says bytes.",
        "Whether a summary is smaller is not checked.",
    ),
)
DSH_BASIC = Policy(
    id="dsh-basic",
    title="DeepSeek Harness: prune, then a checkpoint",
    unit="dsh_utf16",
    trigger=Trigger(kind="ratio", value=0.8, scope="prompt"),
    stages=(
        Stage(layer=PruneResults(threshold_chars=8_192, head_chars=4_096, tail_chars=1_024)),
        Stage(layer=SummariseRange(keep_ratio=0.16)),
        Stage(layer=PruneResults(threshold_chars=8_192, head_chars=4_096, tail_chars=1_024), when="overflow"),
        Stage(layer=SummariseRange(keep_tokens=0), when="overflow"),
    ),
    stop="below",
    guard=Guard(must_shrink=True, retries=1),
    provenance=Provenance(label="dsh v0.1.1-rc.2, default options", source="deepseek-ai/deepseek-harness", as_of="2026-08", grade="S"),
    notes=("Spilling has no default limit and is off.",),
)
MINI_HARNESS_09 = Policy(
    id="mini-harness-09",
    title="mini-harness 09: prune, then a checkpoint",
    unit="course09_chars4",
    trigger=Trigger(kind="ratio", value=0.8, scope="prompt", whole=False),
    stages=(
        Stage(layer=PruneResults(threshold_chars=8_192, head_chars=4_096, tail_chars=1_024)),
        Stage(layer=SummariseRange(keep_ratio=0.16, in_blocks=False)),
    ),
    stop="below",
    guard=Guard(must_shrink=True, retries=1),
    window=1_000_000,
    provenance=Provenance(label="mini-harness, chapter 09", source="warmsum/mini-harness", as_of="2026-08", grade="S"),
    notes=(
        "Its own selection does not look at tool calls. Here a cut inside an interaction moves towards the head, and the report says so.",
        "Spilling has no default limit and is off.",
    ),
)
