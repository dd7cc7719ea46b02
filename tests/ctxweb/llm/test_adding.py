"""The worked example of docs/adding.md: a summarizer is one file and one line. And the pages name each that there is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import ctxweb.llm.registry
from ctxweb.llm.base import LlmFailure, LlmUsage
from ctxweb.llm.registry import SUMMARIZERS, SummarizerKind, client_for, configured
from tests.ctxweb.llm.asked import REQUEST
from tests.model_server import ModelServer, model_server
from tests.shared import REPO

pytestmark = pytest.mark.nodb
PAGE = (REPO / "docs" / "adding.md").read_text(encoding="utf-8")
CLIENT, LINE = re.findall(r"```python\n(.*?)```", PAGE.partition("## A summarizer, from beginning")[2].partition("\n## ")[0], re.DOTALL)
MODULE = "ctxweb.llm.ollama"


@pytest.fixture
def ollama(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    path = tmp_path / "ollama.py"
    path.write_text(CLIENT, encoding="utf-8")
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    exec(compile(CLIENT, str(path), "exec"), module.__dict__)
    (kind,) = eval(LINE, {"SummarizerKind": SummarizerKind, **vars(module)})
    monkeypatch.setattr(ctxweb.llm.registry, "SUMMARIZERS", (*SUMMARIZERS, kind))
    with model_server() as server:
        server.form = in_its_words
        yield server


def in_its_words(whole: dict[str, Any]) -> dict[str, Any]:
    """A chat completion as Ollama would say it."""
    (choice,), used = whole["choices"], whole["usage"]
    return {
        "model": whole["model"], "message": choice["message"], "done": True, "done_reason": choice["finish_reason"],
        "prompt_eval_count": used["prompt_tokens"], "eval_count": used["completion_tokens"],
    }  # fmt: skip


def settings(**given: Any) -> SimpleNamespace:
    names = {f"CTXWEB_{kind}_{part}": "" for kind in ("ANTHROPIC", "OPENAI", "OLLAMA") for part in ("MODEL", "BASE_URL", "API_KEY")}
    return SimpleNamespace(**{**names, "CTXWEB_LLM_STREAM": True, "CTXWEB_MODEL_PRICES": {}, "CTXWEB_MODEL_WINDOW": 0, **given})


def test_the_client_of_the_page_is_chosen_set_up_and_asked_like_the_others(ollama: ModelServer) -> None:
    assert configured(settings())["ollama"].problem == "set CTXWEB_OLLAMA_MODEL and CTXWEB_OLLAMA_BASE_URL"
    ready = settings(CTXWEB_OLLAMA_MODEL="a-model", CTXWEB_OLLAMA_BASE_URL=ollama.url)
    assert configured(ready)["ollama"].problem == ""
    client = client_for("ollama", ready)
    ollama.answer = "kept"
    answer = client.ask(REQUEST)
    assert (answer.text, answer.model) == ("kept", REQUEST.model)
    assert answer.usage == LlmUsage(input_tokens=1_000, output_tokens=300)
    (asked,) = ollama.requests
    assert (asked.path, asked.body["options"]) == ("/api/chat", {"num_predict": REQUEST.max_tokens})
    for name, code in {
        "529": "overloaded",
        "cut_at_limit": "cut_at_limit",
        "empty": "empty_answer",
        "broken_json": "broken_answer",
    }.items():
        ollama.play(name)
        with pytest.raises(LlmFailure) as caught:
            client.ask(REQUEST)
        assert caught.value.code == code


def test_the_file_keeps_the_line_length_of_the_house() -> None:
    assert max(map(len, CLIENT.splitlines())) <= 140


def test_the_page_names_every_summarizer() -> None:
    told = PAGE.partition("## Summarizers that can be chosen now")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE) == [kind.id for kind in SUMMARIZERS]


@pytest.mark.parametrize("kind", [kind for kind in SUMMARIZERS if kind.is_model], ids=lambda kind: kind.id)
def test_operations_tells_the_settings_of_every_summarizer(kind: SummarizerKind) -> None:
    page = (REPO / "docs" / "operations.md").read_text(encoding="utf-8")
    for part in ("MODEL", "BASE_URL", "API_KEY"):
        assert f"| `{kind.settings}_{part}` |" in page
