"""The grammar of pointers: every text is a pointer, or breaks one rule; and no text makes the resolver raise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import SourcePointerError, UnsupportedSchemeError
from compaction.sources import SCHEMES
from compaction.sources.base import Grammar
from compaction.sources.parse import parse_source_pointer
from compaction.sources.resolver import Resolver
from tests.compaction.source_trees import resolver
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.nodb
CASES = SHARED / "cases" / "pointers"


def expanded(value: Any) -> Any:
    """A pointer of the shared cases, whose long ones are written short."""
    if isinstance(value, dict):
        [(form, given_)] = value.items()
        return expanded(given_[0]) * given_[1] if form == "$repeat" else "".join(map(expanded, given_))
    return value


def shared_cases() -> Iterator[dict[str, Any]]:
    for file in sorted(CASES.glob("*.jsonl")) if CASES.is_dir() else ():
        for line in file.read_text().splitlines():
            case = json.loads(line)
            pointer = json.loads(case["pointer_json"]) if "pointer_json" in case else expanded(case["pointer"])
            yield {**case, "pointer": pointer}


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Resolver]:
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "artifacts").mkdir()
    with resolver(tmp_path) as made:
        yield made


@needs_shared
def test_the_shared_pointers_are_read_as_they_say(empty: Resolver) -> None:
    seen = 0
    for case in shared_cases():
        seen += 1
        if case["parse"] == "ok":
            read = parse_source_pointer(case["pointer"])
            fields = {name: case[name] for name in ("kind", "session_id", "sequence", "artifact_name", "digest_prefix") if name in case}
            assert {name: getattr(read, name) for name in fields} == fields
            continue
        kind = UnsupportedSchemeError if case["parse"] == "unsupported" else SourcePointerError
        with pytest.raises(kind):
            parse_source_pointer(case["pointer"])
        status = empty.resolve(case["pointer"]).status
        assert status == case["status"] or status in case["status"].get("$any", ()), case["pointer"][:80]
    assert seen > 50


LIMITS = [
    ("transcript:s:1000000000", None),
    ("transcript:s:1000000001", "transcript_sequence_invalid"),
    ("transcript:s:" + "0" * 586 + "1", None),
    ("transcript:s:" + "0" * 587 + "1", "pointer_too_long"),
    ("transcript:s:" + "0" * 600 + "1", "transcript_sequence_invalid"),
    ("transcript:" + "s" * 200 + ":1", None),
    ("transcript:" + "s" * 201 + ":1", "pointer_component_invalid"),
    ("artifact:s:" + "f" * 200 + ":" + "a" * 64, None),
    ("artifact:s:" + "f" * 201 + ":" + "a" * 64, "pointer_component_invalid"),
    ("x" * 600, "pointer_scheme_unsupported"),
    ("x" * 601, "pointer_too_long"),
    ("transcript:s:1\n", "pointer_blank_or_whitespace"),
    ("artifact:s:f:" + "a" * 12 + "\x00", "artifact_digest_invalid"),
    ("transcript:s:١", "transcript_sequence_invalid"),
]


@pytest.mark.parametrize(("pointer", "code"), LIMITS, ids=lambda value: str(value)[:24])
def test_each_limit_holds_at_its_edge(pointer: str, code: str | None) -> None:
    if code is None:
        assert parse_source_pointer(pointer).raw == pointer
        return
    with pytest.raises(SourcePointerError) as refused:
        parse_source_pointer(pointer)
    assert refused.value.code == code


@given(st.from_regex(r"transcript:[A-Za-z0-9][A-Za-z0-9._-]{0,199}:[1-9][0-9]{0,8}", fullmatch=True))
def test_every_pointer_of_the_grammar_is_read(pointer: str) -> None:
    read = parse_source_pointer(pointer)
    assert f"{read.kind}:{read.session_id}:{read.sequence}" == pointer


@given(st.text(st.characters()))
def test_an_error_says_the_rule_and_quotes_nothing(text: str) -> None:
    for pointer in (text, f"transcript:{text}", f"artifact:s:{text}:{text}"):
        try:
            parse_source_pointer(pointer)
        except SourcePointerError as error:
            words = str(error)
        else:
            words = ""
        assert text not in words or len(text) < 8


EXAMPLES = {"transcript": "transcript:s:7", "artifact": "artifact:s:f.txt:" + "a" * 12}


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: str(scheme.name))
def test_a_scheme_reads_its_own_pointers_and_names_its_components(scheme: Grammar) -> None:
    read = scheme.parse(EXAMPLES[scheme.name])
    assert (read.raw, read.kind, read.session_id) == (EXAMPLES[scheme.name], scheme.name, "s")
    for pointer in (scheme.name, f"{scheme.name}:", EXAMPLES[scheme.name] + ":", EXAMPLES[scheme.name].replace(":s:", ":../s:")):
        with pytest.raises(SourcePointerError):
            scheme.parse(pointer)


def test_a_new_scheme_is_a_class_beside_the_others(empty: Resolver) -> None:
    assert [scheme.name for scheme in SCHEMES] == ["transcript", "artifact"]
    assert [scheme.name for scheme in empty.schemes] == ["transcript", "artifact"]
    only = Resolver(schemes=empty.schemes[:1], authorise=lambda _: True)
    assert only.resolve("artifact:s:f:" + "a" * 12).reason == "unsupported_scheme"


@pytest.mark.parametrize("odd", [None, 7, b"transcript:s:1", ("transcript:s:1",)])
def test_what_is_no_text_is_malformed(empty: Resolver, odd: Any) -> None:
    assert empty.resolve(odd).reason == "malformed_pointer"
