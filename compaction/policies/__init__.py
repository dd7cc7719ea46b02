"""The policies that there are, with where their numbers come from. A policy is a value: further ones need no code."""

from __future__ import annotations

from compaction.errors import PolicyError
from compaction.policies.claude_code import CLAUDE_CODE_AUTO, CLAUDE_CODE_SPILL
from compaction.policies.codex import CODEX_AUTO, CODEX_AUTO_REMOTE
from compaction.policies.coding_agents import CLINE_SDK, GOOSE, KIMI_CLI, OPENCODE, OPENHANDS_DEFAULT, PI, ROO_CODE
from compaction.policies.frameworks import (
    ADK,
    DEEPAGENTS,
    INSPECT_AUTO,
    INSPECT_EDIT,
    INSPECT_SUMMARY,
    INSPECT_TRIM,
    LANGCHAIN_CLEAR_TOOLS,
    LANGCHAIN_SUMMARIZATION,
    LETTA,
    LLAMAINDEX_BUFFER,
    MS_AGENT_FRAMEWORK,
    STRANDS_SLIDING,
    STRANDS_SUMMARIZING,
)
from compaction.policies.gemini import GEMINI_CLI, GEMINI_GENERALIST, GEMINI_MASK, QWEN_CODE
from compaction.policies.own import BY_CONTENT
from compaction.policies.provider_apis import ANTHROPIC_CLEAR_THINKING, ANTHROPIC_CLEAR_TOOLS, ANTHROPIC_COMPACT, OPENAI_RESPONSES
from compaction.policies.seeds import DSH_BASIC, LEARN_CLAUDE_CODE_S08, MINI_HARNESS_09, WORKBUDDY_S14
from compaction.policy import Policy

POLICIES: tuple[Policy, ...] = (
    WORKBUDDY_S14,
    LEARN_CLAUDE_CODE_S08,
    DSH_BASIC,
    MINI_HARNESS_09,
    BY_CONTENT,
    CLAUDE_CODE_AUTO,
    CLAUDE_CODE_SPILL,
    CODEX_AUTO,
    CODEX_AUTO_REMOTE,
    GEMINI_CLI,
    GEMINI_MASK,
    GEMINI_GENERALIST,
    QWEN_CODE,
    OPENCODE,
    OPENHANDS_DEFAULT,
    ROO_CODE,
    CLINE_SDK,
    GOOSE,
    KIMI_CLI,
    PI,
    ANTHROPIC_CLEAR_TOOLS,
    ANTHROPIC_CLEAR_THINKING,
    ANTHROPIC_COMPACT,
    OPENAI_RESPONSES,
    LANGCHAIN_SUMMARIZATION,
    LANGCHAIN_CLEAR_TOOLS,
    DEEPAGENTS,
    INSPECT_TRIM,
    INSPECT_EDIT,
    INSPECT_SUMMARY,
    INSPECT_AUTO,
    ADK,
    MS_AGENT_FRAMEWORK,
    STRANDS_SLIDING,
    STRANDS_SUMMARIZING,
    LETTA,
    LLAMAINDEX_BUFFER,
)


def policy_named(policy_id: str) -> Policy:
    """The policy with this id. Raises PolicyError where there is none."""
    for policy in POLICIES:
        if policy.id == policy_id:
            return policy
    known = ", ".join(policy.id for policy in POLICIES)
    raise PolicyError(f"there is no policy {policy_id[:80]!r}: use one of {known}", field="policy")
