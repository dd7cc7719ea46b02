"""ASGI entry point, which `manage.py serve` gives to granian."""

import asyncio
import os
import warnings
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")
# whitenoise hands over files as plain iterators, which Django reads for it
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators", category=Warning)
django_application = get_asgi_application()

from ctxweb.middleware import body_limit  # noqa: E402  it needs the settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def limited(scope: Scope, receive: Receive) -> Receive:
    """`receive`, which stops reading a body that outgrows its path's limit.

    Django stores the whole body before any middleware runs. What was read up to then is put into the scope as the
    announced length, and the middleware refuses it as it refuses every body that is too large.
    """
    limit = body_limit(scope["path"])
    received = 0
    is_cut = False

    async def receive_limited() -> Message:
        nonlocal received, is_cut
        if is_cut:  # Django waits for the end of the connection; the answer is there before
            await asyncio.get_running_loop().create_future()
        if announced(scope) <= limit:
            message = await receive()
            received += len(message.get("body", b""))
            if received <= limit:
                return message
            others = [header for header in scope["headers"] if header[0] != b"content-length"]
            scope["headers"] = [*others, (b"content-length", str(received).encode())]
        is_cut = True
        return {"type": "http.request", "body": b"", "more_body": False}

    return receive_limited


def announced(scope: Scope) -> int:
    """The body's length in bytes as its sender announced it; 0 where it announced none."""
    lengths = [value for name, value in scope["headers"] if name == b"content-length" and value.isdigit()]
    return int(lengths[-1]) if lengths else 0


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await django_application(scope, limited(scope, receive), send)  # type: ignore[arg-type]
