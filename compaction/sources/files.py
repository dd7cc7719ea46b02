"""Files below a trusted root, opened so that no name can leave it: each folder by its descriptor, no link followed.

Nothing here joins a path from parts of a pointer. A file counts only if it is a regular one with one name on the root's
own device; what is read, is read through the descriptor that was checked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds
from compaction.sources.resolution import Finding, Status

PIECE_BYTES = 1024**2

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# Without O_NONBLOCK the open of a FIFO would wait for its writer.
_LEAF = _FOLDER & ~getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

_OUTCOMES: dict[int, tuple[Status, str]] = {
    errno.ENOENT: ("missing", "{kind}_missing"),
    errno.ENAMETOOLONG: ("missing", "{kind}_missing"),
    errno.ESTALE: ("missing", "source_disappeared"),
    errno.ELOOP: ("denied", "ownership_boundary"),
    errno.ENOTDIR: ("denied", "ownership_boundary"),
    errno.EMLINK: ("denied", "ownership_boundary"),
    errno.EACCES: ("denied", "filesystem_denied"),
    errno.EPERM: ("denied", "filesystem_denied"),
    errno.ENXIO: ("corrupt", "{kind}_not_a_file"),
    errno.ENODEV: ("corrupt", "{kind}_not_a_file"),
    errno.EISDIR: ("corrupt", "{kind}_not_a_file"),
    errno.EIO: ("corrupt", "source_read_failed"),
}


class NotFoundSource(Exception):
    """Ends a look inside this package; `finding` is what it came to."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.finding = Finding(status=status, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """What a file must be. `links`: whether it may have several names, for stores that deduplicate with hard links;
    `devices`: whether it may lie on another device than its root."""

    links: bool = False
    devices: bool = False


STRICT = FileRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """An open file, and the open folder in which it was found under `name`."""

    descriptor: int
    folder: int
    name: str

    def named(self) -> os.stat_result:
        """The state of what has the name now; a link is not followed. Raises NotFoundSource where nothing has, OSError."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            raise NotFoundSource("missing", "source_disappeared") from None


class Root:
    """A trusted folder, held open. One that cannot be opened answers each look with the reason; close it, or use `with`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
            raise SourceSystemError("this system cannot open files relative to a folder: keep sources elsewhere", cause="no_dir_fd")
        self._failure: OSError | None = None
        self._descriptor = -1
        try:
            self._descriptor = os.open(path, _FOLDER)
            self.device = os.fstat(self._descriptor).st_dev
        except OSError as error:
            self._failure = error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder; looks after that are refused as system errors."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._failure = self._failure or OSError(errno.EBADF, "closed")

    @contextlib.contextmanager
    def opened(self, folders: Sequence[str], name: str) -> Iterator[OpenFile]:
        """The file `name` in nested `folders`, open. Raises OSError; a name that is no segment is refused as ENOENT."""
        if self._failure is not None:
            raise OSError(self._failure.errno, "the root cannot be used")
        current = self._descriptor
        try:
            for folder in folders:
                below = os.open(_segment(folder), _FOLDER, dir_fd=current)
                if current != self._descriptor:
                    os.close(current)
                current = below
            leaf = os.open(_segment(name), _LEAF, dir_fd=current)
            try:
                yield OpenFile(descriptor=leaf, folder=current, name=name)
            finally:
                os.close(leaf)
        finally:
            if current != self._descriptor:
                os.close(current)


def checked_file(file: OpenFile, root: Root, kind: str, rules: FileRules, most_bytes: int) -> os.stat_result:
    """The state of an open file that may be read. Raises NotFoundSource with what speaks against it."""
    state = os.fstat(file.descriptor)
    if not stat.S_ISREG(state.st_mode):
        raise NotFoundSource("corrupt", f"{kind}_not_a_file")
    if state.st_dev != root.device and not rules.devices:
        raise NotFoundSource("denied", "ownership_boundary")
    if state.st_nlink == 0:
        raise NotFoundSource("missing", "source_disappeared")
    if state.st_nlink > 1 and not rules.links:
        raise NotFoundSource("denied", "hard_link")
    if not rules.links and identity(file.named()) != identity(state):
        # It may have lost its second name after it was opened: the one name that it has must be the one in the root.
        raise NotFoundSource("corrupt", "changed_during_read")
    if state.st_size > most_bytes:
        raise NotFoundSource("corrupt", "source_too_large")
    return state


def has_changed(before: os.stat_result, file: OpenFile) -> bool:
    """Whether the open file is another one than it was: size, times, names or place; or has lost the name under the root.

    While a second name is being removed, the count of names has fallen and the name can still be looked up. Listing the
    folder waits until that is over, so the name is looked up once more behind it.
    """
    if identity(before) != identity(os.fstat(file.descriptor)):
        return True
    with os.scandir(file.folder) as listed:
        next(listed, None)
    return identity(before) != identity(file.named())


def pieces(descriptor: int, size: int, bounds: Bounds, offset: int = 0) -> Iterator[bytes]:
    """`size` bytes from `offset` in pieces of at most 1 MiB; fewer where the file ends before."""
    while size > 0 and (piece := os.pread(descriptor, min(size, PIECE_BYTES), offset)):
        bounds.spend(len(piece))
        offset, size = offset + len(piece), size - len(piece)
        yield piece


def read_at(descriptor: int, offset: int, length: int, bounds: Bounds) -> bytes:
    """Up to `length` bytes from `offset`; fewer where the file ends before."""
    return b"".join(pieces(descriptor, length, bounds, offset))


def finding_of(error: OSError, kind: str) -> Finding:
    """The status that an error of the system means. Raises SourceSystemError where it says nothing about the source."""
    known = _OUTCOMES.get(error.errno or 0)
    if known is None:
        word = errno.errorcode.get(error.errno or 0, "unknown")
        raise SourceSystemError(f"the system could not look at a source ({word}): try again", cause=word) from None
    return Finding(status=known[0], reason=known[1].format(kind=kind))


def look(attempt: Callable[[], list[Finding]], kind: str, count: int) -> list[Finding]:
    """What an attempt found; one finding for all where it ended early. Raises SourceSystemError."""
    try:
        return attempt()
    except NotFoundSource as ended:
        return [ended.finding] * count
    except OSError as error:
        return [finding_of(error, kind)] * count
    except MemoryError:
        raise SourceSystemError("there was no memory to look at a source: try again", cause="no_memory") from None


def _segment(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise FileNotFoundError(errno.ENOENT, "no path segment")
    return name


def identity(state: os.stat_result) -> tuple[int, ...]:
    """What differs where a file is another one or has changed: place, names, size and times."""
    return (state.st_dev, state.st_ino, state.st_nlink, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
