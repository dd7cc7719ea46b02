"""Claude Code transcripts (`~/.claude/projects/…/<session>.jsonl` and the files of subagents beside them)."""

from ctxweb.importers.claude_code.importer import IMPORTER

__all__ = ["IMPORTER"]
