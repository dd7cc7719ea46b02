"""Frameworks that agents are built with. Where one has no default, the number is ours and a note says so."""

from __future__ import annotations

from compaction.layers.clear_thinking import ClearThinking
from compaction.layers.clear_tool_results import ClearToolResults
from compaction.layers.drop_interactions import DropInteractions
from compaction.layers.opaque_compaction import OpaqueCompaction
from compaction.layers.sliding_window import SlidingWindow
from compaction.layers.spill_results import SpillResults
from compaction.layers.summarise_all import SummariseAll
from compaction.layers.summarise_keep_recent import SummariseKeepRecent
from compaction.policy import Policy, Provenance, Stage, Trigger, Variant

LANGCHAIN_SUMMARIZATION = Policy(
    id="langchain-summarization",
    title="LangChain: SummarizationMiddleware",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.8, count="usage", scope="prompt"),
    stages=(Stage(layer=SummariseKeepRecent(keep_messages=20)),),
    provenance=Provenance(label="defaults of the middleware", source="langchain 1.5.2", as_of="2026-08", grade="S"),
    notes=(
        "It has no trigger unless one is set: 0.8 of the window is ours.",
        "The summary gets at most 4,000 tokens of input; here it gets all.",
    ),
)
LANGCHAIN_CLEAR_TOOLS = Policy(
    id="langchain-clear-tools",
    title="LangChain: ContextEditingMiddleware",
    unit="exact",
    trigger=Trigger(kind="tokens", value=100_000, count="exact"),
    stages=(Stage(layer=ClearToolResults(keep=3, clear_at_least=0, placeholder="[cleared]")),),
    provenance=Provenance(label="defaults of ClearToolUsesEdit", source="langchain 1.5.2", as_of="2026-08", grade="S"),
)
DEEPAGENTS = Policy(
    id="deepagents",
    title="deepagents: eviction and summary",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.85, count="usage", scope="prompt"),
    stages=(
        Stage(layer=SpillResults(longer_than=None, larger_than=20_000), when="arrival"),
        Stage(layer=SummariseKeepRecent(keep_ratio=0.1)),
    ),
    window=200_000,
    provenance=Provenance(label="default middleware", source="deepagents 0.7.32", as_of="2026-08", grade="S"),
    notes=(
        "Without a known window it fires at 170,000 tokens, 0.85 of the window assumed here, and keeps 6 messages, where here 0.1 stays.",
        "Long arguments of calls, which it cuts, stay.",
    ),
)
_INSPECT = Trigger(kind="ratio", value=0.9, count="usage", scope="prompt")
_INSPECT_SOURCE = "UKGovernmentBEIS/inspect_ai model/_compaction (499e615)"

