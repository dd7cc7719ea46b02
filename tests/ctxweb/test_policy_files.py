"""Policies as files."""

from __future__ import annotations

import json
import re

import pytest

from compaction.errors import PolicyError
from compaction.policies import POLICIES
from compaction.policy import Policy
from compaction.policy_json import policy_to_data
from ctxweb.policy_files import file_of_policy, policy_of_file
from tests.shared import REPO

pytestmark = pytest.mark.nodb


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_every_policy_is_written_as_yaml_or_json_and_read_again(policy: Policy) -> None:
    assert policy_of_file(file_of_policy(policy)) == policy
    assert policy_of_file(json.dumps(policy_to_data(policy), indent=2)) == policy


def test_the_example_of_the_docs_is_read() -> None:
    text = re.findall(r"```yaml\n(.*?)```", (REPO / "docs" / "policies.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    policy = policy_of_file(text)
    assert [stage.layer.id for stage in policy.stages] == ["limit_by_kind", "summarise_keep_recent"]
    assert policy.trigger is not None
    assert policy.trigger.value == 0.7


@pytest.mark.parametrize(("text", "field"), [("a: &x 1", "line 1"), ("", ""), ("id: x\n", "title"), ("- 1\n", "")])
def test_a_file_that_holds_no_policy_is_refused_with_its_place(text: str, field: str) -> None:
    with pytest.raises(PolicyError) as refused:
        policy_of_file(text)
    assert refused.value.field == field
