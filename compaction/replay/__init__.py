"""Replay: what a policy would have done to a recorded lane, call by call, without looking at every call.

`replayable(events, …)` or `replayable_of(rows, …)` make a `Replayable` of a lane once; `replay(session, policy)` gives the
firings, totals and findings of one policy over it; `history_of` folds them into the spans and the ledger of a history.
"""
