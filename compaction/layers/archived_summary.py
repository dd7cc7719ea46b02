"""One message of the user with a summary in place of the first messages of a view, which are archived before."""

from __future__ import annotations

from compaction.ask import Ask, Asked, SummaryRequest
from compaction.checkpoints import is_checkpoint
from compaction.edits import summarise
from compaction.errors import StoreError, SummarizerError
from compaction.layers.base import text_message
from compaction.view import Plan, PromptView, ViewMessage

COMPACTED = "[Compacted]\n\n"
REACTIVE = "[Reactive compact]\n\n"


def archived_summary(view: PromptView, count: int, opening: str, ask: Ask, *, focus: str = "", most_tokens: int) -> Plan:
    """A summary, under `opening`, of the first `count` messages; the whole view goes to the archive before.

    Nothing is planned where the archive or the summarizer fails, or where the summary is blank.
    """
    messages = view.messages[:count]
    if not messages:
        return Plan(skipped="there is nothing to summarise")
    if len(messages) == 1 and _is_summary(view, messages[0]):
        return Plan(skipped="all that could be summarised is one summary")
    try:
        ask.archive(view)
    except StoreError as failed:
        return Plan(skipped=f"no summary without an archive: {failed}")
    try:
        summary = ask.summarize(SummaryRequest(messages=messages, view=view, focus=focus, most_tokens=most_tokens))
    except SummarizerError as failed:
        return _no_summary(Asked(messages=count, outcome="failed", reason=str(failed)))
    if summary is None or not summary.strip():
        return _no_summary(Asked(messages=count, outcome="blank"))
    takes = [block for message in messages for block in message.ids]
    put = text_message(view.next_seq, "user", opening + summary, "summary")
    return Plan(edits=(summarise(takes, [put.seq]),), added=(put,), asked=(Asked(messages=count, outcome="ok"),))


def _is_summary(view: PromptView, message: ViewMessage) -> bool:
    return message.origin == "summary" or (message.role == "user" and is_checkpoint(view.pricer.text(message.blocks[0].body)))


def _no_summary(asked: Asked) -> Plan:
    return Plan(skipped=f"the summary of {asked.messages} messages is {asked.outcome}: they stay", asked=(asked,))
