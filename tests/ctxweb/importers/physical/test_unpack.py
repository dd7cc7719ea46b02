"""What a file holds: itself, or what is packed in it; traps and damage are errors that say so."""

import bz2
import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from ctxweb.importers.physical import (
    BadArchive,
    EmptySource,
    PhysicalError,
    ReadLimits,
    TooLarge,
    Unpacked,
    open_stream,
    read_head,
    read_records,
)
from tests.ctxweb.importers.physical.sources import LIMITS, read, session_lines, verdicts

pytestmark = pytest.mark.nodb

TEXT = b"\n".join(session_lines(500)) + b"\n"
SKIPPABLE_FRAME = struct.pack("<II", 0x184D2A50, 5) + b"12345"


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def unpack(tmp_path: Path) -> Callable[..., Unpacked]:
    def write_and_open(data: bytes, limits: ReadLimits = LIMITS) -> Unpacked:
        path = tmp_path / "given"
        path.write_bytes(data)
        return open_stream(path, limits=limits)

    return write_and_open


def content(unpacked: Unpacked, member: int = 0) -> bytes:
    with unpacked.members[member].open() as stream:
        return stream.read()


@pytest.mark.parametrize(
    ("packing", "data"),
    [
        ("plain", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])),
        ("zstd", zstd(TEXT)),
        ("zstd", zstd(TEXT[:1000]) + SKIPPABLE_FRAME + zstd(b"") + zstd(TEXT[1000:])),
        ("zip", zipped({"a.jsonl": TEXT})),
        ("zip", zipped({"a.jsonl": TEXT}, zipfile.ZIP_STORED)),
        ("zip", zipped({"a.jsonl": TEXT}, zipfile.ZIP_BZIP2)),
        ("zip", zipped({"a.jsonl": TEXT}, zipfile.ZIP_LZMA)),
    ],
)
def test_every_packing_gives_the_same_text_each_time(unpack: Callable[..., Unpacked], packing: str, data: bytes) -> None:
    unpacked = unpack(data)
    assert (unpacked.packing, len(unpacked.members)) == (packing, 1)
    assert content(unpacked) == content(unpacked) == TEXT


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_members_of_a_zip_are_sources_of_their_own(unpack: Callable[..., Unpacked]) -> None:
    names = ["b.jsonl", "folder/", "folder/a.jsonl", "../../escape.jsonl", "/etc/passwd", "__MACOSX/._b.jsonl", "b.jsonl"]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, b"" if name.endswith("/") else str(number))
    unpacked = unpack(data.getvalue())
    assert [member.name for member in unpacked.members] == ["b.jsonl", "folder/a.jsonl", "../../escape.jsonl", "/etc/passwd", "b.jsonl"]
    assert [content(unpacked, number) for number in range(5)] == [b"0", b"2", b"3", b"4", b"6"]


def test_what_comes_out_of_an_archive_is_not_unpacked_again(unpack: Callable[..., Unpacked]) -> None:
    inner = zstd(TEXT)
    assert content(unpack(gzip.compress(inner))) == inner
    assert content(unpack(zipped({"a": inner}))) == inner


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd, lambda data: zipped({"a": data})])
def test_utf16_with_a_mark_becomes_utf8(unpack: Callable[..., Unpacked], encoding: str, pack: Callable[[bytes], bytes]) -> None:
    data = ("\ufeff" + TEXT.decode()).encode(encoding)
    assert content(unpack(pack(data))) == TEXT


def test_utf16_is_transcoded_across_the_pieces_in_which_it_is_read(unpack: Callable[..., Unpacked]) -> None:
    text = "x" + "\U0001f600" * 300_000  # each pair of surrogates stands at an odd place
    with unpack(("\ufeff" + text).encode("utf-16-le")).members[0].open() as stream:
        pieces = iter(lambda: stream.read(777), b"")
        assert b"".join(pieces) == text.encode()


def test_what_is_no_text_in_utf16_shows_in_the_verdict_of_its_record(unpack: Callable[..., Unpacked]) -> None:
    marked = '\ufeff{"a":"\ud800"}\n{"a":1}\n'.encode("utf-16-le", "surrogatepass")
    assert verdicts(read(content(unpack(marked)))) == ["invalid_utf8", None]
    assert verdicts(read(content(unpack(marked[:-7])))) == ["invalid_utf8", "truncated_tail"]


def test_half_a_character_at_the_end_of_utf16_is_shown(unpack: Callable[..., Unpacked]) -> None:
    assert content(unpack("\ufeff1\n".encode("utf-16-le") + b"x")) == "1\n\ufffd".encode()


def test_an_empty_file_is_refused(unpack: Callable[..., Unpacked]) -> None:
    with pytest.raises(EmptySource):
        unpack(b"")
    with pytest.raises(EmptySource):
        unpack(zipped({}))
    with pytest.raises(EmptySource):
        unpack(zipped({"folder/": b""}))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd, lambda data: zipped({"a": data})])
@pytest.mark.parametrize(("limit", "fits"), [(-1, False), (0, True), (1, True)])
def test_more_unpacked_bytes_than_the_limit_are_refused(
    unpack: Callable[..., Unpacked], pack: Callable[[bytes], bytes], limit: int, fits: bool
) -> None:
    limits = ReadLimits(max_expanded_bytes=len(TEXT) + limit)
    if fits:
        assert content(unpack(pack(TEXT), limits)) == TEXT
    else:
        with pytest.raises(TooLarge, match="limit"):
            content(unpack(pack(TEXT), limits))


