"""Replay over stored sessions: rows to a lane that can be replayed, settings to a policy, a replay to its figures.

Nothing here writes. Pages and twins show what it gives, `ctxweb.services.history_replay` stores it.
"""
