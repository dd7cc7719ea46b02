"""Signs of other formats that hold lists of messages too, so that no message-list format takes their files.

Literal keys that only they have. They are looked for in a record and in the messages of its list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

RECORD_KEYS = frozenset(
    {
        "parentUuid",  # Claude Code and its relatives
        "sessionId",
        "projectHash",  # Gemini CLI
        "info",  # opencode, mini-swe-agent, SWE-agent
        "session",  # opencode, older
        "parts",
        "trajectory_format",
        "trajectory",
        "traj",  # tau-bench
        "observations",  # Langfuse
        "resourceSpans",  # OTLP
        "eval",  # Inspect
        "epoch",
        "events",  # ADK
        "appName",
        "dotted_order",  # LangSmith
        "run_type",
        "schema_version",  # ATIF
        "steps",
        "_summarization_event",  # deepagents
        "source_message_count",  # Cline SDK
        "source_prefix_hash",
        "working_dir",  # Goose
        "extension_data",
        "env",  # Amp
        "payload",  # Codex
        "delegationDepth",  # dsh
        "parentId",  # pi, Copilot
        "systemPayload",  # Qwen
        "usageMetadata",
        "say",  # Roo and Cline
        "ask",
    }
)

MESSAGE_KEYS = frozenset(
    {
        "parts",  # Gemini
        "ts",  # Roo, Cline
        "condenseParent",
        "condenseId",
        "modelInfo",  # Cline
        "metrics",
        "agent",  # SWE-agent
        "message_type",
        "extra",  # mini-swe-agent
        "lc",  # LangChain
        "additional_kwargs",
        "parentUuid",
        "uuid",
        "sessionId",
        "toolResult",  # Strands
    }
)


def is_foreign(record: Mapping[str, Any], messages: Sequence[Any]) -> bool:
    """Whether a record with this list, or a record that is one message, belongs to a format that is known to be another."""
    return bool(RECORD_KEYS.intersection(record)) or any(map(_is_foreign_message, messages or (record,)))


def _is_foreign_message(message: Any) -> bool:
    """Kimi's records of its own have roles that begin with an underscore."""
    return isinstance(message, Mapping) and (bool(MESSAGE_KEYS.intersection(message)) or str(message.get("role")).startswith("_"))
