"""Anthropic Messages API: requests, responses, message lists, and logs of them."""

from ctxweb.importers.anthropic_messages.importer import IMPORTER

__all__ = ["IMPORTER"]
