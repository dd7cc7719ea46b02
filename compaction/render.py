"""Durable state as text for a prompt: every field of every item, one item a line, and read back without loss.

A line is a JSON object, so no text can end it; characters that break lines, hide, turn the writing direction or begin a
tag are written as escapes. Sources are bound one to one to the resolutions of this round. What cannot be had is marked
as unavailable: it is neither left out nor put together again from other text. Excerpts are never rendered.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from compaction.durable.fields import instant
from compaction.durable.values import DurableContextState, DurableFact, PendingItem, RetrievalEvidence
from compaction.errors import DurableError
from compaction.sources.resolution import SourceResolution

MOST_RENDERED_DONE_ITEMS = 3  # s14's default

Section = Literal["facts", "pending", "evidence"]
SECTIONS: tuple[Section, ...] = get_args(Section)
TITLES: Mapping[Section, str] = {"facts": "Confirmed facts:", "pending": "Pending work:", "evidence": "Selected retrieval evidence:"}

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_ITEM = "- "
_OMITTED = re.compile(r"- done_omitted=([1-9][0-9]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedSection:
    """A section of the text: its items in their order, each with the fields that its line carries."""

    section: Section
    items: tuple[Mapping[str, object], ...]
    done_omitted: int = 0


def render_durable_context(
    state: DurableContextState,
    resolutions: Iterable[SourceResolution] | None = None,
    *,
    run: str | None = None,
    most_done_items: int = MOST_RENDERED_DONE_ITEMS,
) -> str:
    """The text; "" for an empty state. Without resolutions it says nothing about sources.

    `run`: the round whose resolutions alone are taken. Of the done items the newest `most_done_items` are listed, the others
    counted. Raises DurableError `duplicate_resolution`, `resolution_mismatch`, `stale_resolution`, `digest_invalid`.
    """
    lines: list[str] = []
    for section in durable_sections(state, resolutions, run=run, most_done_items=most_done_items):
        lines.append(TITLES[section.section])
        lines += [_ITEM + escaped_json(item) for item in section.items]
        if section.done_omitted:
            lines.append(f"- done_omitted={section.done_omitted}")
    return "\n".join(lines)


def durable_sections(
    state: DurableContextState,
    resolutions: Iterable[SourceResolution] | None = None,
    *,
    run: str | None = None,
    most_done_items: int = MOST_RENDERED_DONE_ITEMS,
) -> tuple[RenderedSection, ...]:
    """What the text carries, for pages. A section without items is absent. Refusals as in `render_durable_context`."""
    if state.is_empty:
        return ()
    bound = None if resolutions is None else _bound(state, resolutions, run)
    shown, omitted = _shown_pending(state.pending_items, most_done_items)
    sections = (
        RenderedSection(section="facts", items=tuple(_fact(one, bound) for one in state.facts)),
        RenderedSection(section="pending", items=tuple(_pending(one, bound) for one in shown), done_omitted=omitted),
        RenderedSection(section="evidence", items=tuple(_evidence(one) for one in state.retrieval_evidence)),
    )
    return tuple(section for section in sections if section.items or section.done_omitted)


def read_rendered(text: str) -> tuple[RenderedSection, ...]:
    """The sections that a rendered text carries. Raises DurableError `not_rendered` for any other text."""
    headings = {title: section for section, title in TITLES.items()}
    sections: list[tuple[Section, list[Mapping[str, object]], int]] = []
    for line in text.split("\n") if text else ():
        omitted = _OMITTED.fullmatch(line)
        if line in headings:
            sections.append((headings[line], [], 0))
        elif sections and omitted:
            sections[-1] = (*sections[-1][:2], int(omitted[1]))
        elif sections and line.startswith(_ITEM):
            sections[-1][1].append(_read_item(line.removeprefix(_ITEM)))
        else:
            raise _not_rendered()
    return tuple(RenderedSection(section=name, items=tuple(items), done_omitted=omitted) for name, items, omitted in sections)


def escaped_json(value: Mapping[str, object]) -> str:
    """JSON on one line in which everything can be seen: what hides, breaks lines or begins a tag is an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if text.isascii() and "<" not in text and "\x7f" not in text else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character != "<" and unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def _read_item(text: str) -> Mapping[str, object]:
    try:
        item = json.loads(text)
    except ValueError:
        raise _not_rendered() from None
    if not isinstance(item, Mapping):
        raise _not_rendered()
    return item


def _not_rendered() -> DurableError:
    return DurableError("the text is no rendered durable context: a line is neither a heading nor an item", code="not_rendered")


def _bound(state: DurableContextState, resolutions: Iterable[SourceResolution], run: str | None) -> Mapping[str, SourceResolution]:
    """The resolutions by pointer, if they are exactly those of the state's pointers."""
    bound: dict[str, SourceResolution] = {}
    for one in resolutions:
        if one.pointer in bound:
            raise DurableError("a pointer was resolved twice: give one resolution each", code="duplicate_resolution", pointer=one.pointer)
        if run is not None and one.run != run:
            raise DurableError("a resolution is of another round: resolve again", code="stale_resolution", pointer=one.pointer)
        bound[one.pointer] = one
    if bound.keys() != set(state.pointers):
        raise DurableError(
            f"{len(bound)} resolutions do not bind the {len(state.pointers)} pointers of the state: resolve again",
            code="resolution_mismatch",
        )
    for one in bound.values():
        if one.status == "available" and not _DIGEST.fullmatch(one.evidence_sha256 or ""):
            raise DurableError("an available source has no SHA-256 of 64 lower-case digits", code="digest_invalid", pointer=one.pointer)
    return bound


def _shown_pending(items: tuple[PendingItem, ...], most_done: int) -> tuple[list[PendingItem], int]:
    done = [item for item in items if item.status == "done"]
    newest: Callable[[PendingItem], object] = lambda item: instant(item.last_confirmed_at)  # noqa: E731
    shown = {item.item_id for item in sorted(done, key=newest, reverse=True)[:most_done]}  # type: ignore[arg-type]
    return [item for item in items if item.status != "done" or item.item_id in shown], len(done) - len(shown)


def _fact(fact: DurableFact, bound: Mapping[str, SourceResolution] | None) -> Mapping[str, object]:
    source = _source(fact.source_pointer, bound)
    return {"id": fact.fact_id, "text": fact.content, **source, "confirmed": fact.last_confirmed_at}


def _pending(item: PendingItem, bound: Mapping[str, SourceResolution] | None) -> Mapping[str, object]:
    reason = {"reason": item.reason} if item.reason else {}
    source = _source(item.source_pointer, bound)
    return {
        "id": item.item_id,
        "text": item.description,
        "status": item.status,
        **reason,
        **source,
        "confirmed": item.last_confirmed_at,
    }


def _source(pointer: str, bound: Mapping[str, SourceResolution] | None) -> dict[str, object]:
    if bound is None:
        return {"source": pointer}
    found = bound[pointer]
    proof = {"evidence_sha256": found.evidence_sha256} if found.status == "available" else {"evidence_unavailable": True}
    return {"source": pointer, "source_status": found.status, **proof}


def _evidence(evidence: RetrievalEvidence) -> Mapping[str, object]:
    return {
        "id": evidence.memory_id,
        "source_type": evidence.source_type,
        "source_id": evidence.source_id,
        "title": evidence.source_title,
        "captured": evidence.captured_at,
        "score": evidence.score,
        "rank": evidence.source_rank,
        "conflict_key": evidence.conflict_key,
    }
