"""Sentences of the view page: the answer first, then what is not known."""

from __future__ import annotations

from dataclasses import dataclass

from ctxweb import addresses
from ctxweb.page import counted
from ctxweb.queries.view import CallView

FIDELITY = {
    "derived": "This view is derived: rebuilt from the log and the recorded edits, not a copy of the prompt.",
    "approx": "This view is approximate: something left or came without a record, so some of these blocks may not have been sent.",
    "opaque": "This view is opaque: part of the prompt was kept by the provider and cannot be read.",
}

ABANDONED = "This call lies on an abandoned branch: the user went back, and on from an earlier message."


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewNote:
    """Something that is not known or not in order, with a link to why."""

    text: str
    action: str
    address: str


def finding_of(shown: CallView) -> str:
    call, change, against = shown.call, shown.change, shown.against
    if change is not None and against is not None and change.left:
        verb = "left before" if against.n < call.n else "of the other call are not in"
        return f"{counted(change.left, 'block')} {verb} call {call.n:,}, ≈ {change.left_tokens:,} tokens."
    if call.is_next:
        return f"The next call would get {counted(call.blocks, 'block')}, ≈ {call.estimate:,} tokens."
    return f"Call {call.n:,} held {counted(call.blocks, 'block')}, ≈ {call.estimate:,} tokens."


def detail_of(shown: CallView, *, policy: str = "") -> str:
    """The rest of the answer; of a replay `policy` says whose prompt it is."""
    call, change, against = shown.call, shown.change, shown.against
    parts = []
    if change is not None and against is not None:
        came = f"{counted(change.added, 'block')} came since call {against.n:,}, ≈ {change.added_tokens:,} tokens"
        parts.append(came + (f", {change.changed:,} changed." if change.changed else "."))
    if policy:
        parts.append(f"So {policy} would have sent it.")
    elif call.prompt_tokens is not None and call.unexplained is not None:
        parts.append(f"The provider reported {call.prompt_tokens:,} tokens; {_rest(call.unexplained)}")
    elif call.prompt_tokens is None and not call.is_next:
        parts.append("The provider’s figure is unknown.")
    return " ".join(parts)


def _rest(unexplained: int) -> str:
    if unexplained < 0:
        return f"the log explains {-unexplained:,} more than that."
    return f"{unexplained:,} of them are in no record."


def notes_of(shown: CallView, findings: dict[str, int], *, public_id: str) -> tuple[ViewNote, ...]:
    call, notes = shown.call, []
    if call.abandoned:
        notes.append(
            ViewNote(
                text="This call lies on an abandoned branch: the user went back and on from an earlier message.", action="", address=""
            )
        )
    if findings:
        said = ", ".join(f"{count:,} × {code.replace('_', ' ')}" for code, count in findings.items())
        notes.append(
            ViewNote(
                text=f"The prompt breaks the tool protocol, as the file has it: {said}.",
                action="Findings",
                address=addresses.import_report(public_id),
            )
        )
    if shown.hidden.starts_in_middle:
        notes.append(
            ViewNote(
                text=f"The session starts with {shown.hidden.before_log:,} tokens that are not in this file: it continues an earlier one.",
                action="What unexplained means",
                address=f"{addresses.SETTINGS}#unexplained",
            )
        )
    if call.fidelity in ("approx", "opaque"):
        notes.append(ViewNote(text=FIDELITY[call.fidelity], action="What fidelity means", address=f"{addresses.SETTINGS}#fidelity"))
    return tuple(notes)