INSPECT_TRIM = Policy(
    id="inspect-trim",
    title="Inspect: trim",
    unit="exact",
    trigger=_INSPECT,
    stages=(Stage(layer=SlidingWindow(keep_first=1, keep_message_share=0.8)),),
    provenance=Provenance(label="CompactionTrim", source=_INSPECT_SOURCE, as_of="2026-08", grade="S"),
    notes=("The head that stays is the first message here; the program keeps the input of the task.",),
)
INSPECT_EDIT = Policy(
    id="inspect-edit",
    title="Inspect: edit",
    unit="exact",
    trigger=_INSPECT,
    stages=(Stage(layer=ClearThinking(keep_turns=1)), Stage(layer=ClearToolResults(keep=3))),
    provenance=Provenance(label="CompactionEdit", source=_INSPECT_SOURCE, as_of="2026-08", grade="S"),
)
INSPECT_SUMMARY = Policy(
    id="inspect-summary",
    title="Inspect: summary",
    unit="exact",
    trigger=_INSPECT,
    stages=(Stage(layer=SummariseAll(keep_first=1)),),
    provenance=Provenance(label="CompactionSummary", source=_INSPECT_SOURCE, as_of="2026-08", grade="S"),
    notes=("The head that stays is the first message here; the program keeps the input of the task.",),
)
INSPECT_AUTO = Policy(
    id="inspect-auto",
    title="Inspect: the provider's compaction, else a summary",
    unit="exact",
    trigger=_INSPECT,
    stages=(Stage(layer=OpaqueCompaction()), Stage(layer=SummariseAll(keep_first=1))),
    stop="below",
    provenance=Provenance(label="CompactionAuto", source=_INSPECT_SOURCE, as_of="2026-08", grade="S"),
    notes=("That the provider can compact is assumed; the summary runs where that was not enough.",),
)
ADK = Policy(
    id="adk",
    title="Google ADK: events compaction",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.8, count="usage", scope="prompt"),
    stages=(Stage(layer=SummariseKeepRecent(keep_messages=10)),),
    provenance=Provenance(label="EventsCompactionConfig", source="google-adk 2.13.0", as_of="2026-08", grade="S"),
    notes=("Interval and overlap, or token threshold and retention, are the user's: 0.8 of the window and 10 messages are ours.",),
)
MS_AGENT_FRAMEWORK = Policy(
    id="ms-agent-framework",
    title="Microsoft agent-framework: exclusion of groups",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.5),
    stages=(
        Stage(layer=DropInteractions(keep=4)),
        Stage(layer=SlidingWindow(keep_first=1, keep_ratio=0.5), trigger=Trigger(kind="ratio", value=0.8)),
    ),
    provenance=Provenance(label="default strategies", source="agent-framework 1.23.0", as_of="2026-08", grade="S"),
    notes=("To what the truncation at 0.8 goes down is not known: 0.5 is ours, as is the first message that stays.",),
)
STRANDS_SLIDING = Policy(
    id="strands-sliding",
    title="Strands: sliding window",
    unit="exact",
    trigger=Trigger(kind="messages", value=40, inclusive=False),
    stages=(Stage(layer=SlidingWindow(keep_messages=40)),),
    provenance=Provenance(label="SlidingWindowConversationManager", source="strands-agents 1.62.0", as_of="2026-08", grade="S"),
    notes=("A cut that would split an interaction moves towards the head here, so a few more messages may stay.",),
)
STRANDS_SUMMARIZING = Policy(
    id="strands-summarizing",
    title="Strands: summary of the oldest",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.7, count="usage", scope="prompt"),
    stages=(
        Stage(layer=SummariseKeepRecent(keep_message_share=0.7, keep_at_least=10)),
        Stage(layer=SummariseKeepRecent(keep_message_share=0.7, keep_at_least=10), when="overflow"),
    ),
    provenance=Provenance(label="SummarizingConversationManager", source="strands-agents 1.62.0", as_of="2026-08", grade="S"),
    notes=("By default it runs only after an overflow; the trigger of 0.7 holds where proactive compaction is on.",),
)
LETTA = Policy(
    id="letta",
    title="Letta: summary of a sliding window",
    unit="exact",
    trigger=Trigger(kind="ratio", value=1.0, count="usage", scope="prompt"),
    stages=(Stage(layer=SummariseKeepRecent(keep_share=0.7)),),
    provenance=Provenance(label="default compaction settings", source="letta-ai/letta", as_of="2026-08", grade="S"),
    variants=(Variant(id="gpt-5", title="GPT-5 family", settings=(("trigger", 0.9),)),),
    notes=("How much stays is not known to us: 0.7 is ours. The summary's input is clipped at 50,000 characters; here it is whole.",),
)
LLAMAINDEX_BUFFER = Policy(
    id="llamaindex-buffer",
    title="LlamaIndex: chat memory buffer",
    unit="exact",
    trigger=Trigger(kind="ratio", value=0.75, inclusive=False),
    stages=(Stage(layer=SlidingWindow(keep_ratio=0.75)),),
    window=4_000,
    provenance=Provenance(label="ChatMemoryBuffer", source="llama-index-core", as_of="2026-08", grade="S"),
    notes=(
        "Without a known window its limit is 3,000 tokens, 0.75 of the window assumed here.",
        "The newer memory (30,000 tokens, a tenth flushed) is not this one.",
    ),
)
