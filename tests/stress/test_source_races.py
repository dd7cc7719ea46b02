"""Somebody who can write in an artifact root swaps what a pointer names while it is looked at (campaign X4).

The attacker is another process that never stops. The pointer carries the digest of the secret that lies outside, so an
answer that is `available`, or has a byte of the secret in it, is a leak. `CTXWEB_STRESS=full` makes each race 60 s long.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compaction.sources.artifact import Artifacts
from compaction.sources.files import Root
from compaction.sources.resolution import STATUSES, SourceResolution
from compaction.sources.resolver import Resolver
from compaction.sources.transcript import Transcripts

pytestmark = pytest.mark.nodb
SECONDS = 60.0 if os.environ.get("CTXWEB_STRESS") == "full" else 1.2
LONGEST_LOOK = 2.0
SECRET = "outside secret " * 20
OWN = "own artifact " * 20
RENAME_EXCHANGE = 2
AT_FDCWD = -100

_exchange = ctypes.CDLL(None, use_errno=True).renameat2


@dataclass(frozen=True, kw_only=True)
class Place:
    """A root with one artifact, and a file outside of it."""

    root: Path
    outside: Path

    @property
    def folder(self) -> Path:
        return self.root / "s1" / "tool-results"

    @property
    def leaf(self) -> Path:
        return self.folder / "r.txt"

    @property
    def spare(self) -> Path:
        return self.folder / ".spare"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(root=tmp_path / "root", outside=tmp_path / "outside")
    made.folder.mkdir(parents=True)
    (made.outside / "tool-results").mkdir(parents=True)
    made.leaf.write_text(OWN)
    (made.outside / "secret.txt").write_text(SECRET)
    (made.outside / "tool-results" / "r.txt").write_text(SECRET)
    return made


def put(place: Place, make: Callable[[], object]) -> None:
    """What `make` leaves under the spare name takes the place of the leaf."""
    with contextlib.suppress(FileNotFoundError):
        place.spare.unlink()
    make()
    place.spare.replace(place.leaf)


def swap_leaf_and_link(place: Place) -> None:
    put(place, lambda: place.spare.symlink_to(place.outside / "secret.txt"))
    put(place, lambda: place.spare.write_text(OWN))


def exchange_parent_and_link(place: Place) -> None:
    link = place.root / "link"
    if not link.exists():
        link.symlink_to(place.outside)
    if _exchange(AT_FDCWD, bytes(place.root / "s1"), AT_FDCWD, bytes(link), RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")


def swap_leaf_and_pipe(place: Place) -> None:
    put(place, lambda: os.mkfifo(place.spare))
    put(place, lambda: place.spare.write_text(OWN))


def link_and_unlink(place: Place) -> None:
    """The secret has a second name in the root for a moment only."""
    with contextlib.suppress(FileNotFoundError):
        place.leaf.unlink()
    os.link(place.outside / "secret.txt", place.leaf)


def rewrite(place: Place) -> None:
    """The bytes alternate in place, so that a read may meet a mixture."""
    for letter in (b"a", b"b"):
        with place.leaf.open("r+b") as file:
            file.write(letter * 300_000)


@contextlib.contextmanager
def attacked(place: Place, attack: Callable[[Place], None]) -> Iterator[None]:
    """`attack` goes on in another process until the block ends; it must not have failed."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                attack(place)
        except BaseException as error:
            os.write(2, f"the attacker failed: {error!r}\n".encode())
            os._exit(1)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGKILL


def looks(place: Place, pointer: str) -> Iterator[SourceResolution]:
    """Looks at the pointer until the time is over. A look that hangs ends the test by an alarm."""

    def hung(*_: object) -> None:
        raise TimeoutError(f"a look took more than {LONGEST_LOOK} s")

    before = signal.signal(signal.SIGALRM, hung)
    end = time.monotonic() + SECONDS
    with Root(place.root) as root:
        resolver = Resolver(schemes=(Artifacts(root=root), Transcripts(root=root)), authorise=lambda _: True)
        while time.monotonic() < end:
            signal.setitimer(signal.ITIMER_REAL, LONGEST_LOOK)
            answer = resolver.resolve(pointer)
            signal.setitimer(signal.ITIMER_REAL, 0)
            yield answer
    signal.signal(signal.SIGALRM, before)


def pointer_to(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return f"artifact:s1:r.txt:{hashlib.sha256(raw).hexdigest()}"


@pytest.mark.parametrize("attack", [swap_leaf_and_link, exchange_parent_and_link, swap_leaf_and_pipe, link_and_unlink])
def test_no_race_leaks_what_is_outside_or_hangs(place: Place, attack: Callable[[Place], None]) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    with attacked(place, attack):
        for answer in looks(place, pointer_to(SECRET)):
            seen[answer.status, answer.reason] += 1
            assert answer.status != "available", answer.reason
            assert "secret" not in repr(answer) + str(answer.excerpt)
    assert sum(seen.values()) > 10
    assert {status for status, _ in seen} <= set(STATUSES)


def test_a_file_that_changes_under_the_hash_is_available_as_one_of_its_states_or_not_at_all(place: Place) -> None:
    states = {hashlib.sha256(letter * 300_000).hexdigest() for letter in (b"a", b"b")}
    place.leaf.write_bytes(b"a" * 300_000)
    with attacked(place, rewrite):
        answers = [(one.status, one.reason, one.evidence_sha256) for one in looks(place, pointer_to(b"a" * 300_000))]
    assert len(answers) > 10
    assert {digest for status, _, digest in answers if status == "available"} <= states
    assert {reason for _, reason, _ in answers} <= {"verified_artifact", "artifact_digest_mismatch", "changed_during_read"}


def test_a_transcript_that_is_a_second_name_for_a_moment_is_not_read(place: Place) -> None:
    leaf, secret = place.root / "s1.jsonl", place.outside / "secret.jsonl"
    secret.write_text('{"content": "outside secret"}\n')

    def attack(_: Place) -> None:
        leaf.unlink(missing_ok=True)
        os.link(secret, leaf)

    with attacked(place, attack):
        for answer in looks(place, "transcript:s1:1"):
            assert answer.status != "available", answer.reason
