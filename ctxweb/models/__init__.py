"""What is stored. Raw bytes are the truth (`Source`, `Record`); every other table can be rebuilt from them."""

from ctxweb.models.bodies import Body, TokenCount
from ctxweb.models.histories import AddedBlock, Compaction, History, LedgerEntry, Span
from ctxweb.models.jobs import Job
from ctxweb.models.sessions import Block, Finding, Message, ModelCall, Revision, Session
from ctxweb.models.sources import Record, Source

__all__ = [
    "AddedBlock",
    "Block",
    "Body",
    "Compaction",
    "Finding",
    "History",
    "Job",
    "LedgerEntry",
    "Message",
    "ModelCall",
    "Record",
    "Revision",
    "Session",
    "Source",
    "Span",
    "TokenCount",
]
