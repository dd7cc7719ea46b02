"""compaction: what a model saw, what it lost, and which rule took it.

A pure library: values in, values out. `docs/library.md` shows how to use it without the dashboard.
"""
