"""Everything that this library raises, in one tree. A message says what is wrong, where, and what to do.

    CompactionError
    ├── TranscriptError     an event stream that no lane can have: the importer that made it is wrong
    ├── EditError           an edit that has neither of the two shapes, or whose target is not in the view
    │   └── OrphanError     a planned batch that would split a tool interaction
    ├── ProtocolError       messages whose tool calls and results do not pair
    │   └── ProviderRuleError   a prompt that a provider would refuse
    ├── LimitError          limits that contradict each other
    │   └── OptionError     an option or limit of a layer or a harness that cannot be
    ├── PolicyError         a policy that cannot be: it names the field
    ├── ViewLimitExceeded   a view that all layers left at or above the hard limit
    ├── SessionLogError     an event log whose events contradict each other, as replayed
    ├── SummarizerError     a summary could not be had; the view stays
    ├── StoreError          a text could not be put away; it stays in the view
    ├── DurableError        a durable value, state or rendering that cannot be: it names the rule and the field
    │   ├── PendingItemUnknown  no pending item has the id
    │   └── SuccessionError     a state that may not follow the last one
    ├── SourcePointerError  a pointer outside the grammar
    │   └── UnsupportedSchemeError  a pointer whose scheme nobody owns
    ├── SourceSystemError   the machine could not look: to be tried again, never a status
    ├── AuditError          an audit entry that cannot be chained
    └── EncodingError       a tokenizer whose ranks are absent or damaged

Errors carry ids and sizes, never transcript text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.pipeline import Compacted


class CompactionError(Exception):
    """Root of all errors of this library."""


class TranscriptError(CompactionError):
    """The events do not describe a lane: seq not dense, a message shown that was never logged, calls out of order."""


class EditError(CompactionError):
    """A planned edit that cannot be applied."""


class OrphanError(EditError):
    """A planned batch would leave a tool call without its result, or a result without its call."""


class ProtocolError(CompactionError):
    """Tool calls and results do not pair. `code` names the rule, `tool_id` the pair, `block` the place (`seq.i`) of the block
    of kind `kind` that breaks it."""

    def __init__(self, message: str, *, code: str, tool_id: str, block: str, kind: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.tool_id = tool_id
        self.block = block
        self.kind = kind


class ProviderRuleError(ProtocolError):
    """A prompt breaks a rule of its provider. `position` counts its messages from 0; `block` is "" where a message itself is wrong."""

    def __init__(self, message: str, *, code: str, tool_id: str, block: str, position: int) -> None:
        super().__init__(message, code=code, tool_id=tool_id, block=block)
        self.position = position


class LimitError(CompactionError):
    """Limits that contradict each other, such as a trigger above the window, or one that cannot be. `field` names it."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class PolicyError(CompactionError):
    """A policy that cannot be. `field` is the path to what is wrong: `trigger.value`, `stages.2.layer.keep_recent_messages`."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class ViewLimitExceeded(CompactionError):
    """All layers ran, and the view is still at or above the hard limit. Sizes are in the policy's unit.

    `compacted` is what the run came to, for callers that go on all the same.
    """

    code = "message_view_limit_exceeded"

    def __init__(self, compacted: Compacted, *, hard_limit: int, before: int, after: int, applied_layers: tuple[str, ...]) -> None:
        super().__init__(f"the view has {after:,} after all layers, at or above the hard limit of {hard_limit:,}: raise it or say less")
        self.compacted = compacted
        self.hard_limit = hard_limit
        self.tokens_before = before
        self.tokens_after = after
        self.applied_layers = applied_layers


class EncodingError(CompactionError):
    """The ranks of an encoding are absent or are not the published ones."""


class OptionError(LimitError):
    """An option that cannot be. `code` names the rule, `key` the option, `policy` the index of the model policy that it stands in."""

    def __init__(self, message: str, *, code: str, key: str | None = None, policy: int | None = None) -> None:
        super().__init__(message, field=key or "")
        self.code = code
        self.key = key
        self.policy = policy


class SessionLogError(CompactionError):
    """Events of a harness's own log contradict each other. `code` names the rule; `figures` are the ids and places that it names."""

    def __init__(self, message: str, *, code: str, **figures: int | str) -> None:
        super().__init__(message)
        self.code = code
        self.figures = figures


class SummarizerError(CompactionError):
    """No summary could be had. What was to be summarised stays in the view."""


class StoreError(CompactionError):
    """A text could not be put away. It stays in the view."""


class DurableError(CompactionError):
    """A durable value that cannot be. `code` names the rule; `figures` are the field, ids and pointers that it names; `place`
    is the item of an import that it stands in: `facts.3`."""

    def __init__(self, message: str, *, code: str, place: str = "", **figures: str) -> None:
        super().__init__(message)
        self.code = code
        self.place = place
        self.figures = figures


class PendingItemUnknown(DurableError):
    """No pending item of the state has this id."""


class SuccessionError(DurableError):
    """A state may not follow the last one. `figures` name the first item that is in the way, and its list."""


class SourcePointerError(CompactionError):
    """A pointer outside the grammar. `code` names the rule, `figures` the component."""

    def __init__(self, message: str, *, code: str, **figures: str) -> None:
        super().__init__(message)
        self.code = code
        self.figures = figures


class UnsupportedSchemeError(SourcePointerError):
    """A pointer whose scheme nobody owns."""


class SourceSystemError(CompactionError):
    """The machine could not look: too many open files, no memory, no time left. It says nothing about the source, so it is
    tried again and never recorded as a status. `cause` is a short word: `EMFILE`, `no_memory`, `deadline`, `byte_budget`."""

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


class AuditError(CompactionError):
    """An audit entry that cannot be chained: it is not the next one, or a field has no canonical form."""
