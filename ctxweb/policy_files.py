"""Policies as files: JSON or plain YAML in, YAML out."""

from __future__ import annotations

from compaction.errors import PolicyError
from compaction.policy import Policy
from compaction.policy_json import policy_from_data, policy_to_data
from ctxweb.plain_yaml import YamlError, dump, load


def policy_of_file(text: str) -> Policy:
    """The policy that a file holds. Raises PolicyError; its field is the line where the text itself cannot be read."""
    try:
        return policy_from_data(load(text))
    except YamlError as unreadable:
        raise PolicyError(str(unreadable), field=f"line {unreadable.line}") from unreadable


def file_of_policy(policy: Policy) -> str:
    """The policy as YAML; `policy_of_file` gives an equal one."""
    return dump(policy_to_data(policy))
