"""The words of the pages, as the settings page explains them; notes on pages link to these anchors."""

from __future__ import annotations

GLOSSARY: tuple[tuple[str, str, str], ...] = (
    # anchor, word, meaning
    (
        "count",
        "token count",
        "The exact number of tokens of a text under a named public tokenizer. It is not the provider’s figure.",
    ),
    (
        "estimate",
        "≈ estimate",
        "What a block is taken to cost in a prompt: its count with constants of the model’s family. "
        "Views, ledger and balance are sums of estimates.",
    ),
    (
        "reported",
        "reported",
        "The size of the prompt of a call as the provider reported it: input, cache read and cache write.",
    ),
    (
        "unexplained",
        "unexplained tokens",
        "Reported size minus the estimate of the rebuilt view: system prompt, tools and reminders that are not in the log, "
        "files that were attached again after a compaction, and the error of the estimates.",
    ),
    (
        "fidelity",
        "fidelity",
        "How far a view can be trusted. Exact: a copy of the prompt. Derived: rebuilt from the log and the recorded edits. "
        "Approximate: something left or came without a record. Opaque: part of the prompt cannot be read.",
    ),
    (
        "inferred",
        "inferred",
        "The reported size fell or rose by more than the log explains (2,000 tokens and 3 % of the prompt), and no record says why. "
        "Which blocks were touched cannot be told.",
    ),
    (
        "detached",
        "not on the active path",
        "A compaction of a branch that the user left: its edits are booked against that branch.",
    ),
    (
        "never-sent",
        "never sent",
        "A block that a compaction took before any call held it.",
    ),
    (
        "checkpoint",
        "checkpoint",
        "A summary message that stands for a range of earlier messages. One that a model wrote is model output, not evidence: "
        "no fact is ever taken from it.",
    ),
    (
        "retention",
        "retention",
        "What a checkpoint still carries of its range: requests, constraints, decisions, open tasks and errors, and the paths, addresses, "
        "identifiers and numbers that the user or the agent used. What a listing or a search only printed is not counted. "
        "Kept: it stands there as it was or in other words. Changed: shortened, or with another value. Lost: no rule finds it.",
    ),
    (
        "unfounded",
        "not in the range",
        "A sentence of a checkpoint with a name, or mostly words, that its range does not hold. It may come from the system prompt, "
        "from files that were attached, or be made up.",
    ),
    (
        "source",
        "source",
        "Where a durable fact can be checked, named by a pointer. It is available, missing, denied, corrupt or unsupported; "
        "what the machine could not look at says nothing about it.",
    ),
    (
        "changed",
        "changed since confirmed",
        "The source is available, but its digest is not the one that was kept when the fact was confirmed by it.",
    ),
    (
        "sign-off",
        "sign-off",
        "A person’s word on the sources of a session or of the project, with a note; an entry of the audit holds its digest. "
        "The name is recorded as claimed.",
    ),
)
