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
    """There is no byte or no record in it."""

    code = "empty"


class TooLarge(PhysicalError):
    """It has more bytes than a limit, which the message names."""

    code = "too_large"


class TooManyRecords(PhysicalError):
    """It has more records than CTXWEB_MAX_RECORDS."""

    code = "too_many_records"


class BadArchive(PhysicalError):
    """An archive that is damaged or encrypted, or says what is not so."""

    code = "bad_archive"
