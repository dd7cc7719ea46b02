"""The dashboard: what a model saw, what it lost, which rule took it."""
