"""Signed manifests: what RFC 8032 says of signatures, and what a project with keys takes as evidence."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.models import Project
from ctxweb.sources.ed25519 import is_signed
from ctxweb.sources.manifest import MANIFEST, SIGNATURE
from tests.ctxweb.sources.made import Artifacts, look

OWN, STRANGER = Ed25519PrivateKey.from_private_bytes(b"1" * 32), Ed25519PrivateKey.from_private_bytes(b"2" * 32)
RFC_8032 = (
    # section 7.1: public key, message, signature
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
)
ORDER = 2**252 + 27742317777372353535851937790883648493
TEXT = b"evidence\n"


def public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


@pytest.mark.nodb
@pytest.mark.parametrize(("key", "message", "signature"), RFC_8032)
def test_the_published_signatures_are_right_and_any_changed_bit_is_not(key: str, message: str, signature: str) -> None:
    parts = [bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)]
    assert is_signed(key=parts[0], message=parts[1], signature=parts[2])
    for part, place in ((0, 3), (1, 0), (2, 5), (2, 40)):
        if place < len(parts[part]):
            changed = [bytearray(one) for one in parts]
            changed[part][place] ^= 1
            assert not is_signed(key=bytes(changed[0]), message=bytes(changed[1]), signature=bytes(changed[2]))


@pytest.mark.nodb
@given(message=st.binary(max_size=200), seed=st.binary(min_size=32, max_size=32))
def test_it_agrees_with_another_implementation(message: bytes, seed: bytes) -> None:
    signer = Ed25519PrivateKey.from_private_bytes(seed)
    assert is_signed(key=public(signer), message=message, signature=signer.sign(message))
    assert not is_signed(key=public(OWN), message=message, signature=signer.sign(message)) or seed == b"1" * 32


@pytest.mark.nodb
@given(key=st.binary(max_size=40), signature=st.binary(max_size=70))
def test_whatever_bytes_there_are_give_an_answer(key: bytes, signature: bytes) -> None:
    assert is_signed(key=key, message=b"", signature=signature) in (True, False)


@pytest.mark.nodb
def test_a_signature_has_one_form_only() -> None:
    """S plus the order of the group solves the same equation, and is refused."""
    signature = OWN.sign(TEXT)
    again = int.from_bytes(signature[32:], "little") + ORDER
    assert not is_signed(key=public(OWN), message=TEXT, signature=signature[:32] + again.to_bytes(32, "little"))


@pytest.fixture
def signed(project: Project) -> Project:
    project.manifest_keys = [public(STRANGER).hex(), public(OWN).hex()]
    return project


def write_manifest(artifacts: Artifacts, *entries: dict[str, object], signer: Ed25519PrivateKey = OWN) -> Path:
    manifest = json.dumps({"artifacts": entries}).encode()
    path = artifacts.path("s1", MANIFEST)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(manifest)
    artifacts.path("s1", SIGNATURE).write_bytes(signer.sign(manifest))
    return path


def entry(content: bytes = TEXT, **changes: object) -> dict[str, object]:
    return {"name": "r.txt", "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), **changes}


INVALID = ("corrupt", "manifest_invalid")


@pytest.mark.django_db
def test_a_listed_artifact_is_available_also_with_a_signature_in_hex(signed: Project, artifacts: Artifacts) -> None:
    pointer = artifacts.write("s1", "r.txt", TEXT)
    path = write_manifest(artifacts, entry())
    assert look(signed, pointer) == ("available", "verified_artifact")
    artifacts.path("s1", SIGNATURE).write_text(OWN.sign(path.read_bytes()).hex() + "\n")
    assert look(signed, pointer) == ("available", "verified_artifact")


@pytest.mark.django_db
def test_without_keys_no_manifest_is_asked_for(project: Project, artifacts: Artifacts) -> None:
    assert look(project, artifacts.write("s1", "r.txt", TEXT)) == ("available", "verified_artifact")


@pytest.mark.django_db
def test_no_valid_manifest_is_corrupt(signed: Project, artifacts: Artifacts) -> None:
    pointer = artifacts.write("s1", "r.txt", TEXT)
    assert look(signed, pointer) == INVALID  # there is none
    path = write_manifest(artifacts, entry(), signer=Ed25519PrivateKey.from_private_bytes(b"3" * 32))
    assert look(signed, pointer) == INVALID
    write_manifest(artifacts, entry())
    path.write_bytes(path.read_bytes() + b"\n")
    assert look(signed, pointer) == INVALID
    write_manifest(artifacts, entry())
    artifacts.path("s1", SIGNATURE).unlink()
    artifacts.path("s1", SIGNATURE).symlink_to(artifacts.path("s1", MANIFEST))
    assert look(signed, pointer) == INVALID


@pytest.mark.django_db
@pytest.mark.parametrize(
    "entries",
    [
        (),
        (entry(name="other.txt"),),
        (entry(b"other"),),
        (entry(size="9"),),
        (entry(size=True),),
        (entry(size=len(TEXT) + 1),),
        (entry(sha256="X" * 64),),
        (entry(), entry()),
        ({"name": "r.txt"},),
        (entry(name=["r.txt"]),),
    ],
)
def test_a_manifest_that_lists_it_wrongly_is_none(signed: Project, artifacts: Artifacts, entries: tuple[dict[str, object], ...]) -> None:
    pointer = artifacts.write("s1", "r.txt", TEXT)
    write_manifest(artifacts, *entries)
    assert look(signed, pointer) == INVALID


@pytest.mark.django_db
def test_what_is_missing_or_altered_is_said_before_its_manifest(signed: Project, artifacts: Artifacts) -> None:
    pointer = artifacts.write("s1", "r.txt", TEXT)
    write_manifest(artifacts, entry())
    artifacts.path("s1", "r.txt").write_bytes(b"altered")
    assert look(signed, pointer) == ("corrupt", "artifact_digest_mismatch")
    artifacts.path("s1", "r.txt").unlink()
    assert look(signed, pointer) == ("missing", "artifact_missing")
