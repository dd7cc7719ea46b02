"""Claude Code, as its public issues, official types and session files tell."""

from __future__ import annotations

from compaction.layers.restore_files import RestoreFiles
from compaction.layers.spill_results import SpillResults
from compaction.layers.summarise_all import SummariseAll
from compaction.policy import Policy, Provenance, Stage, Trigger

CLAUDE_CODE_AUTO = Policy(
    id="claude-code-auto",
    title="Claude Code: automatic summary",
    unit="exact",
    trigger=Trigger(kind="headroom", value=33_000, count="usage", scope="prompt"),
    stages=(
        Stage(layer=SummariseAll(summary_tokens=20_000)),
        Stage(layer=RestoreFiles(files=5, tokens_each=5_000, tokens_together=50_000)),
    ),
    window=200_000,
    provenance=Provenance(
        label="window − 20k − 13k, as users see it",
        source="anthropics/claude-code#31806, #24589, #34925; sdk.d.ts; 45 boundaries in session files",
        as_of="2026-08",
        grade="P",
    ),
    notes=(
        "167,000 of 200,000 (83.5 %). Users saw 76 to 85 %, the docs once said 95 %; versions 2.0.76 to 2.1.20 compacted at 155,000.",
        "That recently read files come back is said by a third party and unverified. Preserved messages are not replayed.",
    ),
)
CLAUDE_CODE_SPILL = Policy(
    id="claude-code-spill",
    title="Claude Code: persisted output",
    unit="exact",
    stages=(Stage(layer=SpillResults(longer_than=50_000, preview_chars=2_000, tool_limits=(("Bash", 30_000),)), when="arrival"),),
    provenance=Provenance(
        label="since 2.1.51", source="delexw/claude-code-trace#7; anthropics/claude-code#18095", as_of="2026-08", grade="P"
    ),
    notes=("100,000 characters before 2.1.51. The limit of Bash is about 30 KB.",),
)
