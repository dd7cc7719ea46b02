"""Cheap states of files, for the watch: what differs when somebody touched one."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence

from compaction.sources.files import Root


def file_mark(root: Root, folders: Sequence[str], name: str) -> Hashable:
    """The state of a file as far as it tells without being read: its identity, size, times and names; else the error's number."""
    try:
        with root.opened(folders, name) as file:
            state = os.fstat(file.descriptor)
    except OSError as error:
        return error.errno
    return (state.st_dev, state.st_ino, state.st_mode, state.st_nlink, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
