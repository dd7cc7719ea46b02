"""Random sessions as wire messages: valid in their tool protocol, odd in everything else that a provider lets through."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = st.sampled_from(["fix", "the", "tests", "压缩", "naïve", "👍🏽", "\n", "  ", '"quoted"', "\\path\\", "\t", "\u2028", "ﷺ"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
LENGTHS = st.sampled_from([0, 1, 3, 39, 40, 60, 119, 121, 200, 450, 900, 4000, 21_000])
MARKS = st.sampled_from(
    [
        "",
        "",
        "",
        "\n\n[... 已截断: 原始 1000000 字符, 保留 20000 字符 ...]",
        "\n\n[... tool result middle pruned ...]\n\ntail",
        "\n\n(Omitted 500 bytes. Full formatted result stored at: run/7.txt. Read it with cat.)",
    ]
)
RESULT_TEXTS = st.builds(lambda text, length, mark: (text * (1 + length // max(1, len(text))))[:length] + mark, TEXTS, LENGTHS, MARKS) | (
    st.just("[Earlier tool result compacted. Re-run if needed.]")
)
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
ODD_BLOCKS = st.sampled_from(
    [
        IMAGE,
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "cached", "cache_control": {"type": "ephemeral"}},
        {"type": "text"},
        "a bare text",
        7,
        None,
    ]
)
TOOLS = st.sampled_from([("read_file", "path"), ("bash", "command"), ("edit", "file_path")])
PATHS = st.sampled_from(["a.py", "b.py", "./a.py", ""])


@st.composite
def wire_sessions(draw: st.DrawFn, *, turns: int = 14) -> list[dict[str, Any]]:
    """Messages whose calls and results pair: parallel calls, results spread over later messages, texts between them."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": draw(TEXTS)}]
    open_calls: list[str] = []
    calls = 0
    for _ in range(draw(st.integers(0, turns))):
        step = draw(st.sampled_from(["say", "call", "call", "answer", "answer", "odd"]))
        if step == "call":
            names = [f"t{number}" for number in range(calls, calls + draw(st.integers(1, 3)))]
            calls += len(names)
            open_calls += names
            messages.append(draw(_calls(names)))
        elif step == "answer" and open_calls:
            answered = open_calls[: draw(st.integers(1, len(open_calls)))]
            open_calls = open_calls[len(answered) :]
            messages.append(draw(_answers(answered)))
        else:
            messages.append(draw(_odd() if step == "odd" else _said()))
    for tool_id in open_calls:
        messages.append(draw(_answers([tool_id])))
    return messages


@st.composite
def _calls(draw: st.DrawFn, names: list[str]) -> dict[str, Any]:
    blocks: list[Any] = [{"type": "thinking", "thinking": draw(TEXTS), "signature": "s=="}] if draw(st.booleans()) else []
    blocks += [{"type": "text", "text": draw(TEXTS)}] if draw(st.booleans()) else []
    for name in names:
        tool, key = draw(TOOLS)
        blocks.append(
            {"type": "tool_use", "id": name, "name": tool, "input": {key: draw(PATHS), "limit": 3} if draw(st.booleans()) else {}}
        )
    return {"role": "assistant", "content": blocks}


@st.composite
def _answers(draw: st.DrawFn, names: list[str]) -> dict[str, Any]:
    blocks: list[Any] = []
    for name in names:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": name}
        content: Any = draw(RESULT_TEXTS)
        shape = draw(st.sampled_from(["text", "text", "text", "list", "image", "absent"]))
        if shape == "list":
            content = [{"type": "text", "text": content}, {"type": "text", "text": "more"}]
        elif shape == "image":
            content = [{"type": "text", "text": content}, IMAGE]
        if shape != "absent":
            block["content"] = content
        if draw(st.booleans()):
            block["_read_path"] = draw(PATHS)
        if draw(st.integers(0, 9)) == 0:
            block["is_error"] = True
        blocks.append(block)
    if draw(st.integers(0, 4)) == 0:
        blocks.append({"type": "text", "text": draw(TEXTS)})
    return {"role": "user", "content": blocks}


@st.composite
def _said(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant"]))
    text = draw(TEXTS)
    return {"role": role, "content": text if draw(st.booleans()) else [{"type": "text", "text": text}]}


@st.composite
def _odd(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant"]))
    message: dict[str, Any] = {"role": role}
    shape = draw(st.sampled_from(["blocks", "empty", "null", "absent", "object"]))
    if shape == "blocks":
        message["content"] = draw(st.lists(ODD_BLOCKS, min_size=1, max_size=3))
    elif shape != "absent":
        message["content"] = {"empty": [], "null": None, "object": {"a": 1}}[shape]
    if draw(st.booleans()):
        message["name"] = "someone"
    return message
