"""What the numbers of a history can honestly say: estimates, unexplained tokens, inferred events, cache, fidelity."""
