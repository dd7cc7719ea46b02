"""What stands in front of every prompt: the system prompt and the tool definitions of the latest request header.

The header is logged after the messages that enter the first step, so these wait for it: nothing was sent before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.dsh.events import JsonObject
from compaction.transcript import Compaction, Edit
from ctxweb.importers.lane_log import Draft, LaneLog, Place, draw
from ctxweb.importers.values import compact_json, count

SYSTEM, TOOLS = "system", "tools"
PLACEHOLDERS = frozenset({"{{system}}", "{{tools}}"})
"""What committed examples write where the texts were."""


class RequestHeader:
    """`is_placeholder`: the texts were left out of the file."""

    def __init__(self, log: LaneLog) -> None:
        self._log = log
        self._texts: dict[str, str] = {}
        self._seqs: dict[str, int] = {}
        self._waiting: list[int] | None = []

    @property
    def is_placeholder(self) -> bool:
        return any(text in PLACEHOLDERS for text in self._texts.values())

    def show(self, seq: int) -> None:
        """Let a message enter the view, behind the header where that is still to come."""
        if self._waiting is None:
            self._log.show((seq,))
        else:
            self._waiting.append(seq)

    def open_view(self) -> None:
        """The view is needed as it stands."""
        if self._waiting:
            self._log.show(tuple(self._waiting))
        self._waiting = None

    def take(self, header: JsonObject, place: Place) -> bool:
        """A request header; False where it comes too late to stand in front of the view."""
        system, tools = header.get("system"), header.get("tools")
        written = tools if isinstance(tools, str) else compact_json(tools) if tools else ""
        texts = {SYSTEM: system if isinstance(system, str) else "", TOOLS: written}
        return self._become({name: text for name, text in texts.items() if text}, place)

    def change(self, data: JsonObject, place: Place) -> bool:
        """An older way to log a header: which lines of the system prompt stay, and what stands between. False if it cannot be followed."""
        told = data.get("system")
        lines = self._texts.get(SYSTEM, "").split("\n")
        insert = _lines(told)
        start, end = (count(told.get(name)) for name in ("keepStart", "keepEnd")) if isinstance(told, Mapping) else (None, None)
        if insert is None or start is None or end is None or start + end > len(lines) or set(data) != {"system"}:
            self._log.note("header_change_unread", line=place.line)
            return False
        changed = [*lines[:start], *insert, *lines[len(lines) - end :]]
        return self._become({**self._texts, SYSTEM: "\n".join(changed)}, place)

    def _become(self, texts: dict[str, str], place: Place) -> bool:
        if self._waiting is not None:
            seqs = [self._append(name, text, place) for name, text in texts.items()]
            self._texts = texts
            self._log.show((*seqs, *self._waiting))
            self._waiting = None
            return True
        is_first = not self._texts and bool(texts)
        self._replace(texts, place)
        self._texts = texts
        return not is_first

    def _replace(self, texts: dict[str, str], place: Place) -> None:
        names = [name for name in (SYSTEM, TOOLS) if texts.get(name) != self._texts.get(name)]
        if SYSTEM in names and SYSTEM not in self._seqs:
            names = [SYSTEM, TOOLS]  # a system prompt stands in front of the tools, so they come anew behind it
        if not names:
            return
        gone = [self._seqs.pop(name) for name in names if name in self._seqs]
        before = None if gone else self._seqs.get(SYSTEM)
        puts = [self._append(name, texts[name], place) for name in names if name in texts]
        at = self._log.view.index(gone[0]) if gone else len(self._log.view) if before is None else self._log.view.index(before) + 1
        edit = Edit(
            verb="replace" if puts else "remove",
            takes=self._log.blocks_of(gone),
            puts=tuple(puts),
            after=None if before is None else self._log.blocks_of([before])[-1],
        )
        view = [*self._log.view[:at], *puts, *(seq for seq in self._log.view[at:] if seq not in gone)]
        self._log.edit(Compaction(mechanism="request_header", line=place.line, edits=(edit,), at=place.at), view=view)

    def _append(self, name: str, text: str, place: Place) -> int:
        draft = Draft(role="system", origin="harness", pieces=(draw("text", text),), label=name, records=0)
        self._seqs[name] = self._log.append(draft, place, shown=False).seq
        return self._seqs[name]


def _lines(told: Any) -> list[str] | None:
    insert = told.get("insert") if isinstance(told, Mapping) else None
    return insert if isinstance(insert, list) and all(isinstance(line, str) for line in insert) else None
