"""Gemini CLI, and Qwen Code, which began as a fork of it."""

from __future__ import annotations

from compaction.layers.clear_tool_results import ClearToolResults
from compaction.layers.limit_by_kind import LimitByKind
from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.summarise_keep_recent import SummariseKeepRecent
from compaction.policy import Guard, Policy, Provenance, Stage, Trigger

NODE_CHARS = 16_000  # 4,000 tokens of four characters

GEMINI_CLI = Policy(
    id="gemini-cli",
    title="Gemini CLI: chat compression",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.5, count="usage", scope="prompt"),
    stages=(
        Stage(layer=MaskToolResults(protect_tokens=50_000, least_gain=0, protect_messages=0)),
        Stage(layer=SummariseKeepRecent(keep_share=0.3)),
    ),
    guard=Guard(must_shrink=True),
    provenance=Provenance(
        label="chat compression service", source="google-gemini/gemini-cli chatCompressionService.ts (5411f11)", as_of="2026-08", grade="S"
    ),
    notes=(
        "Function responses beyond the newest 50,000 tokens are masked here; the program cuts them into a file.",
        "Its verifying second summary is not asked for.",
    ),
)
GEMINI_MASK = Policy(
    id="gemini-mask",
    title="Gemini CLI: masking of tool outputs",
    unit="exact",
    stages=(Stage(layer=MaskToolResults(protect_tokens=50_000, least_gain=30_000, protect_messages=1), when="always"),),
    provenance=Provenance(
        label="tool output masking service",
        source="google-gemini/gemini-cli toolOutputMaskingService.ts (5411f11)",
        as_of="2026-08",
        grade="S",
    ),
    notes=("The latest turn is taken to be the newest message. The masked text goes to a file, which is not replayed.",),
)
GEMINI_GENERALIST = Policy(
    id="gemini-generalist",
    title="Gemini CLI: generalist profile",
    unit="exact",
    trigger=Trigger(kind="tokens", value=150_000, count="usage", scope="prompt"),
    stages=(
        Stage(
            layer=LimitByKind(
                log_chars=NODE_CHARS,
                diff_chars=NODE_CHARS,
                json="cut",
                json_chars=NODE_CHARS,
                listing_chars=NODE_CHARS,
                file="cut",
                file_chars=NODE_CHARS,
                other_chars=NODE_CHARS,
            )
        ),
        Stage(layer=SummariseKeepRecent(keep_tokens=65_000)),
    ),
    stop="below",
    provenance=Provenance(label="context profiles", source="google-gemini/gemini-cli profiles.ts (5411f11)", as_of="2026-08", grade="S"),
    notes=("Approached: masking above 8,000 tokens and distilling of 15,000 to 3,000 are one cut to 4,000 tokens here.",),
)
QWEN_CODE = Policy(
    id="qwen-code",
    title="Qwen Code: state snapshot",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.7, count="usage", scope="prompt"),
    stages=(Stage(layer=ClearToolResults(keep=5)), Stage(layer=SummariseKeepRecent(keep_share=0.3))),
    stop="below",
    guard=Guard(must_shrink=True),
    provenance=Provenance(
        label="as third parties describe it", source="QwenLM/qwen-code; parsers of its files", as_of="2026-08", grade="U"
    ),
    notes=("0.7 is that of older forks, unverified. The micro compaction that keeps 5 results is reported by others.",),
)
