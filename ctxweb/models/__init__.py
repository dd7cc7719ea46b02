"""What is stored. Raw bytes are the truth (`Source`, `Record`); what was made of them can be rebuilt from them.

Durable state and audit are no part of that: people and harnesses wrote them, so they are append-only and hang on public ids.
"""

from ctxweb.models.audit import AuditEntry, AuditHead, SignOff
from ctxweb.models.bodies import Body, TokenCount
from ctxweb.models.durable import DurableDecision, DurableItem, DurableProposal, DurableVersion
from ctxweb.models.histories import AddedBlock, Compaction, History, LedgerEntry, Span
from ctxweb.models.jobs import Job
from ctxweb.models.projects import LOCAL, Project
from ctxweb.models.sessions import Block, Finding, Message, ModelCall, Revision, Session
from ctxweb.models.sources import Record, Source
from ctxweb.models.summaries import Breaker, CheckpointAnalysis, Summary, SummaryCall

__all__ = [
    "LOCAL",
    "AddedBlock",
    "AuditEntry",
    "AuditHead",
    "Block",
    "Body",
    "Breaker",
    "CheckpointAnalysis",
    "Compaction",
    "DurableDecision",
    "DurableItem",
    "DurableProposal",
    "DurableVersion",
    "Finding",
    "History",
    "Job",
    "LedgerEntry",
    "Message",
    "ModelCall",
    "Project",
    "Record",
    "Revision",
    "Session",
    "SignOff",
    "Source",
    "Span",
    "Summary",
    "SummaryCall",
    "TokenCount",
]
