"""What a checkpoint carries of the range that it stands for: items, doubts, claims, contradictions, survival, canaries.

It reads and tells. It writes no durable state and no view, and what it finds in a summary is never taken for a fact.
"""
