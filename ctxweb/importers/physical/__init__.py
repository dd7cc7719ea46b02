"""The physical reader: the bytes of a session file become records with a place and a verdict (docs/importing.md).

`open_stream` unpacks a file, `read_head` shows what it is recognised by, `read_records` reads it.
"""

from ctxweb.importers.physical.documents import document_records
from ctxweb.importers.physical.errors import BadArchive, EmptySource, PhysicalError, TooLarge, TooManyRecords
from ctxweb.importers.physical.head import Head, read_head
from ctxweb.importers.physical.layout import Opener, detect_layout
from ctxweb.importers.physical.reading import read_records
from ctxweb.importers.physical.records import Layout, LooksLikeRecord, Position, RawRecord, ReadLimits
from ctxweb.importers.physical.spans import Span, record_spans
from ctxweb.importers.physical.unpack import Member, Unpacked, open_stream
from ctxweb.importers.physical.values import BigNumber, JsonReading, NonFinite, read_json

__all__ = [
    "BadArchive",
    "BigNumber",
    "EmptySource",
    "Head",
    "JsonReading",
    "Layout",
    "LooksLikeRecord",
    "Member",
    "NonFinite",
    "Opener",
    "PhysicalError",
    "Position",
    "RawRecord",
    "ReadLimits",
    "Span",
    "TooLarge",
    "TooManyRecords",
    "Unpacked",
    "detect_layout",
    "document_records",
    "open_stream",
    "read_head",
    "read_json",
    "read_records",
    "record_spans",
]
