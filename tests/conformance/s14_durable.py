"""learn-workbuddy s14 in the words of the vectors: durable state, pointers, their resolution and the rendered text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from compaction.durable.canonical import item_from, state_from
from compaction.durable.evidence import capture_retrieval_evidence
from compaction.durable.pending import transition_pending_item
from compaction.durable.values import Domain
from compaction.render import MOST_RENDERED_DONE_ITEMS, RenderedSection, read_rendered, render_durable_context
from compaction.sources.artifact import Artifacts
from compaction.sources.base import EXCERPT_CHARS, Bounds
from compaction.sources.files import Root
from compaction.sources.parse import parse_source_pointer
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import SourceResolution
from compaction.sources.resolver import Resolver, resolve_durable_sources
from compaction.sources.transcript import Transcripts
from tests.conformance.calls import Answer, Functions, Given

DOMAINS: Mapping[str, Domain] = {"fact": "facts", "pending_item": "pending_items", "retrieval_evidence": "retrieval_evidence"}


def parse(given: Given) -> Answer:
    read = asdict(parse_source_pointer(given["pointer"]))
    return {name: value for name, value in read.items() if name != "place"}


def resolve_source(given: Given) -> Answer:
    with Root(given["roots"]["transcripts"]) as transcripts, Root(given["roots"]["artifacts"]) as artifacts:
        resolver = Resolver(
            schemes=(Transcripts(root=transcripts), Artifacts(root=artifacts)),
            authorise=lambda pointer: _is_allowed(given["authorize"], pointer),
            bounds=Bounds(excerpt_chars=given.get("max_excerpt_chars", EXCERPT_CHARS)),
        )
        answer = asdict(resolver.resolve(given["pointer"]))
    return {name: value for name, value in answer.items() if name != "run"}


def resolver_options(given: Given) -> Answer:
    Bounds(excerpt_chars=given["max_excerpt_chars"])
    return {"valid": True}


def resolved_pointers(given: Given) -> Answer:
    resolver = Resolver(schemes=(), authorise=lambda pointer: True)
    resolutions = resolve_durable_sources(state_from(given["durable_state"]), resolver)
    return {"pointers": [one.pointer for one in resolutions]}


def construct(given: Given) -> Answer:
    if given["kind"] == "state":
        state_from(given["value"])
        return {"valid": True}
    return {"value": asdict(item_from(DOMAINS[given["kind"]], given["value"]))}


def transition(given: Given) -> Answer:
    state = state_from({"pending_items": given["pending_items"]})
    optional = {name: given[name] for name in ("source_pointer", "reason") if name in given}
    moved = transition_pending_item(state, given["item_id"], given["new_status"], last_confirmed_at=given["last_confirmed_at"], **optional)
    return {"pending_items": [asdict(item) for item in moved.pending_items]}


def capture(given: Given) -> Answer:
    return {"evidence": [asdict(one) for one in capture_retrieval_evidence(given["hits"])]}


def render(given: Given) -> Answer:
    listed = given["source_resolutions"]
    most_done = given["config"].get("max_rendered_done_items", MOST_RENDERED_DONE_ITEMS)
    resolutions = None if listed is None else [SourceResolution(**one) for one in listed]
    text = render_durable_context(state_from(given["durable_state"]), resolutions, most_done_items=most_done)
    sections = read_rendered(text)
    lines = sum(1 + len(section.items) + bool(section.done_omitted) for section in sections)
    return {"sections": [_section(one) for one in sections], "single_line_items": len(text.splitlines()) == lines}


def _section(section: RenderedSection) -> dict[str, Any]:
    omitted = {"done_omitted": section.done_omitted} if section.done_omitted else {}
    return {"section": section.section, "items": list(section.items), **omitted}


def _is_allowed(authorize: Any, pointer: SourcePointer) -> bool:
    if authorize == "raise_permission_error":
        raise PermissionError("the policy was told to raise")
    return bool(pointer.session_id == authorize["only_session"] if isinstance(authorize, Mapping) else authorize == "allow")


FUNCTIONS: Functions = {
    "parse_source_pointer": parse,
    "resolve_source": resolve_source,
    "resolver_options": resolver_options,
    "resolve_durable_sources": resolved_pointers,
    "durable_constructors": construct,
    "transition_pending_item": transition,
    "capture_retrieval_evidence": capture,
    "render_durable_context": render,
}
