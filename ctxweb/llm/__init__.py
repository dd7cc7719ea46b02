"""Models that write summaries: one bounded request a call, and one failure with a code and what to do. No database, no queue."""
