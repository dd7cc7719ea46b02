"""Transcripts of learn-workbuddy (`transcripts/<session>.jsonl`), to whose lines its source pointers lead."""

from ctxweb.importers.workbuddy.importer import IMPORTER

__all__ = ["IMPORTER"]
