"""What providers do on request: context editing and compaction of Anthropic, compaction of OpenAI."""

from __future__ import annotations

from compaction.layers.clear_thinking import ClearThinking
from compaction.layers.clear_tool_results import ClearToolResults
from compaction.layers.opaque_compaction import OpaqueCompaction
from compaction.policy import Policy, Provenance, Stage, Trigger

_TYPES = "anthropic 2.14.0, types of context_management"

ANTHROPIC_CLEAR_TOOLS = Policy(
    id="anthropic-clear-tools",
    title="Anthropic API: clear_tool_uses_20250919",
    unit="exact",
    trigger=Trigger(kind="tokens", value=100_000, count="usage", scope="prompt"),
    stages=(Stage(layer=ClearToolResults(keep=3)),),
    provenance=Provenance(label="defaults as reported", source=_TYPES, as_of="2026-08", grade="P"),
    notes=("The types list the options; the defaults 100,000 and 3 are told by others. The placeholder's text is ours.",),
)
ANTHROPIC_CLEAR_THINKING = Policy(
    id="anthropic-clear-thinking",
    title="Anthropic API: clear_thinking_20251015",
    unit="exact",
    stages=(Stage(layer=ClearThinking(keep_turns=1), when="always"),),
    provenance=Provenance(label="keep the last thinking turn", source=_TYPES, as_of="2026-08", grade="T"),
)
ANTHROPIC_COMPACT = Policy(
    id="anthropic-compact",
    title="Anthropic API: compact_20260112",
    unit="exact",
    trigger=Trigger(kind="tokens", value=150_000, count="usage", scope="prompt"),
    stages=(Stage(layer=OpaqueCompaction()),),
    provenance=Provenance(label="default trigger", source=_TYPES, as_of="2026-08", grade="T"),
    notes=("The size of the compaction block is that of the summarizer's answer here.",),
)
OPENAI_RESPONSES = Policy(
    id="openai-responses",
    title="OpenAI Responses: compaction",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.8, count="usage", scope="prompt"),
    stages=(Stage(layer=OpaqueCompaction()),),
    provenance=Provenance(label="compact_threshold", source="openai 3.57.0, types of context_management", as_of="2026-08", grade="T"),
    notes=(
        "compact_threshold has no default in the types: 0.8 of the window is ours.",
        "That user messages stay is seen in answers of /responses/compact only.",
    ),
)
