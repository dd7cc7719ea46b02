"""compaction: what a model saw, what it lost, and which rule took it.

A pure library: values in, values out. `docs/library.md` shows how to use it without the dashboard. The names below are its
face; a module is loaded when one of its names is first used, so that importing the library costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.ask import Ask, Asked, CallerAsk, NoAsk, StubAsk, SummaryRequest
    from compaction.checkpoint_diff import CheckpointDiff, diff_checkpoints
    from compaction.containment import Objection, is_refused, objections
    from compaction.counters import COUNTERS
    from compaction.counters.units import UNITS, Unit, unit_named
    from compaction.durable.canonical import state_digest, state_from, state_from_json, state_to_json
    from compaction.durable.evidence import capture_retrieval_evidence
    from compaction.durable.pending import transition_pending_item
    from compaction.durable.succession import Difference, check_successor, difference
    from compaction.durable.values import (
        DurableContextState,
        DurableFact,
        PendingItem,
        RetrievalDecision,
        RetrievalEvidence,
        RetrievalTrace,
    )
    from compaction.edits import LedgerEntry
    from compaction.errors import (
        AuditError,
        CompactionError,
        DurableError,
        EditError,
        EncodingError,
        LimitError,
        OrphanError,
        PendingItemUnknown,
        PolicyError,
        ProtocolError,
        ProviderRuleError,
        SourcePointerError,
        SourceSystemError,
        StoreError,
        SuccessionError,
        SummarizerError,
        TranscriptError,
        UnsupportedSchemeError,
        ViewLimitExceeded,
    )
    from compaction.folder_ask import FolderAsk
    from compaction.history import History, fate_of, fold, view_at
    from compaction.layers import LAYERS
    from compaction.layers.base import Layer
    from compaction.limits import Limits
    from compaction.messages import Block, BlockId, Body, Interaction, Message
    from compaction.meter import TokenMeter, UnitMeasurement
    from compaction.pipeline import Compacted, CompactedMessages, LayerReport, compact, compact_if_needed
    from compaction.policies import POLICIES, policy_named
    from compaction.policy import Guard, Policy, Provenance, Stage, Trigger
    from compaction.policy_json import policy_from_data, policy_to_data, with_settings
    from compaction.pricing import Pricer
    from compaction.protocol import safe_cuts, validate_tool_protocol, validate_view
    from compaction.protocol_rules import PROVIDER_RULES, Breach, breaches, check_rules, rules_named, turns_of_view
    from compaction.range_diff import RangeDiff, trace_checkpoint
    from compaction.render import render_durable_context
    from compaction.retention.assertions import unfounded, unhedged
    from compaction.retention.canaries import Canary, canaries, canary_fates, planted
    from compaction.retention.contradictions import Contradiction, contradictions
    from compaction.retention.retained import Retained, Retention, retention_of
    from compaction.retention.survival import ChainLink, Survival, survival
    from compaction.run_stats import RunStats, stats
    from compaction.sources import SCHEMES
    from compaction.sources.artifact import Artifacts
    from compaction.sources.base import Bounds
    from compaction.sources.files import FileRules, Root
    from compaction.sources.parse import parse_source_pointer
    from compaction.sources.pointers import SourcePointer
    from compaction.sources.resolution import SourceResolution
    from compaction.sources.resolver import Resolved, Resolver, resolve_durable_sources
    from compaction.sources.transcript import Transcripts
    from compaction.summarizers import SUMMARIZERS, Extractive, Recorded, RecordedSummary, Stub, Summarizer, summarizer_named
    from compaction.summarizers.pieces import pieces_of
    from compaction.summarizers.quotes import Piece
    from compaction.summary_prompt import SUMMARY_SECTIONS, FramedPrompt, framed, prefix_instruction, since_last_checkpoint
    from compaction.transcript import Compaction, Edit
    from compaction.view import Applied, Plan, PromptView, ViewMessage, VisibleBlock
    from compaction.wire import read_wire, write_wire

__all__ = [
    "COUNTERS",
    "LAYERS",
    "POLICIES",
    "PROVIDER_RULES",
    "SCHEMES",
    "SUMMARIZERS",
    "SUMMARY_SECTIONS",
    "UNITS",
    "Applied",
    "Artifacts",
    "Ask",
    "Asked",
    "AuditError",
    "Block",
    "BlockId",
    "Body",
    "Bounds",
    "Breach",
    "CallerAsk",
    "Canary",
    "ChainLink",
    "CheckpointDiff",
    "Compacted",
    "CompactedMessages",
    "Compaction",
    "CompactionError",
    "Contradiction",
    "Difference",
    "DurableContextState",
    "DurableError",
    "DurableFact",
    "Edit",
    "EditError",
    "EncodingError",
    "Extractive",
    "FileRules",
    "FolderAsk",
    "FramedPrompt",
    "Guard",
    "History",
    "Interaction",
    "Layer",
    "LayerReport",
    "LedgerEntry",
    "LimitError",
    "Limits",
    "Message",
    "NoAsk",
    "Objection",
    "OrphanError",
    "PendingItem",
    "PendingItemUnknown",
    "Piece",
    "Plan",
    "Policy",
    "PolicyError",
    "Pricer",
    "PromptView",
    "ProtocolError",
    "Provenance",
    "ProviderRuleError",
    "RangeDiff",
    "Recorded",
    "RecordedSummary",
    "Resolved",
    "Resolver",
    "Retained",
    "Retention",
    "RetrievalDecision",
    "RetrievalEvidence",
    "RetrievalTrace",
    "Root",
    "RunStats",
    "SourcePointer",
    "SourcePointerError",
    "SourceResolution",
    "SourceSystemError",
    "Stage",
    "StoreError",
    "Stub",
    "StubAsk",
    "SuccessionError",
    "Summarizer",
    "SummarizerError",
    "SummaryRequest",
    "Survival",
    "TokenMeter",
    "TranscriptError",
    "Transcripts",
    "Trigger",
    "Unit",
    "UnitMeasurement",
    "UnsupportedSchemeError",
    "ViewLimitExceeded",
    "ViewMessage",
    "VisibleBlock",
    "breaches",
    "canaries",
    "canary_fates",
    "capture_retrieval_evidence",
    "check_rules",
    "check_successor",
    "compact",
    "compact_if_needed",
    "contradictions",
    "diff_checkpoints",
    "difference",
    "fate_of",
    "fold",
    "framed",
    "is_refused",
    "objections",
    "parse_source_pointer",
    "pieces_of",
    "planted",
    "policy_from_data",
    "policy_named",
    "policy_to_data",
    "prefix_instruction",
    "read_wire",
    "render_durable_context",
    "resolve_durable_sources",
    "retention_of",
    "rules_named",
    "safe_cuts",
    "since_last_checkpoint",
    "state_digest",
    "state_from",
    "state_from_json",
    "state_to_json",
    "stats",
    "summarizer_named",
    "survival",
    "trace_checkpoint",
    "transition_pending_item",
    "turns_of_view",
    "unfounded",
    "unhedged",
    "unit_named",
    "validate_tool_protocol",
    "validate_view",
    "view_at",
    "with_settings",
    "write_wire",
]

_HOMES: dict[str, str] = {
    "ask": "Ask Asked CallerAsk NoAsk StubAsk SummaryRequest",
    "checkpoint_diff": "CheckpointDiff diff_checkpoints",
    "containment": "Objection is_refused objections",
    "counters": "COUNTERS",
    "counters.units": "UNITS Unit unit_named",
    "durable.canonical": "state_digest state_from state_from_json state_to_json",
    "durable.evidence": "capture_retrieval_evidence",
    "durable.pending": "transition_pending_item",
    "durable.succession": "Difference check_successor difference",
    "durable.values": "DurableContextState DurableFact PendingItem RetrievalDecision RetrievalEvidence RetrievalTrace",
    "edits": "LedgerEntry",
    "errors": "AuditError CompactionError DurableError EditError EncodingError LimitError OrphanError PendingItemUnknown "
    "PolicyError ProtocolError ProviderRuleError SourcePointerError SourceSystemError StoreError SuccessionError "
    "SummarizerError TranscriptError UnsupportedSchemeError ViewLimitExceeded",
    "folder_ask": "FolderAsk",
    "history": "History fate_of fold view_at",
    "layers": "LAYERS",
    "layers.base": "Layer",
    "limits": "Limits",
    "messages": "Block BlockId Body Interaction Message",
    "meter": "TokenMeter UnitMeasurement",
    "pipeline": "Compacted CompactedMessages LayerReport compact compact_if_needed",
    "policies": "POLICIES policy_named",
    "policy": "Guard Policy Provenance Stage Trigger",
    "policy_json": "policy_from_data policy_to_data with_settings",
    "pricing": "Pricer",
    "protocol": "safe_cuts validate_tool_protocol validate_view",
    "protocol_rules": "Breach PROVIDER_RULES breaches check_rules rules_named turns_of_view",
    "range_diff": "RangeDiff trace_checkpoint",
    "render": "render_durable_context",
    "retention.assertions": "unfounded unhedged",
    "retention.canaries": "Canary canaries canary_fates planted",
    "retention.contradictions": "Contradiction contradictions",
    "retention.retained": "Retained Retention retention_of",
    "retention.survival": "ChainLink Survival survival",
    "run_stats": "RunStats stats",
    "sources": "SCHEMES",
    "sources.artifact": "Artifacts",
    "sources.base": "Bounds",
    "sources.files": "FileRules Root",
    "sources.parse": "parse_source_pointer",
    "sources.pointers": "SourcePointer",
    "sources.resolution": "SourceResolution",
    "sources.resolver": "Resolved Resolver resolve_durable_sources",
    "sources.transcript": "Transcripts",
    "summarizers": "Extractive Recorded RecordedSummary SUMMARIZERS Stub Summarizer summarizer_named",
    "summarizers.pieces": "pieces_of",
    "summarizers.quotes": "Piece",
    "summary_prompt": "FramedPrompt SUMMARY_SECTIONS framed prefix_instruction since_last_checkpoint",
    "transcript": "Compaction Edit",
    "view": "Applied Plan PromptView ViewMessage VisibleBlock",
    "wire": "read_wire write_wire",
}
"""The names of each module."""


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names.split():
            value: object = getattr(import_module(f"compaction.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'compaction' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
