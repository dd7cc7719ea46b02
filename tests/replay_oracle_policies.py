"""The three seed policies for the plain engine, from the specification alone (behaviours.md 1.4, 2.3, 4.4 and 4.5)."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from tests.replay_oracle import Msg, Run, pairs_of, results_of, text_of, tool_id, whole_from, with_text, without


class S14(Run):
    layers = ("truncate_results", "dedup_file_reads", "prune_old_messages", "summarise_old")

    def own(self, view: list[Msg]) -> int:
        return sum(4 + self._content(message.content) for message in view)

    @staticmethod
    def _content(content: Any) -> int:
        if isinstance(content, str):
            return len(content) // 4
        return sum(len(json.dumps(block, ensure_ascii=False)) // 4 for block in content)

    def step(self, call: int) -> bool:
        trigger = self.settings["trigger"]
        if self.own(self.view) < trigger:
            return False
        for layer, plan in zip(self.layers, (self.truncate, self.dedup, self.prune, self.summarise), strict=True):
            self.run(layer, plan)
            if self.own(self.view) < trigger:
                return True
        self.over_limit = self.own(self.view) >= self.settings["hard_limit"]
        return True

    def truncate(self, view: list[Msg]) -> list[Msg]:
        most = self.settings["max_tool_result_tokens"]
        texts = {}
        for place, block in results_of(view):
            text = block["content"]
            if len(text) // 4 > most:
                cut = f"{text[: most * 4]}\n\n[... 已截断: 原始 {len(text)} 字符, 保留 {most * 4} 字符 ...]"
                marked = text.endswith(" 字符 ...]") and "\n\n[... 已截断: 原始 " in text[-100:]
                if len(cut) < len(text) and not marked:
                    texts[place] = cut
        return [with_text(message, texts) for message in view]

    def dedup(self, view: list[Msg]) -> list[Msg]:
        pairs, last, gone = pairs_of(view), dict[str, str](), set[str]()
        for place, block in results_of(view):
            key = self.session.reads.get(place)
            if key:
                if key in last and last[key] in pairs:
                    gone.add(last[key])
                last[key] = tool_id(block)
        return self._without_tools(view, gone)

    def prune(self, view: list[Msg]) -> list[Msg]:
        keep = self.settings["keep_recent_messages"]
        if len(view) <= keep + 1:
            return view
        kept = {0, *range(len(view) - keep, len(view))}
        split = {name for name, places in pairs_of(view).items() if not set(places) <= kept}
        return self._without_tools([message for index, message in enumerate(view) if index in kept], split)

    def summarise(self, view: list[Msg]) -> list[Msg]:
        if len(view) <= 4:
            return view
        start = whole_from(view, len(view) - 4)
        if start == 0 or not self.summary.strip():
            return view
        seq = self.next_seq
        summary = self.put("user", f"[之前的对话摘要]\n{self.summary.strip()}")
        made = [summary, self.put("assistant", "好的, 我已了解之前的对话内容。请继续。"), *view[start:]]
        if self.own(made) >= self.own(view):
            self.next_seq = seq
            return view
        return made

    def _without_tools(self, view: list[Msg], gone: set[str]) -> list[Msg]:
        def leaves(place: str, block: dict[str, Any]) -> bool:
            return block["type"] in ("tool_use", "tool_result") and tool_id(block) in gone

        return [kept for message in view if (kept := without(message, leaves)) is not None]


class S08(Run):
    layers = ("result_budget", "snip_messages", "clear_old_results", "summarise_everything", "summarise_reactive")
    reacts = True
    PLACEHOLDER = "[Earlier tool result compacted. Re-run if needed.]"

    def own(self, view: list[Msg]) -> int:
        return len(repr([message.wire for message in view]))

    def step(self, call: int) -> bool:
        for layer, plan in zip(self.layers, (self.budget, self.snip, self.micro), strict=False):
            self.run(layer, plan)
        if self.own(self.view) > self.settings["trigger"] or call in self.session.compact:
            self.run(self.layers[3], self.compact)
            return True
        return False

    def overflow(self) -> None:
        self.run(self.layers[4], self.reactive)

    def budget(self, view: list[Msg]) -> list[Msg]:
        if not view or view[-1].role == "assistant":
            return view
        texts = {place: block["content"] for place, block in results_of(view[-1:])}
        stored: dict[str, str] = {}
        for place in sorted(texts, key=lambda place: -len(texts[place])):
            total = sum(len(stored.get(other, text)) for other, text in texts.items())
            if total > self.settings["batch_chars"] and len(texts[place]) > self.settings["store_above"]:
                preview = self._preview(texts[place])
                if len(preview) < len(texts[place]):
                    stored[place] = preview
        return [*view[:-1], with_text(view[-1], stored)]

    def _preview(self, text: str) -> str:
        digest = hashlib.sha256(text.encode()).hexdigest()
        pointer = f"artifact:{self.session.public_id}:{digest[:12]}.txt:{digest}"
        return f"<persisted-output>\nFull output: {pointer}\nPreview:\n{text[: self.settings['preview_chars']]}\n</persisted-output>"

    def snip(self, view: list[Msg]) -> list[Msg]:
        most, head = self.settings["max_messages"], 3
        if len(view) <= most:
            return view
        start = whole_from(view, len(view) - (most - head))
        if view[head - 1].role == "assistant" and any(block["type"] == "tool_use" for _, block in view[head - 1].blocks()):
            while head < len(view) and results_of(view[head : head + 1]):
                head += 1
        while crossing := [result for use, result in pairs_of(view).values() if use < head <= result < start]:
            head = max(crossing) + 1
        if start - head <= 1:
            return view
        return [*view[:head], self.put("user", f"[snipped {start - head} messages]"), *view[start:]]

    def micro(self, view: list[Msg]) -> list[Msg]:
        old = results_of(view)[:-3]
        long = [place for place, block in old if len(block["content"]) > 120]
        return [with_text(message, dict.fromkeys(long, self.PLACEHOLDER)) for message in view]

    def compact(self, view: list[Msg]) -> list[Msg]:
        return self._summarised(view, len(view), "[Compacted]\n\n")

    def reactive(self, view: list[Msg]) -> list[Msg]:
        return self._summarised(view, whole_from(view, max(0, len(view) - 5)), "[Reactive compact]\n\n")

    def _summarised(self, view: list[Msg], count: int, opening: str) -> list[Msg]:
        is_summary = count == 1 and isinstance(view[0].content, str) and view[0].content.startswith(("[Compacted]", "[Reactive compact]"))
        if count == 0 or is_summary or not self.summary.strip():
            return view
        return [self.put("user", f"{opening}{self.summary}"), *view[count:]]


class Dsh(Run):
    layers = ("prune_results", "summarise_range")
    reacts = True
    MARK = "\n\n[... tool result middle pruned ...]\n\n"

    def own(self, view: list[Msg]) -> int:
        return sum(self._message(message) for message in view)

    def _message(self, message: Msg) -> int:
        if isinstance(message.content, str):
            return 4 + quarter(message.content) + 4
        return 4 + sum(self._block(block, message.logged.get(place, "")) for place, block in message.blocks())

    @staticmethod
    def _block(block: dict[str, Any], arguments: str) -> int:
        if block["type"] in ("text", "thinking"):
            return quarter(text_of(block)) + 4
        if block["type"] == "tool_use":
            return quarter(block["name"]) + quarter(arguments) + 4
        if block["type"] == "tool_result":
            return quarter(block["content"]) + 4 + 4
        return quarter(json.dumps(block, ensure_ascii=False, separators=(",", ":"))) + 4

    def over(self) -> bool:
        limit: int = math.floor(self.settings["ratio"] * (self.window or 0))
        return self.session.hidden + self.own(self.view) >= limit

    def step(self, call: int) -> bool:
        if not self.over():
            return False
        self.run(self.layers[0], self.prune)
        for _ in range(1 + self.settings["retries"]):
            if self.over():
                self.run(self.layers[1], lambda view: self.checkpoint(view, math.floor(self.settings["keep_ratio"] * (self.window or 0))))
        return True

    def overflow(self) -> None:
        self.run(self.layers[0], self.prune)
        self.run(self.layers[1], lambda view: self.checkpoint(view, 0))

    def prune(self, view: list[Msg]) -> list[Msg]:
        limit, head, tail = (self.settings[name] for name in ("threshold_chars", "head_chars", "tail_chars"))
        texts = {}
        for place, block in results_of(view):
            text = block["content"]
            if len(text) > limit:
                texts[place] = text[:head] + self.MARK + text[len(text) - tail :]
        return [with_text(message, texts) for message in view]

    def checkpoint(self, view: list[Msg], retain: int) -> list[Msg]:
        kept, cut = 0, len(view)
        while cut > 0 and (kept < retain or cut == len(view)):
            cut -= 1
            kept += self._message(view[cut])
        first = next((index for index, message in enumerate(view) if message.role not in ("system", "developer")), len(view))
        cut = whole_from(view, cut)
        if cut <= first or not self.summary.strip():
            return view
        seq = self.next_seq
        made = self.put("user", *self.settings["frame"](self.summary), as_blocks=True)
        if self._message(made) >= sum(self._message(message) for message in view[first:cut]):
            self.next_seq = seq
            return view
        return [*view[:first], made, *view[cut:]]


def quarter(text: str) -> int:
    return math.ceil(len(text.encode("utf-16-le", "surrogatepass")) // 2 / 4)
