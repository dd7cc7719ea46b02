"""What a file holds: itself, or what is packed in it, as streams of UTF-8 (gzip, zstd and zip, by their magic bytes).

One level only: nothing that comes out of an archive is unpacked again. No member is ever written under its name. What an
archive says about its sizes is checked before reading, what it really yields while reading.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from functools import partial
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from ctxweb.importers.physical.encoding import open_utf8
from ctxweb.importers.physical.errors import BadArchive, EmptySource, TooLarge
from ctxweb.importers.physical.layout import Opener
from ctxweb.importers.physical.metered import ARCHIVE_ERRORS, Metered
from ctxweb.importers.physical.records import ReadLimits
from ctxweb.importers.physical.zstd_frames import ZstdFrames, whole_frames

Packing = Literal["plain", "gzip", "zstd", "zip"]

_MAGIC: tuple[tuple[bytes, Packing], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # without any member
)
_MAGIC_BYTES = 4
_ENCRYPTED = 1
_MAC_RESOURCE_FORKS = "__MACOSX/"  # macOS packs one beside each file; they are never sessions


class Member(NamedTuple):
    """One source. `name` is what the archive calls it, a label and nothing else; None where there is no archive of files.

    `is_cut`: the file ends inside what was appended to it last, of which nothing is read.
    """

    name: str | None
    open: Opener
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    packing: Packing
    members: tuple[Member, ...]


def open_stream(path: Path, *, limits: ReadLimits) -> Unpacked:
    """The sources in the file at `path`. Raises `EmptySource`, `TooLarge` or `BadArchive`; what shows only while a member
    is read is raised by its stream. Each opener gives a new stream, which the caller closes."""
    size = path.stat().st_size
    if size == 0:
        raise EmptySource("The file is empty. Choose the session file itself, or import it again once it is written.")
    packing = _packing_of(path)
    if packing == "zip":
        return Unpacked(packing=packing, members=_zip_members(path, limits))
    if packing == "plain" and size > limits.max_expanded_bytes:
        raise _too_large(size, limits)
    if packing == "zstd":
        return Unpacked(packing=packing, members=(_zstd_member(path, size, limits),))
    return Unpacked(packing=packing, members=(Member(None, partial(open_utf8, _opener(path, packing, size, limits))),))


def _packing_of(path: Path) -> Packing:
    with path.open("rb") as file:
        magic = file.read(_MAGIC_BYTES)
    return next((packing for start, packing in _MAGIC if magic.startswith(start)), "plain")


def _too_large(size: int, limits: ReadLimits) -> TooLarge:
    return TooLarge(
        f"The source is {size:,} bytes long unpacked, more than the limit of {limits.max_expanded_bytes:,}. "
        "Split it, or raise the limit for unpacked bytes."
    )


def _opener(path: Path, packing: Packing, size: int, limits: ReadLimits) -> Opener:
    if packing == "gzip":
        return partial(_open_gzip, path, size, limits)
    return partial(_open_plain, path)


def _open_plain(path: Path) -> BinaryIO:
    return path.open("rb", buffering=0)  # the reader asks for large pieces


def _open_gzip(path: Path, size: int, limits: ReadLimits) -> BinaryIO:
    return _buffered(Metered(GzipFile(path, "rb"), packed_bytes=size, limits=limits))


def _zstd_member(path: Path, size: int, limits: ReadLimits) -> Member:
    """The frames of the file; a cut one behind whole ones is left out, one that is cut and alone is damage."""
    with path.open("rb") as file:
        end, is_cut = whole_frames(file)
    is_cut = is_cut and end > 0
    return Member(None, partial(open_utf8, partial(_open_zstd, path, end if is_cut else size, limits)), is_cut)


def _open_zstd(path: Path, size: int, limits: ReadLimits) -> BinaryIO:
    return _buffered(Metered(ZstdFrames(path.open("rb"), size=size), packed_bytes=size, limits=limits))


def _buffered(raw: io.RawIOBase) -> BinaryIO:
    return io.BufferedReader(raw, 256 * 1024)


def _zip_members(path: Path, limits: ReadLimits) -> tuple[Member, ...]:
    try:
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
    except ARCHIVE_ERRORS as error:
        raise BadArchive("The zip archive cannot be read: its list of files is damaged. Pack the files again.") from error
    files = [entry for entry in listed if not entry.is_dir() and not entry.filename.startswith(_MAC_RESOURCE_FORKS)]
    if not files:
        raise EmptySource("The zip archive holds no file. Pack the session files and import it again.")
    if len(files) > limits.max_members:
        raise TooLarge(
            f"The zip archive holds {len(files):,} files, more than the limit of {limits.max_members:,}. "
            "Pack fewer files into one archive, or raise the limit for files in an archive."
        )
    total = sum(entry.file_size for entry in files)
    if total > limits.max_expanded_bytes:
        raise _too_large(total, limits)
    return tuple(Member(entry.filename, partial(open_utf8, partial(_open_zip_member, path, entry, limits))) for entry in files)


def _open_zip_member(path: Path, entry: zipfile.ZipInfo, limits: ReadLimits) -> BinaryIO:
    if entry.flag_bits & _ENCRYPTED:
        raise BadArchive("The zip archive is encrypted. Pack the files again without a password.")
    archive = zipfile.ZipFile(path)
    try:
        member = archive.open(entry)
    except ARCHIVE_ERRORS as error:
        archive.close()
        raise BadArchive(
            "A file of the zip archive cannot be unpacked: it is damaged or packed in an unknown way. Pack it again."
        ) from error
    return _buffered(Metered(member, packed_bytes=entry.compress_size, limits=limits, archive=archive))
