"""Windows that a log does not record are assumed from the model's name, and said to be."""

import pytest

from compaction.windows import assumed_window

pytestmark = pytest.mark.nodb


@pytest.mark.parametrize(
    ("model", "peak", "window"),
    [
        ("claude-opus-4-5-20251101", 155_000, 200_000),
        ("claude-opus-4-5-20251101", None, 200_000),
        ("anthropic/claude-sonnet-4-5", 640_000, 1_000_000),
        ("claude-opus-4-5", 1_200_000, None),
        ("gpt-4o-mini", 1, 128_000),
        ("gpt-4-0613", 9_000, 32_768),
        ("some-model", 1, None),
        ("", None, None),
    ],
)
def test_the_smallest_published_window_that_holds_the_peak(model: str, peak: int | None, window: int | None) -> None:
    assert assumed_window(model, peak=peak) == window
