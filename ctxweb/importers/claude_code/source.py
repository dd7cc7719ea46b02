"""Everything that is kept of one source: its entries in file order, and what the side records tell."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from ctxweb.importers.claude_code.entries import Entry, Figures


@dataclass(slots=True, kw_only=True)
class Titles:
    """Titles by session id or, for a summary record, by the uuid of the last message that it names."""

    custom: dict[str, str] = field(default_factory=dict)
    generated: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Source:
    """`first_id`: the first id that a record carries. `holders`: the first entry with a uuid. `figures`: by call id, those of
    sidechains apart, for they may replay calls of the main chain. `prompts`: the tool call that carries a prompt, by the digest
    of the prompt. `agents`: the tool call whose result names a subagent. `records`: numbers of the records of each session id."""

    first_id: str = ""
    entries: list[Entry] = field(default_factory=list)
    holders: dict[str, Entry] = field(default_factory=dict)
    figures: dict[str, Figures] = field(default_factory=dict)
    side_figures: dict[str, Figures] = field(default_factory=dict)
    prompts: dict[bytes, str] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    titles: Titles = field(default_factory=Titles)
    records: dict[str, array[int]] = field(default_factory=dict)
    cwd: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def figures_of(self, entry: Entry) -> dict[str, Figures]:
        return self.side_figures if entry.is_sidechain else self.figures
