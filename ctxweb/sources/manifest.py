"""Signed manifests: a folder of artifacts with `manifest.json`, which lists them, and `manifest.sig`, its Ed25519 signature.

`{"artifacts": [{"name": "r.txt", "size": 12, "sha256": "…64 hex digits"}]}`; the signature is 64 bytes, raw or in hex, over
the bytes of the manifest as they are. A project with keys takes an artifact as evidence only if a manifest of its folder that
one of them signed lists it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxweb.sources.ed25519 import SIGNATURE_BYTES, is_signed

MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
MOST_MANIFEST_BYTES = 16 * 1024**2
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ManifestRefused(Exception):
    """No valid manifest: it is not signed by a key of the project, or is not written as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One artifact of a manifest; `sha256` in lower-case hex."""

    size: int
    sha256: str


def signed_manifest(*, manifest: bytes, signature: bytes, keys: Sequence[bytes]) -> Mapping[str, Listed]:
    """The artifacts of the manifest by name. Raises ManifestRefused."""
    raw = _raw(signature)
    if not any(is_signed(key=key, message=manifest, signature=raw) for key in keys):
        raise ManifestRefused("no key of the project signed the manifest")
    try:
        written = json.loads(manifest)["artifacts"]
        names = [one["name"] for one in written]
        listed = {one["name"]: _listed(one) for one in written}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ManifestRefused("the manifest is no list of name, size and sha256") from None
    if len(listed) != len(names):
        raise ManifestRefused("the manifest lists a name twice")
    return listed


def _listed(one: Mapping[str, object]) -> Listed:
    name, size, sha256 = one["name"], one["size"], one["sha256"]
    if not isinstance(name, str) or type(size) is not int or not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise ManifestRefused("an artifact of the manifest has no name, size or SHA-256")
    return Listed(size=size, sha256=sha256)


def _raw(signature: bytes) -> bytes:
    text = signature.strip()
    if len(signature) != SIGNATURE_BYTES and len(text) == 2 * SIGNATURE_BYTES:
        try:
            return bytes.fromhex(text.decode("ascii"))
        except ValueError:
            return b""
    return signature
