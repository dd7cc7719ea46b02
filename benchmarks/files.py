"""Where the files of a generated session lie; apart from the generator, which the runner does not load."""

from pathlib import Path


def grown_file(file: Path) -> Path:
    """The session `file` after it went on."""
    return file.with_suffix(".grown.jsonl")
