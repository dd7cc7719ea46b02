"""Transcript archives of learn-claude-code (`.transcripts/transcript_….jsonl`): the messages as they were before a compaction."""

from ctxweb.importers.learn_claude_code.importer import IMPORTER

__all__ = ["IMPORTER"]
