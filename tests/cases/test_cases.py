"""Every `must` and `must_not` of the shared cases that concerns what exists is a check here, by its own sentence."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ctxweb.home import Home
from tests.cases import sentences_bugs, sentences_dsh, sentences_import
from tests.cases.world import World, cases
from tests.shared import needs_shared

pytestmark = [needs_shared, pytest.mark.django_db(transaction=True)]
SENTENCES = (*sentences_bugs.SENTENCES, *sentences_import.SENTENCES, *sentences_dsh.SENTENCES)


def _checked(check: Callable[..., None], words: list[str], world: World) -> None:
    check(world, *words)


def check_of(sentence: str) -> Callable[[World], None] | None:
    for pattern, check in SENTENCES:
        match = re.fullmatch(pattern, sentence, re.DOTALL)
        if match:
            words = [word for word in match.groups() if word is not None]
            return partial(_checked, check, words)
    return None


def is_elsewhere(sentence: str) -> bool:
    return any(re.fullmatch(pattern, sentence) for pattern, _ in sentences_import.ELSEWHERE)


def sentences(case: dict[str, Any]) -> list[str]:
    return [*case["must"], *case["must_not"]]


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["id"]))
def test_a_case_keeps_what_it_must(case: dict[str, Any], settings: Any, tmp_path: Path) -> None:
    settings.HOME = Home(root=tmp_path / "home")
    settings.HOME.prepare()
    world = World(case=case, folder=tmp_path)
    world.run()
    failures = []
    for sentence in sentences(case):
        check = check_of(sentence)
        if check is None:
            continue
        try:
            check(world)
        except AssertionError as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            failures.append(f"{sentence}: {where.name}, line {where.lineno}: {where.line}: {str(error)[:300]}")
    assert not failures, "\n".join(failures)
    sentences_bugs.nothing_lost(world)


@pytest.mark.nodb
def test_every_sentence_of_a_case_has_its_check() -> None:
    unmet = {sentence for case in cases() for sentence in sentences(case) if check_of(sentence) is None and not is_elsewhere(sentence)}
    assert not unmet
