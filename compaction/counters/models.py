"""Which public tokenizer a model's texts are counted under."""

from __future__ import annotations

from typing import Literal, get_args

EncodingName = Literal["o200k_base", "cl100k_base"]

ENCODINGS: tuple[EncodingName, ...] = get_args(EncodingName)
DEFAULT_ENCODING: EncodingName = "o200k_base"  # the best public stand-in where a maker publishes no tokenizer

# Our own table, because the published one raises for models that it does not know yet. The longest prefix wins.
ENCODING_PREFIXES: tuple[tuple[str, EncodingName], ...] = (
    ("gpt-4o", "o200k_base"),
    ("gpt-4.1", "o200k_base"),
    ("gpt-4.5", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
    ("text-embedding-3", "cl100k_base"),
    ("text-embedding-ada-002", "cl100k_base"),
    ("davinci-002", "cl100k_base"),
    ("babbage-002", "cl100k_base"),
)


def encoding_for_model(model: str) -> EncodingName:
    """The encoding of `model`, which may carry a provider (`openai/…`) or fine-tuning (`ft:…`) prefix; o200k_base if unknown."""
    name = model.lower().rpartition("/")[2].removeprefix("ft:")
    fitting = [(len(prefix), encoding) for prefix, encoding in ENCODING_PREFIXES if name.startswith(prefix)]
    return max(fitting)[1] if fitting else DEFAULT_ENCODING
