"""No wall-clock limits in property tests: the machine may be busy."""

from hypothesis import settings

settings.register_profile("compaction", deadline=None, max_examples=60)
settings.load_profile("compaction")
