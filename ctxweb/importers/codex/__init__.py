"""OpenAI Codex CLI rollouts (`~/.codex/sessions/…/rollout-….jsonl`)."""

from ctxweb.importers.codex.importer import IMPORTER

__all__ = ["IMPORTER"]
