"""Raw bytes are kept under their hash, whole or not at all."""

import fcntl
import hashlib
import io
import os
from typing import Any

import pytest

from ctxweb import storage
from ctxweb.home import Home

pytestmark = pytest.mark.nodb


class Broken(io.BytesIO):
    """A stream that ends in an error of the system."""

    def __init__(self, number: int) -> None:
        super().__init__(b"half")
        self.number = number

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size)
        if not piece:
            raise OSError(self.number, os.strerror(self.number))
        return piece


def test_bytes_are_kept_under_their_hash(home: Home) -> None:
    blob = storage.blob_write(stream=io.BytesIO(b"some bytes"))
    assert blob.sha256 == hashlib.sha256(b"some bytes").hexdigest()
    assert blob.path == home.blobs / blob.sha256[:2] / blob.sha256
    with storage.blob_read(sha256=blob.sha256) as stream:
        assert stream.read() == b"some bytes"
    assert list(storage.blob_names()) == [blob.sha256]
    assert storage.blob_verify(sha256=blob.sha256)


def test_the_same_bytes_again_change_nothing(home: Home) -> None:
    first, second = (storage.blob_write(stream=io.BytesIO(b"twice")) for _ in range(2))
    assert first == second
    assert len(list(home.blobs.rglob("*"))) == 2  # a folder, and a file in it


@pytest.mark.parametrize(("number", "code"), [(28, "disk_full"), (5, "unwritable")])
def test_a_write_that_fails_leaves_nothing_and_says_why(home: Home, number: int, code: str) -> None:
    with pytest.raises(storage.StorageError) as raised:
        storage.blob_write(stream=Broken(number))
    assert raised.value.code == code
    assert list(home.blobs.iterdir()) == []


@pytest.mark.parametrize(("size", "fits"), [(9, True), (10, True), (11, False)])
def test_a_source_above_the_limit_is_refused(home: Home, settings: Any, size: int, fits: bool) -> None:
    settings.CTXWEB_MAX_UPLOAD_BYTES = 10
    if fits:
        assert storage.blob_write(stream=io.BytesIO(b"x" * size)).size == size
        return
    with pytest.raises(storage.StorageError, match="CTXWEB_MAX_UPLOAD_BYTES"):
        storage.blob_write(stream=io.BytesIO(b"x" * size))


def test_changed_and_missing_bytes_are_noticed(home: Home) -> None:
    blob = storage.blob_write(stream=io.BytesIO(b"good"))
    blob.path.write_bytes(b"evil")
    assert not storage.blob_verify(sha256=blob.sha256)
    storage.blob_delete(sha256=blob.sha256)
    assert not storage.blob_verify(sha256=blob.sha256)
    with pytest.raises(storage.StorageError, match="backup"):
        storage.blob_read(sha256=blob.sha256)
    storage.blob_delete(sha256=blob.sha256)


def test_what_dead_writers_left_is_removed_and_what_living_ones_write_is_not(home: Home) -> None:
    left = home.blobs / f"{storage.TEMPORARY_PREFIX}left"
    left.write_bytes(b"half")
    assert storage.leftovers_remove() == 0  # too young to be sure
    with left.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert storage.leftovers_remove(older_than=0) == 0
    assert storage.leftovers_remove(older_than=0) == 1
    assert not left.exists()
