"""The physical reader: the bytes of a session file become records with a place and a verdict (reliability.md V1-V12)."""

from ctxweb.importers.physical.errors import BadArchive, EmptySource, PhysicalError, TooLarge, TooManyRecords
from ctxweb.importers.physical.reading import read_records
from ctxweb.importers.physical.records import Layout, LooksLikeRecord, Position, RawRecord, ReadLimits
from ctxweb.importers.physical.values import BigNumber, NonFinite

__all__ = [
    "BadArchive",
    "BigNumber",
    "EmptySource",
    "Layout",
    "LooksLikeRecord",
    "NonFinite",
    "PhysicalError",
    "Position",
    "RawRecord",
    "ReadLimits",
    "TooLarge",
    "TooManyRecords",
    "read_records",
]
