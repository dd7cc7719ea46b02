"""The worked example of docs/adding.md: a layer and a policy are one file and one line each."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import compaction.policies
import compaction.policy_json
from compaction.ask import StubAsk
from compaction.errors import LimitError, PolicyError
from compaction.layers import LAYERS
from compaction.pipeline import compact
from compaction.policies import POLICIES, policy_named
from compaction.policy_json import policy_from_data, policy_to_data, with_settings
from tests.compaction.talk import Talk, shown
from tests.shared import REPO

SECTION = (REPO / "docs" / "adding.md").read_text(encoding="utf-8").partition("## A layer and a policy")[2].partition("\n## ")[0]
LAYER, LAYER_LINE, POLICY, POLICY_LINE = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)


def added(name: str, code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The file of the example, as the module that it would be."""
    path = folder / f"{name.rpartition('.')[2]}.py"
    path.write_text(code, encoding="utf-8")
    module = ModuleType(name)
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(code, str(path), "exec"), module.__dict__)
    return module


@pytest.fixture(autouse=True)
def _registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = added("compaction.layers.squeeze_lines", LAYER, tmp_path, monkeypatch)
    policy = added("compaction.policies.squeezed", POLICY, tmp_path, monkeypatch)
    monkeypatch.setattr(compaction.policy_json, "LAYERS", (*LAYERS, vars(layer)[LAYER_LINE.strip(" ,\n")]))
    monkeypatch.setattr(compaction.policies, "POLICIES", (*POLICIES, vars(policy)[POLICY_LINE.strip(" ,\n")]))


def test_the_policy_runs_its_layer_and_the_ledger_names_it() -> None:
    view = Talk().user("go").call("wait\n" * 50 + "done").view()
    run = compact(view, policy_named("squeezed"), StubAsk(), moment="arrival")
    assert shown(run.view)[2] == "wait [×50]\ndone"
    assert [edit.layer for edit in run.edits] == ["squeeze_lines"]
    again = compact(run.view, policy_named("squeezed"), StubAsk(), moment="arrival")
    assert again.reports[0].skipped == "no repeated lines in 1 tool results"


def test_it_is_data_like_any_other_and_takes_settings() -> None:
    policy = with_settings(policy_named("squeezed"), {"squeeze_lines.at_least": 5, "trigger": "50000"})
    assert policy_from_data(policy_to_data(policy)) == policy
    view = Talk().user("go").call("wait\n" * 4 + "done").view()
    assert compact(view, policy, StubAsk(), moment="arrival").edits == ()


def test_its_limits_are_checked() -> None:
    layer = policy_named("squeezed").stages[0].layer
    with pytest.raises(LimitError):
        type(layer)(at_least=1)  # type: ignore[call-arg]
    with pytest.raises(PolicyError) as refused:
        with_settings(policy_named("squeezed"), {"squeeze_lines.at_least": 1})
    assert refused.value.field == "squeeze_lines.at_least"


def test_the_files_keep_the_line_length_of_the_house() -> None:
    assert max(map(len, (LAYER + POLICY).splitlines())) <= 140
