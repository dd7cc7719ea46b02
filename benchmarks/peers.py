"""Programs that a person would take instead, in a virtual environment of their own under `<home>/bench/peers`.

Nothing is installed here: a peer that is not there is left out. To have them:

    python3 -m venv var/bench/peers && var/bench/peers/bin/pip install agentsview==0.46.1 claude-code-log==1.7.0
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Usage, measured

MOST_BYTES = 20_000_000  # claude-code-log takes 4 GB of memory for 100 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """`arguments` may name {file} and {out}; `most_bytes` is the largest session that it is given, None without an end."""

    name: str
    does: str
    arguments: tuple[str, ...]
    most_bytes: int | None = None


PEERS = (
    Peer(name="agentsview", does="parses into SQLite with full text, counts no tokens", arguments=("sync", "--full")),
    Peer(name="claude-code-log", does="makes one HTML page", arguments=("{file}", "-o", "{out}"), most_bytes=MOST_BYTES),
)


def program(peers: Path, peer: Peer) -> Path:
    return peers / "bin" / peer.name


def why_skipped(peers: Path, peer: Peer, size: int) -> str | None:
    """Why the peer does not run, None if it does."""
    if not program(peers, peer).exists():
        return f"{peer.name} is not installed in {peers}: left out"
    if peer.most_bytes is not None and size > peer.most_bytes:
        return f"{peer.name} is not given more than {peer.most_bytes / 1e6:.0f} MB: left out"
    return None


def peer_usage(peers: Path, peer: Peer, *, file: Path, home: Path) -> Usage:
    """Run the peer on the session as the only one of a person with the fresh home folder `home`."""
    session = home / ".claude" / "projects" / "-home-ana-shop" / file.name
    session.parent.mkdir(parents=True)
    shutil.copyfile(file, session)
    arguments = [argument.format(file=session, out=home / "page.html") for argument in peer.arguments]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "AGENTSVIEW_NO_DAEMON": "1"}
    return measured([str(program(peers, peer)), *arguments], environment=environment)
