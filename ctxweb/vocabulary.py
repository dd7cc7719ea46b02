"""The words, icons and colour families of the pages; each name below is a class in `static/css/kinds.css`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """`name` is the colour class without its family, `word` what people read, `icon` the symbol in icons.svg."""

    name: str
    word: str
    icon: str


KINDS: tuple[Word, ...] = (  # from the base of the map upwards: flat and important ones below, large and changing ones above
    Word(name="overhead", word="system + tools", icon="overhead"),
    Word(name="summary", word="checkpoint", icon="summary"),
    Word(name="user", word="user text", icon="user"),
    Word(name="assistant", word="assistant text", icon="assistant"),
    Word(name="thinking", word="thinking", icon="thinking"),
    Word(name="tool-use", word="tool use", icon="tool_use"),
    Word(name="tool-result", word="tool result", icon="tool_result"),
    Word(name="image", word="image", icon="image"),
    Word(name="opaque", word="opaque", icon="unsupported"),
)
UNEXPLAINED = Word(name="unexplained", word="unexplained", icon="unexplained")
KIND_NAMES: tuple[str, ...] = tuple(kind.name for kind in KINDS)
KIND_WORDS: dict[str, Word] = {kind.name: kind for kind in (*KINDS, UNEXPLAINED)}

ACTIONS: dict[str, Word] = {
    name: Word(name=name, word=word, icon=name)
    for name, word in (
        ("truncate", "truncate"),
        ("clear", "clear"),
        ("replace", "replace"),
        ("spill", "spill"),
        ("remove", "remove"),
        ("summarise", "summarise"),
        ("restore", "restore"),
        ("inferred", "not recorded"),
    )
}
MECHANISM_ACTION: dict[str, str] = {  # a mechanism takes the hue of the edits that it makes
    "truncate_output": "truncate",
    "dedup": "clear",
    "mask_tool_result": "clear",
    "clear_tool_result": "clear",
    "clear_thinking": "clear",
    "prune_head_tail": "truncate",
    "snip_messages": "remove",
    "sliding_window": "remove",
    "summary": "summarise",
    "checkpoint_replace": "summarise",
    "remote_opaque": "summarise",
    "spill": "spill",
    "request_header": "replace",
    "rewind": "remove",
    "revert": "remove",
    "clear": "remove",
    "unknown": "remove",
}
MECHANISM_WORDS: dict[str, str] = {
    "truncate_output": "outputs truncated",
    "dedup": "duplicates removed",
    "mask_tool_result": "results masked",
    "clear_tool_result": "results cleared",
    "clear_thinking": "thinking cleared",
    "prune_head_tail": "middles cut",
    "snip_messages": "messages snipped",
    "sliding_window": "window moved",
    "summary": "summary",
    "checkpoint_replace": "checkpoint",
    "remote_opaque": "remote compaction",
    "spill": "stored outside",
    "request_header": "request header changed",
    "rewind": "rewind",
    "revert": "revert",
    "clear": "cleared by hand",
    "unknown": "not recorded",
}
FORMAT_NAMES: dict[str, str] = {  # format id: the name that its users know
    "claude_code": "Claude Code",
    "codex": "Codex",
    "dsh": "DeepSeek Harness",
    "workbuddy": "learn-workbuddy",
    "learn_claude_code": "learn-claude-code",
    "anthropic_messages": "Anthropic Messages",
    "openai_messages": "OpenAI Messages",
    "message_list": "Message list",
}
_TEXT_OF_ROLE = {"assistant": "assistant", "system": "overhead", "developer": "overhead", "tool": "tool-result"}
_OF_BLOCK_KIND = {
    "thinking": "thinking",
    "tool_use": "tool-use",
    "tool_result": "tool-result",
    "image": "image",
    "document": "image",
    "compaction": "summary",
    "opaque": "opaque",
}


def kind_of(*, kind: str, role: str, origin: str) -> str:
    """The colour class of a block: a text is a checkpoint, or the words of whoever spoke."""
    if kind != "text":
        return _OF_BLOCK_KIND[kind]
    if origin == "summary":
        return "summary"
    return _TEXT_OF_ROLE.get(role, "user")


def action_of(*, mechanism: str, origin: str) -> Word:
    """The tag of a compaction: its action, or `not recorded` for a drop that only the figures show."""
    return ACTIONS["inferred" if origin == "inferred" else MECHANISM_ACTION[mechanism]]


def mechanism_word(mechanism: str) -> str:
    """What a mechanism did, in the words of the map's labels."""
    return MECHANISM_WORDS[mechanism]
