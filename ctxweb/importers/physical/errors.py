"""What can go wrong with a source as a whole. A broken record is no error: it gets a verdict.

PhysicalError
├── EmptySource       empty
├── TooLarge          too_large
├── TooManyRecords    too_many_records
└── BadArchive        bad_archive
"""

from __future__ import annotations


class PhysicalError(Exception):
    """A source that cannot be read. `code` is stable; the message says what is wrong, where, and what to do."""

    code = "unreadable"


class EmptySource(PhysicalError):
    code = "empty"


class TooLarge(PhysicalError):
    code = "too_large"


class TooManyRecords(PhysicalError):
    code = "too_many_records"


class BadArchive(PhysicalError):
    code = "bad_archive"
