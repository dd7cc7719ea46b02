"""The documented message list: our export format, and the way in for what no other format reads (docs/message_list.md)."""

from ctxweb.importers.message_list.importer import IMPORTER

__all__ = ["IMPORTER"]
