"""OpenAI Codex CLI: a summary of its own, or one by the provider."""

from __future__ import annotations

from compaction.layers.opaque_compaction import OpaqueCompaction
from compaction.layers.summarise_all import SummariseAll
from compaction.policy import Policy, Provenance, Stage, Trigger

_TRIGGER = Trigger(kind="ratio", value=0.9, count="usage", scope="prompt")

CODEX_AUTO = Policy(
    id="codex-auto",
    title="Codex: local summary",
    unit="exact",
    trigger=_TRIGGER,
    stages=(Stage(layer=SummariseAll(keep_user_tokens=20_000)),),
    provenance=Provenance(
        label="codex-rs, local compaction", source="openai/codex core/src/compact.rs (0100b10)", as_of="2026-08", grade="S"
    ),
    notes=("A limit in the user's configuration comes first where it is lower. The effective window is said to be 95 % of the model's.",),
)
CODEX_AUTO_REMOTE = Policy(
    id="codex-auto-remote",
    title="Codex: compaction by the provider",
    unit="exact",
    trigger=_TRIGGER,
    stages=(Stage(layer=OpaqueCompaction(keep_user_tokens=64_000)),),
    provenance=Provenance(
        label="codex-rs, remote compaction v2", source="openai/codex compact_remote_v2.rs (009bd87)", as_of="2026-08", grade="S"
    ),
    notes=(
        "What the item holds is encrypted: its size here is that of the summarizer's answer.",
        "Of what is retained only user texts are.",
    ),
)
