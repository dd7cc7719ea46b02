"""Made sessions for tests of layers and policies: what a person, a model and its tools say, one line each."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from compaction.counters.units import unit_named
from compaction.messages import Block, BlockId, BlockKind, Body, Message, Origin, Role
from compaction.pricing import Pricer
from compaction.view import PromptView

ARGUMENTS = '{"command": "x"}'
Piece = tuple[BlockKind, str, dict]


@dataclass
class Talk:
    """Grows message by message; a call comes with its result in the next user message."""

    messages: list[Message] = field(default_factory=list)

    def user(self, text: str) -> Talk:
        return self._add("user", "human", ("text", text, {}))

    def summary(self, text: str) -> Talk:
        return self._add("user", "summary", ("text", text, {}))

    def says(self, text: str, thinking: str = "") -> Talk:
        thought: list[Piece] = [("thinking", thinking, {})] if thinking else []
        return self._add("assistant", "model", *thought, ("text", text, {}))

    def call(self, result: str, *, tool: str = "Bash", thinking: str = "", path: str | None = None) -> Talk:
        """One call with its result; `path` makes it a file read."""
        return self.calls((result,), tool=tool, thinking=thinking, path=path)

    def calls(self, results: tuple[str, ...], *, tool: str = "Bash", thinking: str = "", path: str | None = None) -> Talk:
        """Parallel calls, and a user message with all results."""
        ids = [f"call_{len(self.messages)}_{index}" for index in range(len(results))]
        thought: list[Piece] = [("thinking", thinking, {})] if thinking else []
        uses: list[Piece] = [("tool_use", ARGUMENTS, {"tool_id": tool_id, "tool_name": tool}) for tool_id in ids]
        self._add("assistant", "model", *thought, *uses)
        answers: list[Piece] = [
            ("tool_result", text, {"tool_id": tool_id, "path": path}) for tool_id, text in zip(ids, results, strict=True)
        ]
        return self._add("user", "tool", *answers)

    def view(self, unit: str = "exact") -> PromptView:
        return PromptView.of(self.messages, Pricer(unit_named(unit)))

    def _add(self, role: Role, origin: Origin, *blocks: Piece) -> Talk:
        seq = len(self.messages) + 1
        made = tuple(
            Block(id=BlockId(seq, i), kind=kind, body=Body.of(text), **more) for i, (kind, text, more) in enumerate(blocks, start=1)
        )
        self.messages.append(Message(seq=seq, role=role, origin=origin, blocks=made, line=seq, record=seq))
        return self


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    """A random session in which every call has its result, at once or after others."""
    talk = Talk()
    for _ in range(draw(st.integers(1, 14))):
        step = draw(st.sampled_from(["user", "says", "call", "calls", "read"]))
        text = draw(st.sampled_from(["", "short", "a longer text of words " * 4, "x" * 3000, '{"id": 7, "rows": [1, 2]}' * 90]))
        if step == "user":
            talk.user(text)
        elif step == "says":
            talk.says(text, thinking=draw(st.sampled_from(["", "hm"])))
        elif step == "read":
            talk.call(text, tool="Read", path=draw(st.sampled_from(["a.py", "b.py"])))
        else:
            talk.calls((text,) * (2 if step == "calls" else 1), thinking=draw(st.sampled_from(["", "hm"])))
    return talk


def shown(view: PromptView) -> list[str]:
    """The texts of a view, message by message, their blocks separated by a bar."""
    return [" | ".join(view.pricer.text(visible.body) for visible in message.blocks) for message in view.messages]