@pytest.mark.parametrize("pack", [gzip.compress, zstd, lambda data: zipped({"a": data})])
def test_what_grows_too_much_is_refused_while_it_is_read(unpack: Callable[..., Unpacked], pack: Callable[[bytes], bytes]) -> None:
    trap = b"\0" * 10_000_000
    limits = ReadLimits(ratio_free_bytes=1_000_000, max_ratio=100)
    with pytest.raises(TooLarge, match="100-fold"):
        content(unpack(pack(trap), limits))
    assert len(content(unpack(pack(trap)))) == len(trap)


def test_more_members_than_the_limit_are_refused(unpack: Callable[..., Unpacked]) -> None:
    data = zipped({str(number): b"1" for number in range(4)})
    assert len(unpack(data, ReadLimits(max_members=4)).members) == 4
    with pytest.raises(TooLarge, match="4 files"):
        unpack(data, ReadLimits(max_members=3))


def test_the_sizes_of_all_members_count_together(unpack: Callable[..., Unpacked]) -> None:
    data = zipped({"a": b"x" * 60, "b": b"x" * 60})
    with pytest.raises(TooLarge, match="120 bytes"):
        unpack(data, ReadLimits(max_expanded_bytes=119))


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_cut_archive_is_damaged_and_no_shorter_source(
    unpack: Callable[..., Unpacked], pack: Callable[[bytes], bytes], kept: float
) -> None:
    packed = pack(TEXT)
    with pytest.raises(BadArchive, match="damaged or cut"):
        content(unpack(packed[: int(len(packed) * kept)]))
    with pytest.raises(BadArchive, match="damaged or cut"):
        content(unpack(packed + b"garbage"))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_zip_is_refused_in_one_way(unpack: Callable[..., Unpacked], method: int) -> None:
    data = zipped({"a": TEXT, "b": TEXT}, method)
    for place in range(0, len(data), max(1, len(data) // 80)):
        broken = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        try:
            unpacked = unpack(broken)
            contents = [content(unpacked, number) for number in range(len(unpacked.members))] if unpacked.packing == "zip" else []
        except PhysicalError as error:
            assert error.code in ("bad_archive", "too_large", "empty")  # noqa: PT017 most places give an error, some do not
        else:
            assert all(text == TEXT for text in contents)


@pytest.mark.parametrize("cut", [10, 100, 5000])
def test_a_zip_without_its_list_of_files_is_refused(unpack: Callable[..., Unpacked], cut: int) -> None:
    with pytest.raises(BadArchive, match="list of files"):
        unpack(zipped({"a": TEXT})[:-cut])


def test_an_encrypted_member_is_refused_and_the_others_are_not(unpack: Callable[..., Unpacked]) -> None:
    data = bytearray(zipped({"a": b"1", "b": b"2"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    unpacked = unpack(bytes(data))
    with pytest.raises(BadArchive, match="encrypted"):
        content(unpacked, 0)
    assert content(unpacked, 1) == b"2"


def test_a_plain_file_can_be_read_from_its_middle(unpack: Callable[..., Unpacked]) -> None:
    with unpack(TEXT).members[0].open() as stream:
        assert stream.seekable()


def test_other_packings_are_no_archives(unpack: Callable[..., Unpacked]) -> None:
    member = unpack(bz2.compress(TEXT)).members[0]
    assert read_head(member.open, limits=LIMITS).preview.startswith("BZh9")


@pytest.mark.parametrize("kept", [1, 3, 5, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("between", [b"", SKIPPABLE_FRAME])
def test_a_cut_last_frame_leaves_the_whole_ones_before_it(unpack: Callable[..., Unpacked], kept: float, between: bytes) -> None:
    last = zstd(TEXT[1000:])
    unpacked = unpack(zstd(TEXT[:1000]) + between + last[: kept if isinstance(kept, int) else int(len(last) * kept)])
    assert content(unpacked) == TEXT[:1000]
    assert unpacked.members[0].is_cut


@pytest.mark.parametrize("level", [1, 19])
@pytest.mark.parametrize("size", [0, 1, 200, 300, 70_000, 1_000_000])
def test_whole_frames_of_every_size_and_shape_are_told_from_cut_ones(unpack: Callable[..., Unpacked], level: int, size: int) -> None:
    for checked in (True, False):
        frame = zstandard.ZstdCompressor(level=level, write_checksum=checked, write_content_size=checked).compress(b"ab\n" * size)
        assert not unpack(zstd(TEXT) + frame).members[0].is_cut
        assert unpack(zstd(TEXT) + frame[:-1]).members[0].is_cut


def test_a_record_without_bytes_stands_for_a_cut_last_frame() -> None:
    read = read_records(io.BytesIO(b"{}\n[]\n"), limits=LIMITS, layout="lines", looks_like_record=lambda _: False, is_cut=True)
    (*_, last) = records = list(read)
    assert [record.verdict for record in records] == [None, None, "truncated_tail"]
    assert (last.number, last.line, last.offset, last.length, last.flags) == (3, 3, 6, 0, ("cut_frame",))
