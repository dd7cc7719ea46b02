"""Durable state: facts, pending items and retrieval evidence, each with its source. It never passes through the fold, and
nothing that summarises can write it.

`values` holds the frozen kinds, `pending` the moves of an item, `evidence` what a retrieval chose and why, `canonical` the
JSON that a version stores, `succession` the difference of two states and whether one may follow the other.
"""
