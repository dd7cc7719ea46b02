"""OpenAI Chat Completions and Responses: message lists, requests, responses, and logs of them."""

from ctxweb.importers.openai_messages.importer import IMPORTER

__all__ = ["IMPORTER"]
