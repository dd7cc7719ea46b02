"""Files at a commit of a repository of this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zlib
from contextlib import ExitStack
from pathlib import Path

import pytest

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds
from compaction.sources.resolution import SourceResolution
from compaction.sources.resolver import Resolver
from ctxweb.configured import Repository
from ctxweb.sources.base import ProjectSources
from ctxweb.sources.git_blobs import GitBlobs

pytestmark = [pytest.mark.nodb, pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on this machine")]

TEXT = "def port() -> int:\n    return 5433\n"


class Repo:
    """A repository with one commit, made by git itself."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.git("init", "--quiet", *options, str(folder), where=folder.parent)
        (folder / "src" / ".hidden").mkdir(parents=True)
        (folder / "src" / "__init__.py").write_text(TEXT)
        (folder / "src" / ".hidden" / "x.bin").write_bytes(b"\xff")
        (folder / "link").symlink_to("src/__init__.py")
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "one")
        self.commit = self.git("rev-parse", "HEAD")

    def git(self, *arguments: str, where: Path | None = None) -> str:
        who = {
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        done = subprocess.run(("git", *arguments), cwd=where or self.folder, env={**quiet, **who}, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def object_file(self, name: str) -> Path:
        return self.folder / ".git" / "objects" / name[:2] / name[2:]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return Repo(tmp_path_factory.mktemp("git") / "app")


@pytest.fixture
def repo(made: Repo, tmp_path: Path) -> Repo:
    """A copy of it, that a test may damage."""
    copy = object.__new__(Repo)
    copy.folder, copy.commit = tmp_path / "app", made.commit
    shutil.copytree(made.folder, copy.folder, symlinks=True)
    return copy


def resolve(repo: Repo, place: str, **bounds: int) -> SourceResolution:
    repositories = {"app": Repository(name="app", folder=str(repo.folder), projects=("local",))}
    scheme = GitBlobs.of(ProjectSources(project="local", repositories=repositories), ExitStack())
    resolver = Resolver(schemes=(scheme,), authorise=scheme.allows, bounds=Bounds(**bounds), tries=1)  # type: ignore[arg-type]
    return resolver.resolve(f"file+git:{place}")


def look(repo: Repo, place: str, **bounds: int) -> tuple[str, str]:
    found = resolve(repo, place, **bounds)
    return found.status, found.reason


def test_a_file_of_a_commit_is_available_with_its_digest(repo: Repo) -> None:
    found = resolve(repo, f"app:{repo.commit}:src/__init__.py")
    assert (found.status, found.reason, found.excerpt) == ("available", "verified_blob", TEXT)
    assert found.evidence_sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


def test_it_stays_what_it_was_when_the_branch_goes_on_and_when_objects_are_packed(repo: Repo) -> None:
    (repo.folder / "src" / "__init__.py").write_text("other\n")
    repo.git("commit", "--quiet", "-am", "two")
    repo.git("gc", "--quiet")
    assert resolve(repo, f"app:{repo.commit}:src/__init__.py").excerpt == TEXT


def test_names_of_64_digits_are_taken_too(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "app", "--object-format=sha256")
    assert len(repo.commit) == 64
    assert look(repo, f"app:{repo.commit}:src/__init__.py") == ("available", "verified_blob")


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("app:{commit}:src/none.py", ("missing", "blob_missing")),
        ("app:{commit}:none/x.py", ("missing", "blob_missing")),
        ("app:" + "0" * 40 + ":src/__init__.py", ("missing", "blob_missing")),
        ("app:{tree}:src/__init__.py", ("missing", "blob_missing")),  # no commit
        ("app:{commit}:src", ("denied", "ownership_boundary")),
        ("app:{commit}:link", ("denied", "ownership_boundary")),
        ("app:{commit}:src/__init__.py/x", ("denied", "ownership_boundary")),
        ("app:{commit}:src/.hidden/x.bin", ("corrupt", "blob_not_utf8")),
        ("other:{commit}:src/__init__.py", ("denied", "policy_denied")),
        ("app:HEAD:src/__init__.py", ("corrupt", "malformed_pointer")),
        ("app:{commit}:../app/src/__init__.py", ("corrupt", "malformed_pointer")),
        ("app:{commit}:", ("corrupt", "malformed_pointer")),
        ("--upload-pack=x:{commit}:src/__init__.py", ("corrupt", "malformed_pointer")),
    ],
)
def test_what_is_not_a_file_of_the_commit(repo: Repo, place: str, found: tuple[str, str]) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}")
    assert look(repo, place.format(commit=repo.commit, tree=tree)) == found


def test_an_altered_object_is_found_out(repo: Repo) -> None:
    """Git itself reads it without a word."""
    name = repo.git("rev-parse", "HEAD:src/__init__.py")
    file = repo.object_file(name)
    file.chmod(0o644)
    file.write_bytes(zlib.compress(zlib.decompress(file.read_bytes()).replace(b"5433", b"5432")))
    assert look(repo, f"app:{repo.commit}:src/__init__.py") == ("corrupt", "blob_digest_mismatch")


def test_a_replacement_and_a_missing_object_do_not_pass(repo: Repo) -> None:
    name = repo.git("rev-parse", "HEAD:src/__init__.py")
    (repo.folder / "other.txt").write_text("other\n")
    repo.git("replace", name, repo.git("hash-object", "-w", "other.txt"))
    assert resolve(repo, f"app:{repo.commit}:src/__init__.py").excerpt == TEXT
    repo.object_file(name).unlink()
    assert look(repo, f"app:{repo.commit}:src/__init__.py") == ("missing", "blob_missing")


def test_a_file_that_is_too_large_is_passed_over_and_the_next_is_read(repo: Repo) -> None:
    (repo.folder / "large.txt").write_text("x" * 1_000)
    repo.git("add", "-A")
    repo.git("commit", "--quiet", "-m", "large")
    commit = repo.git("rev-parse", "HEAD")
    repositories = {"app": Repository(name="app", folder=str(repo.folder), projects=("local",))}
    scheme = GitBlobs.of(ProjectSources(project="local", repositories=repositories), ExitStack())
    resolver = Resolver(schemes=(scheme,), authorise=scheme.allows, bounds=Bounds(most_source_bytes=999))
    found = resolver.resolve_all(f"file+git:app:{commit}:{path}" for path in ("large.txt", "src/__init__.py")).resolutions
    assert [one.reason for one in found] == ["source_too_large", "verified_blob"]


def test_no_git_and_no_repository_are_no_statuses(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"app:{repo.commit}:src/__init__.py"
    shutil.rmtree(repo.folder / ".git")
    with pytest.raises(SourceSystemError):
        look(repo, place)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SourceSystemError, match="git"):
        look(repo, place)
