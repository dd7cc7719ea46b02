"""Why a source was not imported. `code` is stable, for programs; the message says what is wrong and what to do."""

from __future__ import annotations


class ImportRefused(Exception):
    """The source cannot be imported, now or later; nothing of it stays."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ImportInterrupted(Exception):
    """The import cannot go on now; what is committed stays, and the job goes on from there later."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
