"""The summarizers that one can choose, and whether each can be used here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from compaction.windows import assumed_window
from ctxweb.llm.base import LlmClient
from ctxweb.llm.prices import ModelPrice, price_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizerKind:
    """`settings` is the beginning of the names of its settings, empty for the extract; `makes` gives the client."""

    id: str
    label: str
    settings: str = ""
    needs_key: bool = False
    makes: Callable[..., LlmClient] | None = None

    @property
    def is_model(self) -> bool:
        return self.makes is not None


def _anthropic(**access: Any) -> LlmClient:
    from ctxweb.llm.anthropic import AnthropicClient  # 50 MB with its library, so only where somebody asks it

    return AnthropicClient(**access)


def _openai_compatible(**access: Any) -> LlmClient:
    from ctxweb.llm.openai_compatible import OpenAiCompatibleClient

    return OpenAiCompatibleClient(**access)


SUMMARIZERS: tuple[SummarizerKind, ...] = (
    SummarizerKind(id="extractive", label="Extract by rules"),
    SummarizerKind(id="anthropic", label="Anthropic", settings="CTXWEB_ANTHROPIC", needs_key=True, makes=_anthropic),
    SummarizerKind(id="openai_compatible", label="OpenAI-compatible server", settings="CTXWEB_OPENAI", makes=_openai_compatible),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """A summarizer as it is set up here. `problem` says what to set, empty where it can be asked; `window` in tokens."""

    kind: SummarizerKind
    model: str = ""
    base_url: str = ""
    has_key: bool = False
    problem: str = ""
    prices: ModelPrice | None = None
    window: int | None = None

    @property
    def host(self) -> str:
        """Where its server is, without path or name."""
        return urlsplit(self.base_url).netloc


def configured(settings: Any) -> dict[str, Configured]:
    """Every summarizer by its id."""
    return {kind.id: _configured(kind, settings) for kind in SUMMARIZERS}


def client_for(summarizer_id: str, settings: Any) -> LlmClient:
    """The client of a summarizer that asks a model. KeyError for another one."""
    kind = {kind.id: kind for kind in SUMMARIZERS if kind.makes is not None}[summarizer_id]
    assert kind.makes is not None
    return kind.makes(
        base_url=getattr(settings, f"{kind.settings}_BASE_URL"),
        api_key=getattr(settings, f"{kind.settings}_API_KEY"),
        is_streamed=settings.CTXWEB_LLM_STREAM,
    )


def _configured(kind: SummarizerKind, settings: Any) -> Configured:
    if not kind.is_model:
        return Configured(kind=kind)
    names = {part: f"{kind.settings}_{part}" for part in ("MODEL", "BASE_URL", "API_KEY")}
    model, base_url, key = (str(getattr(settings, name)) for name in names.values())
    needed = {names["MODEL"]: model, names["BASE_URL"]: base_url} | ({names["API_KEY"]: key} if kind.needs_key else {})
    missing = [name for name, value in needed.items() if not value]
    return Configured(
        kind=kind,
        model=model,
        base_url=base_url,
        has_key=bool(key),
        problem=f"set {' and '.join(missing)}" if missing else "",
        prices=price_of(model, settings.CTXWEB_MODEL_PRICES) if model else None,
        window=settings.CTXWEB_MODEL_WINDOW or (assumed_window(model, peak=None) if model else None),
    )
