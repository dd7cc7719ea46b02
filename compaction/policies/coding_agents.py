"""Further coding agents, one policy each."""

from __future__ import annotations

from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.sliding_window import SlidingWindow
from compaction.layers.summarise_all import SummariseAll
from compaction.layers.summarise_keep_recent import SummariseKeepRecent
from compaction.policy import Policy, Provenance, Stage, Trigger, Variant

OPENCODE = Policy(
    id="opencode",
    title="opencode: prune and summary",
    unit="exact",
    trigger=Trigger(kind="headroom", value=20_000, of="input_limit", count="usage", scope="prompt"),
    stages=(
        Stage(
            layer=MaskToolResults(
                protect_tokens=40_000,
                least_gain=20_000,
                protect_turns=2,
                protect_messages=0,
                exclude_tools=("skill",),
                placeholder="[Old tool result content cleared]",
            ),
            when="always",
        ),
        Stage(layer=SummariseAll()),
    ),
    provenance=Provenance(label="session compaction", source="sst/opencode compaction.ts (fd78ec6)", as_of="2026-08", grade="S"),
    notes=("The headroom is min(20,000, the most tokens of an answer).", "It prunes at the end of a turn; here before each call."),
)
OPENHANDS_DEFAULT = Policy(
    id="openhands-default",
    title="OpenHands: summarizing condenser",
    unit="exact",
    trigger=Trigger(kind="events", value=80, inclusive=False),
    stages=(Stage(layer=SummariseKeepRecent(keep_first=4, keep_messages=35)),),
    provenance=Provenance(
        label="condenser of the agent presets", source="OpenHands/software-agent-sdk (611629e)", as_of="2026-08", grade="S"
    ),
    variants=(
        Variant(
            id="class-default",
            title="Defaults of the class",
            settings=(("trigger", 240), ("summarise_keep_recent.keep_first", 2), ("summarise_keep_recent.keep_messages", 117)),
        ),
        Variant(
            id="planning",
            title="Planning preset",
            settings=(("trigger", 100), ("summarise_keep_recent.keep_first", 6), ("summarise_keep_recent.keep_messages", 43)),
        ),
    ),
    notes=(
        "It forgets to half: what stays is half the limit without head and summary, counted in messages here.",
        "The least progress of 0.1 is not checked.",
    ),
)
ROO_CODE = Policy(
    id="roo-code",
    title="Roo Code: condense, else a sliding window",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.9, count="usage", scope="prompt", inclusive=False),
    stages=(Stage(layer=SummariseAll()), Stage(layer=SlidingWindow(keep_first=1, keep_message_share=0.5))),
    stop="below",
    provenance=Provenance(label="context management", source="RooCodeInc/Roo-Code (cb83656)", as_of="2026-08", grade="S"),
    notes=(
        "The tokens reserved for the answer, by which its limit is lower, are not subtracted.",
        "Its window hides an even number of messages.",
    ),
)
CLINE_SDK = Policy(
    id="cline-sdk",
    title="Cline SDK: summary of the older part",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.81, count="usage", scope="prompt"),
    stages=(Stage(layer=SummariseKeepRecent(keep_tokens=20_000, summary_tokens=4_096)),),
    provenance=Provenance(label="0.9 of 0.9 of the window", source="cline/cline SDK (21cb8d2)", as_of="2026-08", grade="S"),
    notes=(
        "Its target of 0.7 (0.5 for long ones) is not pursued.",
        "Results are cut to 2,000 characters for the summary; here the summarizer gets them whole.",
    ),
)
GOOSE = Policy(
    id="goose",
    title="Goose: everything summarised",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.8, count="usage", scope="prompt", inclusive=False),
    stages=(Stage(layer=SummariseAll(keep_user_messages=1)),),
    provenance=Provenance(label="automatic compaction", source="block/goose (331a842)", as_of="2026-08", grade="S"),
    notes=(
        "The last user text stays before the summary; in the program it follows.",
        "Its background summaries of single tool pairs are not replayed.",
    ),
)
KIMI_CLI = Policy(
    id="kimi-cli",
    title="Kimi CLI: summary and two messages",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.85, count="usage", scope="prompt"),
    stages=(
        Stage(layer=SummariseKeepRecent(keep_messages=2)),
        Stage(
            layer=SummariseKeepRecent(keep_messages=2),
            trigger=Trigger(kind="headroom", value=50_000, count="usage", scope="prompt"),
        ),
    ),
    provenance=Provenance(label="simple compaction", source="MoonshotAI/kimi-cli (4a550ef)", as_of="2026-08", grade="S"),
    notes=("It compacts at 0.85 of the window, or with less than 50,000 tokens left: one stage for each.",),
)
PI = Policy(
    id="pi",
    title="pi: summary of the older part",
    unit="exact",
    trigger=Trigger(kind="headroom", value=16_384, count="usage", scope="prompt", inclusive=False),
    stages=(Stage(layer=SummariseKeepRecent(keep_tokens=20_000, summary_tokens=13_107)),),
    provenance=Provenance(label="default settings", source="badlogic/pi-mono (83378aa)", as_of="2026-08", grade="S"),
    notes=("The summary may have 0.8 of the reserve of 16,384.",),
)
