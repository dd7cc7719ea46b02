"""dsh's compaction options: their defaults, what they may be, and the figures that follow for one model.

A policy for one model is a list entry with its provider and model; what it leaves out it inherits. Every OptionError names
the option as `key` and, where it stands in such an entry, the entry's index as `policy`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from compaction.errors import OptionError

THRESHOLD_RATIO = 0.8
RETAIN_RATIO = 0.16
Options = Mapping[str, object]

DEFAULTS: Options = {
    "thresholdRatio": THRESHOLD_RATIO,
    "retainRatio": RETAIN_RATIO,
    "summarizationProvider": "",
    "summarizationModel": "",
    "maxTokens": 8192,
    "compactionRetries": 1,
    "maxOverflowRetries": 1,
    "modelPolicies": [],
    "auto": True,
}
RATIOS = ("thresholdRatio", "retainRatio")
LEAST: Mapping[str, int] = {"retainTokens": 0, "maxTokens": 1, "compactionRetries": 0, "maxOverflowRetries": 0, "contextWindow": 1}
SUMMARIZER = ("summarizationProvider", "summarizationModel")
TARGET = ("provider", "model")
OF_ALL_MODELS = ("auto", "modelPolicies")
ENTRY_KEYS = frozenset((*TARGET, *RATIOS, *LEAST, *SUMMARIZER))
KEYS = frozenset((*ENTRY_KEYS.difference(TARGET), *OF_ALL_MODELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The model that a request goes to."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactSpec:
    """What the options come to for one model and its window, in tokens. An empty summarizer means the model itself."""

    target: Target
    context_window: int
    threshold_ratio: float
    threshold_tokens: int
    retain_tokens: int
    summarizer: Target
    max_tokens: int
    compaction_retries: int
    max_overflow_retries: int


def resolve_config(options: Options) -> Options:
    """The options with defaults filled in; OptionError for one that cannot be."""
    _check(options, KEYS, None)
    _check_kind(options, "auto", bool)
    _check_kind(options, "modelPolicies", list)
    resolved = _inherit(DEFAULTS, options)
    _check_ratios(resolved, None)
    seen = set[tuple[object, object]]()
    for index, entry in enumerate(_entries(resolved)):
        _check_entry(entry, index)
        _check_ratios(_inherit(resolved, entry), index)
        pair = entry["provider"], entry["model"]
        if pair in seen:
            raise OptionError(f"modelPolicies[{index}] repeats an earlier provider and model: keep one", code="duplicate_model_policy")
        seen.add(pair)
    return resolved


def resolve_compact_spec(options: Options, *, context_window: int | None, target: Target) -> CompactSpec:
    """The figures for one model; OptionError where the options cannot be, or retain what is not below the threshold.

    `context_window` is what is known of the model; where it is None, the option of that name stands in.
    """
    resolved = resolve_config(options)
    entry = next((entry for entry in _entries(resolved) if (entry["provider"], entry["model"]) == (target.provider, target.model)), {})
    chosen = _inherit(resolved, entry)
    window = _window(chosen, context_window)
    threshold_ratio = _number(chosen, "thresholdRatio")
    threshold = math.floor(window * threshold_ratio)
    retain = _whole(chosen, "retainTokens") if "retainTokens" in chosen else math.floor(window * _number(chosen, "retainRatio"))
    if retain >= threshold:
        raise _retains_too_much(f"{retain} tokens", f"{threshold}", None)
    return CompactSpec(
        target=target,
        context_window=window,
        threshold_ratio=threshold_ratio,
        threshold_tokens=threshold,
        retain_tokens=retain,
        summarizer=Target(provider=str(chosen[SUMMARIZER[0]]), model=str(chosen[SUMMARIZER[1]])),
        max_tokens=_whole(chosen, "maxTokens"),
        compaction_retries=_whole(chosen, "compactionRetries"),
        max_overflow_retries=_whole(chosen, "maxOverflowRetries"),
    )


def _window(chosen: Options, known: int | None) -> int:
    window = chosen.get("contextWindow") if known is None else known
    _check_integer({"contextWindow": window}, "contextWindow", None)
    return window if isinstance(window, int) else 0


def _inherit(base: Options, own: Options) -> Options:
    """`own` over `base`; retained tokens and a retained ratio take each other's place."""
    merged = {**base, **own}
    for given, other in (("retainTokens", "retainRatio"), ("retainRatio", "retainTokens")):
        if given in own:
            merged.pop(other, None)
    return merged


def _entries(options: Options) -> list[Options]:
    entries = options["modelPolicies"]
    return entries if isinstance(entries, list) else []


def _check_entry(entry: object, index: int) -> None:
    if not isinstance(entry, Mapping):
        raise OptionError(f"modelPolicies[{index}] is no object", code="wrong_kind", key="modelPolicies", policy=index)
    for key in TARGET:
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise OptionError(f"modelPolicies[{index}] has no {key}: name it", code="empty_field", key=key, policy=index)
    _check(entry, ENTRY_KEYS, index)


def _check(options: Options, known: frozenset[str], policy: int | None) -> None:
    """Every option by itself, and the two pairs of which one decides over the other."""
    for key in options:
        if key not in known:
            raise OptionError(f"there is no option {key} here: leave it out", code="unknown_key", key=key, policy=policy)
    for key in RATIOS:
        _check_ratio(options, key, policy)
    for key in LEAST:
        _check_integer(options, key, policy)
    if "retainTokens" in options and "retainRatio" in options:
        raise OptionError("retainTokens and retainRatio are both given: give one", code="retain_options_exclusive", policy=policy)
    for key in SUMMARIZER:
        _check_kind(options, key, str, policy)
    if bool(options.get(SUMMARIZER[0])) != bool(options.get(SUMMARIZER[1])) or (SUMMARIZER[0] in options) != (SUMMARIZER[1] in options):
        raise OptionError(f"{' and '.join(SUMMARIZER)} belong together: give both", code="summarizer_target_incomplete", policy=policy)


def _check_ratio(options: Options, key: str, policy: int | None) -> None:
    value = options.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise OptionError(f"{key} is {value!r}: it must be above 0 and at most 1", code="ratio_out_of_range", key=key, policy=policy)


def _check_integer(options: Options, key: str, policy: int | None) -> None:
    value, least = options.get(key, LEAST[key]), LEAST[key]
    if type(value) is not int or value < least:
        raise OptionError(f"{key} is {value!r}: it must be an integer from {least}", code="integer_out_of_range", key=key, policy=policy)


def _check_kind(options: Options, key: str, kind: type, policy: int | None = None) -> None:
    if key in options and not isinstance(options[key], kind):
        raise OptionError(
            f"{key} is a {type(options[key]).__name__}: it must be a {kind.__name__}", code="wrong_kind", key=key, policy=policy
        )


def _check_ratios(options: Options, policy: int | None) -> None:
    if "retainRatio" in options and _number(options, "retainRatio") >= _number(options, "thresholdRatio"):
        raise _retains_too_much(f"the ratio {options['retainRatio']}", f"{options['thresholdRatio']}", policy)


def _retains_too_much(retained: str, threshold: str, policy: int | None) -> OptionError:
    message = f"{retained} would be retained, which is not below the threshold of {threshold}: retain less"
    return OptionError(message, code="retain_not_below_threshold", policy=policy)


def _number(options: Options, key: str) -> float:
    value = options[key]
    return value if isinstance(value, int | float) else 0.0


def _whole(options: Options, key: str) -> int:
    value = options[key]
    return value if isinstance(value, int) else 0
