"""All frames of a zstd file as one stream, in which a cut last frame is an error and no silent end."""

from __future__ import annotations

from typing import BinaryIO

import zstandard

_MAX_WINDOW_BYTES = 128 * 1024**2  # what the zstd command accepts unless it is told otherwise
# One block of four bytes can become 128 KiB, so the input is fed in slices of which at most 16 MiB come out.
_SLICE_BYTES = 512


class ZstdFrames:
    """`read` gives at most `size` bytes, none at the end; raises `EOFError` inside a cut frame and `ZstdError` on damage."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)
        self._frame = self._decompressor.decompressobj()
        self._is_inside = False
        self._packed = b""
        self._unpacked = b""
        self._at = 0

    def read(self, size: int, /) -> bytes:
        while self._at == len(self._unpacked):
            self._packed = self._packed or self._file.read(_SLICE_BYTES)
            if not self._packed:
                if self._is_inside:
                    raise EOFError("the last zstd frame is cut")
                return b""
            self._unpacked, self._at = self._unpack(), 0
        part = self._unpacked[self._at : self._at + size]
        self._at += len(part)
        return part

    def _unpack(self) -> bytes:
        unpacked = self._frame.decompress(self._packed)
        self._is_inside = not self._frame.eof
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = self._decompressor.decompressobj()
        return unpacked

    def close(self) -> None:
        self._file.close()
