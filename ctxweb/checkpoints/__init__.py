"""The checkpoints of sessions: what their files recorded and what summary jobs made, their ranges, and what is found in them."""
