"""DeepSeek Harness session logs (`session.jsonl`, `session.jsonl.zstd`)."""

from ctxweb.importers.dsh.importer import IMPORTER
from ctxweb.importers.dsh.log_file import load_log

__all__ = ["IMPORTER", "load_log"]
