"""dsh's options: what is refused, and what a policy for one model inherits."""

from __future__ import annotations

import pytest

from compaction.dsh.options import Options, Target, resolve_compact_spec, resolve_config
from compaction.errors import OptionError

MODEL = Target(provider="p", model="m")


def for_model(**options: object) -> Options:
    return {"modelPolicies": [{"provider": "p", "model": "m", **options}]}


def test_a_policy_applies_to_exactly_its_model_and_inherits_the_rest() -> None:
    options = {"maxTokens": 100, "compactionRetries": 3, **for_model(maxTokens=7, retainTokens=50)}
    own = resolve_compact_spec(options, context_window=1000, target=MODEL)
    other = resolve_compact_spec(options, context_window=1000, target=Target(provider="p", model="n"))
    assert (own.max_tokens, own.retain_tokens, own.compaction_retries) == (7, 50, 3)
    assert (other.max_tokens, other.retain_tokens, other.compaction_retries) == (100, 160, 3)


def test_a_ratio_of_a_model_takes_the_place_of_retained_tokens() -> None:
    spec = resolve_compact_spec({"retainTokens": 700, **for_model(retainRatio=0.5)}, context_window=1000, target=MODEL)
    assert spec.retain_tokens == 500


def test_the_option_stands_in_for_a_window_that_is_not_known() -> None:
    assert resolve_compact_spec({"contextWindow": 500}, context_window=None, target=MODEL).threshold_tokens == 400
    with pytest.raises(OptionError, match="contextWindow"):
        resolve_compact_spec({}, context_window=None, target=MODEL)


@pytest.mark.parametrize(
    ("options", "code", "key", "policy"),
    [
        ({"thresholdRatio": 1.1}, "ratio_out_of_range", "thresholdRatio", None),
        ({"thresholdRatio": True}, "ratio_out_of_range", "thresholdRatio", None),
        ({"retainRatio": float("nan")}, "ratio_out_of_range", "retainRatio", None),
        ({"maxTokens": 1.5}, "integer_out_of_range", "maxTokens", None),
        ({"retainTokens": -1}, "integer_out_of_range", "retainTokens", None),
        ({"summarizationProvider": "p", "summarizationModel": ""}, "summarizer_target_incomplete", None, None),
        ({"summarizationModel": ""}, "summarizer_target_incomplete", None, None),
        ({"auto": "yes"}, "wrong_kind", "auto", None),
        ({"retain": 1}, "unknown_key", "retain", None),
        (for_model(maxOverflowRetries=-1), "integer_out_of_range", "maxOverflowRetries", 0),
        (for_model(retainTokens=1, retainRatio=0.1), "retain_options_exclusive", None, 0),
        (for_model(modelPolicies=[]), "unknown_key", "modelPolicies", 0),
        (for_model(model=""), "empty_field", "model", 0),
        ({"modelPolicies": ["m"]}, "wrong_kind", "modelPolicies", 0),
    ],
)
def test_an_option_that_cannot_be_is_named(options: Options, code: str, key: str | None, policy: int | None) -> None:
    with pytest.raises(OptionError) as raised:
        resolve_config(options)
    assert (raised.value.code, raised.value.key, raised.value.policy) == (code, key, policy)
