"""All frames of a zstd file as one stream, in which a cut last frame is an error and no silent end.

A writer that adds a frame for each append leaves a cut last one when it is killed. `whole_frames` finds where the whole ones end, so
that they can be read without it.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import zstandard

_MAX_WINDOW_BYTES = 128 * 1024**2  # what the zstd command accepts unless it is told otherwise
# One block of four bytes can become 128 KiB, so the input is fed in slices of which at most 16 MiB come out.
_SLICE_BYTES = 512


_MAGIC = 0xFD2FB528
_SKIPPABLE, _SKIPPABLE_MASK = 0x184D2A50, 0xFFFFFFF0
_MAGIC_BYTES = 4
_DICTIONARY_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_SINGLE_SEGMENT, _CHECKSUM = 0x20, 0x04
_BLOCK_HEADER_BYTES, _CHECKSUM_BYTES = 3, 4
_RLE_BLOCK = 1


def whole_frames(file: BinaryIO) -> tuple[int, bool]:
    """Where the whole frames of a file end, and whether a cut one follows them. Nothing is unpacked: frames say how long they are.

    What is no frame at all is no cut one either: reading it finds the damage.
    """
    end = 0
    while True:
        file.seek(end)
        magic = file.read(_MAGIC_BYTES)
        if not magic or not _begins_frame(magic):
            return end, False
        following = _frame_end(file, end, magic)
        if following is None:
            return end, True
        end = following


def _begins_frame(magic: bytes) -> bool:
    """Whether these four bytes, or the fewer that there are, begin a frame."""
    number = int.from_bytes(magic.ljust(_MAGIC_BYTES, b"\0"), "little")
    if len(magic) == _MAGIC_BYTES:
        return number == _MAGIC or number & _SKIPPABLE_MASK == _SKIPPABLE
    return struct.pack("<I", _MAGIC).startswith(magic)


def _frame_end(file: BinaryIO, start: int, magic: bytes) -> int | None:
    """Where the frame that begins at `start` ends; None where the file ends before."""
    if len(magic) < _MAGIC_BYTES:
        return None
    place = start + _MAGIC_BYTES
    if int.from_bytes(magic, "little") != _MAGIC:
        size = file.read(4)
        return _within(file, place + 4 + int.from_bytes(size, "little")) if len(size) == 4 else None
    descriptor = file.read(1)
    if not descriptor:
        return None
    place += _header_bytes(descriptor[0])
    is_last = False
    while not is_last:
        file.seek(place)
        header = file.read(_BLOCK_HEADER_BYTES)
        if len(header) < _BLOCK_HEADER_BYTES:
            return None
        told = int.from_bytes(header, "little")
        is_last = bool(told & 1)
        place += _BLOCK_HEADER_BYTES + (1 if told >> 1 & 3 == _RLE_BLOCK else told >> 3)
    return _within(file, place + (_CHECKSUM_BYTES if descriptor[0] & _CHECKSUM else 0))


def _header_bytes(descriptor: int) -> int:
    """Bytes of a frame's header, from its descriptor on (RFC 8878, 3.1.1.1)."""
    is_single = bool(descriptor & _SINGLE_SEGMENT)
    content_size = _CONTENT_SIZE_BYTES[descriptor >> 6] or (1 if is_single else 0)
    return 1 + (0 if is_single else 1) + _DICTIONARY_BYTES[descriptor & 3] + content_size


def _within(file: BinaryIO, end: int) -> int | None:
    return end if end <= file.seek(0, 2) else None


class ZstdFrames:
    """`read` gives at most `size` bytes, none at the end; raises `EOFError` inside a cut frame and `ZstdError` on damage."""

    def __init__(self, file: BinaryIO, *, size: int | None = None) -> None:
        """Read `file`, or the first `size` bytes of it."""
        self._file = file
        self._left = size
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)
        self._frame = self._decompressor.decompressobj()
        self._is_inside = False
        self._packed = b""
        self._unpacked = b""
        self._at = 0

    def read(self, size: int, /) -> bytes:
        while self._at == len(self._unpacked):
            self._packed = self._packed or self._slice()
            if not self._packed:
                if self._is_inside:
                    raise EOFError("the last zstd frame is cut")
                return b""
            self._unpacked, self._at = self._unpack(), 0
        part = self._unpacked[self._at : self._at + size]
        self._at += len(part)
        return part

    def _slice(self) -> bytes:
        if self._left is None:
            return self._file.read(_SLICE_BYTES)
        piece = self._file.read(min(_SLICE_BYTES, self._left))
        self._left -= len(piece)
        return piece

    def _unpack(self) -> bytes:
        unpacked = self._frame.decompress(self._packed)
        self._is_inside = not self._frame.eof
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = self._decompressor.decompressobj()
        return unpacked

    def close(self) -> None:
        self._file.close()
