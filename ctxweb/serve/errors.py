"""Why serving ended, or did not begin.

ServeError
├── StartRefused   nothing was started; the message says what to change
└── ChildDied      a child ended by itself; the message carries the end of its log
"""


class ServeError(Exception):
    """The message is for the person at the terminal."""


class StartRefused(ServeError):
    """Something that must hold before the start does not."""


class ChildDied(ServeError):
    """One of the children ended, and the others are of no use without it."""
