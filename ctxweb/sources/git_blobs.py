"""`file+git:<repository>:<commit>:<path>`: a file as a commit of a configured repository holds it.

The commit's name proves everything: commit, trees and blob are hashed here, so a repository whose objects were altered is
found out. Git is asked for objects by their names alone; nothing is checked out, and nothing is fetched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Literal, NamedTuple, Self

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds, Found
from compaction.sources.files import PIECE_BYTES, NotFoundSource, Root
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding
from ctxweb.configured import Repository
from ctxweb.sources.base import ProjectSources, verified_text
from ctxweb.sources.grammars import GitGrammar
from ctxweb.sources.marks import file_mark

LONGEST_SECONDS = 30.0
MOST_TREE_BYTES = 16 * 1024**2  # of a commit or a tree; a blob may be as large as any source
_FILE_MODES = (b"100644", b"100755")
_TREE_MODE = b"40000"
_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class _Object(NamedTuple):
    kind: bytes
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBlobs:
    """The repositories of the project."""

    sources: ProjectSources
    name: Literal["file+git"] = "file+git"

    @classmethod
    def of(cls, sources: ProjectSources, opened: ExitStack) -> Self:
        return cls(sources=sources)

    def parse(self, raw: str) -> SourcePointer:
        return GitGrammar().parse(raw)

    def allows(self, pointer: SourcePointer) -> bool:
        repository = self.sources.repositories.get(pointer.session_id)
        return repository is not None and self.sources.project in repository.projects

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """All pointers of a repository through one process of git."""
        found: list[Found] = []
        with _objects(self.sources.repositories[session_id]) as objects:
            for pointer in pointers:
                bounds.start()
                try:
                    found.append(objects.file(commit=pointer.place[0], path=pointer.place[1], bounds=bounds))
                except NotFoundSource as ended:
                    found.append(ended.finding)
        return found

    def marks(self, session_id: str, pointers: Sequence[SourcePointer]) -> list[Hashable]:
        """A commit does not change, so only what may take objects away is looked at: the repository and its packs."""
        with Root(self.sources.repositories[session_id].folder) as root:
            names = (("objects", "pack"), (".git", "objects", "pack"), ("packed-refs",), (".git", "packed-refs"))
            mark = tuple(file_mark(root, (*folders, name)[:-1], (*folders, name)[-1]) for *folders, name in names)
        return [mark] * len(pointers)


@contextmanager
def _objects(repository: Repository) -> Iterator[_Objects]:
    git = shutil.which("git")
    if git is None:
        raise SourceSystemError("there is no git: install it, or name no repositories", cause="no_git")
    command = (git, f"--git-dir={_git_folder(repository)}", "-c", "safe.directory=*", "-c", "protocol.allow=never", "cat-file", "--batch")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_QUIET)
    ended = threading.Timer(LONGEST_SECONDS, process.kill)
    ended.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        yield _Objects(process.stdin, process.stdout)
    except (BrokenPipeError, EOFError):
        raise SourceSystemError("git ended before it answered: try again", cause="git_ended") from None
    finally:
        ended.cancel()
        process.kill()
        process.communicate()


def _git_folder(repository: Repository) -> str:
    inside = os.path.join(repository.folder, ".git")
    return inside if os.path.isdir(inside) else repository.folder


class _Objects:
    """Objects by their names, each proved by its hash."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions, self._answers = questions, answers

    def file(self, *, commit: str, path: str, bounds: Bounds) -> Finding:
        """The file at `path` of the commit, read once. Raises NotFoundSource."""
        name = self._whole(commit, b"commit", bounds).partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace")
        *folders, leaf = path.split("/")
        for folder in folders:
            name = self._entry(name, folder, (_TREE_MODE,), bounds)
        name = self._entry(name, leaf, _FILE_MODES, bounds)
        found = self._asked(name, b"blob", bounds)
        if found.size > bounds.most_source_bytes:
            self._pass_over(found.size, bounds)
            raise NotFoundSource("corrupt", "source_too_large")
        digest = _hash_of(name, found)
        finding = verified_text(self._chunks(found.size, digest), bounds, kind="blob")
        if digest.hexdigest() != name:
            raise NotFoundSource("corrupt", "blob_digest_mismatch")
        return finding

    def _entry(self, tree: str, name: str, modes: Sequence[bytes], bounds: Bounds) -> str:
        rest, wanted, digits = self._whole(tree, b"tree", bounds), name.encode(), len(tree) // 2
        while rest:
            head, _, rest = rest.partition(b"\0")
            mode, _, found = head.partition(b" ")
            entry, rest = rest[:digits], rest[digits:]
            if found == wanted:
                if mode not in modes:
                    raise NotFoundSource("denied", "ownership_boundary")  # a link, another repository, or a folder
                return entry.hex()
        raise NotFoundSource("missing", "blob_missing")

    def _whole(self, name: str, kind: bytes, bounds: Bounds) -> bytes:
        found = self._asked(name, kind, bounds)
        if found.size > MOST_TREE_BYTES:
            self._pass_over(found.size, bounds)
            raise NotFoundSource("corrupt", "source_too_large")
        digest = _hash_of(name, found)
        whole = b"".join(self._chunks(found.size, digest))
        bounds.spend(len(whole))
        if digest.hexdigest() != name:
            raise NotFoundSource("corrupt", "blob_digest_mismatch")
        return whole

    def _asked(self, name: str, kind: bytes, bounds: Bounds) -> _Object:
        self._questions.write(name.encode() + b"\n")
        self._questions.flush()
        words = self._answers.readline().split()
        if not words:
            raise EOFError
        if words[-1] == b"missing":
            raise NotFoundSource("missing", "blob_missing")
        found = _Object(words[1], int(words[2]))
        if found.kind != kind:
            self._pass_over(found.size, bounds)
            raise NotFoundSource("missing", "blob_missing")
        return found

    def _pass_over(self, size: int, bounds: Bounds) -> None:
        """Read an object away, so that the next answer is that of the next question."""
        for chunk in self._chunks(size, hashlib.sha256()):
            bounds.spend(len(chunk))

    def _chunks(self, size: int, digest: hashlib._Hash) -> Iterator[bytes]:
        """An object's content, and the line end behind it."""
        while size > 0:
            chunk = self._answers.read(min(size, PIECE_BYTES))
            if not chunk:
                raise EOFError
            digest.update(chunk)
            size -= len(chunk)
            yield chunk
        self._answers.read(1)


def _hash_of(name: str, found: _Object) -> hashlib._Hash:
    """Git hashes an object with its kind and size before it; SHA-1 where names have 40 digits."""
    digest = hashlib.sha1(usedforsecurity=False) if len(name) == 40 else hashlib.sha256()
    digest.update(b"%s %d\0" % found)
    return digest
