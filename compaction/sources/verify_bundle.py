"""Check an exported audit bundle: `python -m compaction.sources.verify_bundle BUNDLE [--key FILE] [--anchor HEAD]`.

This file needs the standard library alone and runs as it is: `python verify_bundle.py BUNDLE`. It holds the canonical form
of entries, so that whoever writes a chain and whoever checks it agree.

An entry's hash is SHA-256("ctx-audit-v1\\0" ‖ previous hash ‖ each field as its length in 8 bytes and its UTF-8); its mac is
HMAC-SHA256(key, hash). A bundle is lines of JSON: the manifest, its parts, and the SHA-256 of all bytes before. Exit status:
0 it holds, 1 it does not, 2 it cannot be read.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

FORMAT = "ctx-audit-bundle-v1"
DOMAIN = b"ctx-audit-v1\0"
NOTHING = "0" * 64  # stands before the first entry
MOST_BREAKS = 100
MOST_LINE_BYTES = 16 * 1024**2

SIGNED_OFF = "signed_off"  # the status of an entry that is about a person's word, not about a source
Kind = Literal["edited", "deleted", "cut", "emptied", "reordered", "inserted", "forged", "rechained"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One look at a source, as it was recorded. Hashes are 64 hex digits; `digest` is "" unless the source was available,
    `mac` is "" without a key. `seq` counts the entries of a tenant from 1."""

    tenant: str
    seq: int
    pointer: str
    status: str
    digest: str
    reason: str
    actor: str
    policy_version: str
    resolver_version: str
    started_at: str
    finished_at: str
    run: str
    prev_hash: str
    hash: str
    mac: str = ""


CHAINED = tuple(field.name for field in fields(AuditEntry) if field.name not in ("prev_hash", "hash", "mac"))
_chained = attrgetter(*CHAINED)
_PREFIXES = tuple(length.to_bytes(8, "big") for length in range(256))


@dataclass(frozen=True, slots=True)
class Head:
    """The place that a chain has reached: the number of its last entry, which is also their count, and its hash."""

    seq: int = 0
    hash: str = NOTHING

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"

    @classmethod
    def read(cls, text: str) -> Head:
        """A head as it is printed. Raises ValueError."""
        seq, _, digest = text.strip().partition(":")
        if not (seq.isascii() and seq.isdigit() and len(seq) < 19 and _is_hash(digest)):
            raise ValueError("a head is NUMBER:HASH with 64 lower-case hexadecimal digits")
        return cls(int(seq), digest)


BEGINNING = Head()


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A place where a chain does not hold: the numbers of its first and last entry."""

    kind: Kind
    first: int
    last: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """What a chain came to. `anchored_to`: the last number that an anchor vouches for; None without one that fits."""

    head: Head
    count: int
    breaks: tuple[Break, ...]
    anchored_to: int | None = None


class BundleError(Exception):
    """The bundle does not hold, or is none. The message says why."""


def entry_hash(entry: AuditEntry) -> str:
    """The hash that an entry must have. Raises ValueError where its previous hash is none."""
    return chained_hash(entry.prev_hash, _chained(entry))


def chained_hash(prev_hash: str, values: Iterable[object]) -> str:
    """The hash of an entry with these values of the fields in CHAINED. Raises ValueError where the previous hash is none."""
    parts = [DOMAIN, bytes.fromhex(prev_hash)]
    for value in values:
        raw = str(value).encode("utf-8", "surrogatepass")
        parts += (_PREFIXES[len(raw)] if len(raw) < len(_PREFIXES) else len(raw).to_bytes(8, "big"), raw)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def entry_mac(key: bytes, hash_: str) -> str:
    """Who has the key, wrote the entry of this hash."""
    return hmac.digest(key, bytes.fromhex(hash_), "sha256").hex()


def check_chain(
    entries: Iterable[AuditEntry],
    *,
    start: Head = BEGINNING,
    head: Head | None = None,
    anchors: Sequence[Head] = (),
    key: bytes | None = None,
) -> ChainReport:
    """Check entries in the order in which they are stored. `start` is the place before the first, `head` the one that was
    kept apart, `anchors` those that were exported. The entries are read once; a chain that holds is not kept in memory."""
    walk = _Walk(start, {anchor.seq: anchor.hash for anchor in anchors}, key)
    walk.run(iter(entries), head)
    last = walk.at
    if head is not None and head != last:
        walk.found.append(_end_break(last, head, start))
    for anchor in sorted(anchors, key=lambda one: one.seq):
        if anchor.seq > max(last.seq, head.seq if head else 0):
            walk.found.append(_end_break(last, anchor, start))
    breaks = sorted(walk.found, key=lambda one: one.first)[:MOST_BREAKS]
    return ChainReport(head=last, count=walk.count, breaks=tuple(breaks), anchored_to=walk.anchored_to)


def _end_break(last: Head, kept: Head, start: Head) -> Break:
    if last.seq == kept.seq:
        return Break(kind="rechained", first=last.seq, last=last.seq, says="the last entry is another one than the head that was kept says")
    if last.seq > kept.seq:
        return Break(kind="inserted", first=kept.seq + 1, last=last.seq, says="entries stand after the head that was kept")
    if last.seq == start.seq:
        return Break(kind="emptied", first=start.seq + 1, last=kept.seq, says="all entries are gone")
    return Break(kind="cut", first=last.seq + 1, last=kept.seq, says="the last entries are gone")


class _Walk:
    """From entry to entry. `at` is the place reached; an entry that was edited is left by its stored and by its right hash."""

    def __init__(self, start: Head, anchors: dict[int, str], key: bytes | None) -> None:
        self.at, self.count = start, 0
        self.anchored_to: int | None = None
        self.found: list[Break] = []
        self._exits: tuple[str, ...] = (start.hash,)
        self._start, self._anchors, self._key = start, anchors, key

    def run(self, entries: Iterator[AuditEntry], head: Head | None) -> None:
        last: list[AuditEntry] = []
        before: tuple[Head, tuple[str, ...], int | None, int] = (self.at, self._exits, self.anchored_to, 0)
        for entry in entries:
            if not self._follows(entry):
                self._sort_out([*self._taken_back(last, before), entry, *entries], head)
                return
            last, before = [entry], (self.at, self._exits, self.anchored_to, len(self.found))
            self._take(entry)

    def _taken_back(self, last: list[AuditEntry], before: tuple[Head, tuple[str, ...], int | None, int]) -> list[AuditEntry]:
        """The entry taken last; the one that does not follow it may have a better right to its place."""
        self.at, self._exits, self.anchored_to, found = before
        self.count -= len(last)
        del self.found[found:]
        return last

    def _follows(self, entry: AuditEntry) -> bool:
        """Whether it stands in its place: an edited one still has its number or its link."""
        linked, numbered = entry.prev_hash in self._exits, entry.seq == self.at.seq + 1
        return (linked and numbered) or ((linked or numbered) and _right_hash(entry) != entry.hash)

    def _take(self, entry: AuditEntry) -> None:
        seq, right = self.at.seq + 1, _right_hash(entry)
        self.at, self.count, self._exits = Head(seq, entry.hash), self.count + 1, (entry.hash, right)
        if right != entry.hash:
            self._add("edited", seq, "its fields are not those that its hash was made from")
        elif self._key is not None and not hmac.compare_digest(
            entry_mac(self._key, entry.hash).encode(), entry.mac.encode("utf-8", "replace")
        ):
            self._add("forged", seq, "it was not written with this key")
        if seq in self._anchors and self._anchors[seq] != entry.hash:
            self._add("rechained", seq, "it is another entry than the anchor says: what is before it was written again")
        elif seq in self._anchors:
            self.anchored_to = seq

    def _sort_out(self, rest: list[AuditEntry], head: Head | None) -> None:
        """The rest of a chain that does not hold, in the order of its links; what is in no place there was inserted."""
        count, wanted = self.count + len(rest), {entry.prev_hash for entry in rest} | ({head.hash} if head else set())
        by_link: dict[str, list[int]] = {}
        for position, entry in enumerate(rest):
            by_link.setdefault(entry.prev_hash, []).append(position)
        ahead = sorted(range(len(rest)), key=lambda place: (rest[place].seq, place), reverse=True)
        left, furthest = set(range(len(rest))), -1
        while (place := self._next(rest, by_link, ahead, left, wanted)) is not None:
            left.discard(place)
            if place < furthest:
                self._add("reordered", self.at.seq + 1, "it stands after entries that came later")
            furthest = max(furthest, place)
            self._take(rest[place])
        for spare in sorted(left):
            stored = count - len(rest) + spare + 1
            self._add("inserted", rest[spare].seq, f"the entry stored in place {stored} belongs to no place of the chain")
        self.count = count

    def _next(
        self, rest: list[AuditEntry], by_link: dict[str, list[int]], ahead: list[int], left: set[int], wanted: set[str]
    ) -> int | None:
        """The place of the entry that follows; over a gap, which is noted, where none does."""
        linked = [place for link in self._exits for place in by_link.get(link, ()) if place in left and self._follows(rest[place])]
        if linked:
            return next((place for place in linked if rest[place].hash in wanted), linked[0])
        while ahead and (ahead[-1] not in left or rest[ahead[-1]].seq <= self.at.seq):
            ahead.pop()
        if not ahead:
            return None
        entry = rest[ahead[-1]]
        if entry.seq == self.at.seq + 1:
            if _right_hash(entry) == entry.hash:
                edited = self.at.seq if self.at != self._start else entry.seq
                self._add("edited", edited, "it and the entry beside it do not name the same hash")
        else:
            self._add("deleted", self.at.seq + 1, "entries are missing", last=entry.seq - 1)
            self.at = Head(entry.seq - 1, entry.prev_hash)
        return ahead[-1]

    def _add(self, kind: Kind, first: int, says: str, *, last: int | None = None) -> None:
        is_known = any((one.kind, one.first) == (kind, first) for one in self.found[-1:])
        if not is_known and len(self.found) < MOST_BREAKS:
            self.found.append(Break(kind=kind, first=first, last=first if last is None else last, says=says))


def _right_hash(entry: AuditEntry) -> str:
    try:
        return entry_hash(entry)
    except ValueError:
        return ""


def _is_hash(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and not set(text) - set("0123456789abcdef")


def manifest_mac(key: bytes, manifest: dict[str, Any]) -> str:
    """Who has the key, wrote the manifest."""
    sealed = canonical({name: value for name, value in manifest.items() if name != "mac"})
    return hmac.digest(key, b"ctx-audit-manifest-v1\0" + sealed, "sha256").hex()


def canonical(value: object) -> bytes:
    """One line of JSON in ASCII, with its line end."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleReport:
    """A bundle that holds: its manifest, its chain, and what it does not prove."""

    manifest: dict[str, Any]
    chain: ChainReport
    not_proved: tuple[str, ...]


def check_bundle(path: Path, *, key: bytes | None = None, anchor: Head | None = None) -> BundleReport:
    """Raises BundleError with the reason, OSError where the file cannot be read."""
    with path.open("rb") as file:
        lines = _summed_lines(file.readline)
        manifest = _manifest(next(lines, b""))
        parts = {name: _part(lines, name, count, sha256) for name, count, sha256 in _parts(manifest)}
        if next(lines, None) is not None:
            raise BundleError("there are lines that the manifest does not name")
    entries = [_entry(line) for line in parts.get("entries", [])]
    start, head = Head.read(manifest["start"]), Head.read(manifest["head"])
    chain = check_chain(entries, start=start, head=head, anchors=[anchor] if anchor else [], key=key)
    for one in chain.breaks:
        raise BundleError(f"{one.kind} at entry {one.first}{f' to {one.last}' if one.last != one.first else ''}: {one.says}")
    if anchor and anchor.seq <= start.seq and anchor != start:
        raise BundleError(f"the anchor {anchor.seq} lies before this segment, which begins after {start.seq}")
    if any(entry.tenant != manifest["tenant"] for entry in entries):
        raise BundleError("an entry is of another tenant than the manifest says")
    if key is not None and not hmac.compare_digest(manifest_mac(key, manifest), str(manifest.get("mac"))):
        raise BundleError("the manifest was not written with this key")
    _check_statuses(parts.get("statuses", []), entries)
    _check_sign_offs(parts.get("sign_offs", []), entries)
    return BundleReport(manifest=manifest, chain=chain, not_proved=tuple(_not_proved(chain, key, anchor, start)))


def _summed_lines(readline: Any) -> Iterator[bytes]:
    """All lines but the last, which must be the SHA-256 of the bytes before it."""
    digest = hashlib.sha256()
    line = readline(MOST_LINE_BYTES)
    while following := readline(MOST_LINE_BYTES):
        digest.update(line)
        yield line
        line = following
    if line != canonical({"sha256": digest.hexdigest()}):
        raise BundleError("the bytes are not those whose SHA-256 stands in the last line: the file was changed or cut")


def _manifest(line: bytes) -> dict[str, Any]:
    manifest = _object(line, "the manifest")
    if manifest.get("format") != FORMAT:
        raise BundleError(f"this is no bundle of the format {FORMAT}")
    if not isinstance(manifest.get("tenant"), str):
        raise BundleError("the manifest names no tenant")
    for place in ("start", "head"):
        try:
            Head.read(str(manifest.get(place)))
        except ValueError:
            raise BundleError(f"the manifest names no {place}") from None
    return manifest


def _parts(manifest: dict[str, Any]) -> list[tuple[str, int, str]]:
    try:
        return [(str(part["name"]), int(part["lines"]), str(part["sha256"])) for part in manifest["parts"]]
    except (KeyError, TypeError, ValueError):
        raise BundleError("the manifest does not name its parts") from None


def _part(lines: Iterator[bytes], name: str, count: int, sha256: str) -> list[bytes]:
    digest, part = hashlib.sha256(), []
    for line in lines if count > 0 else ():
        digest.update(line)
        part.append(line)
        if len(part) == count:
            break
    if len(part) != count or digest.hexdigest() != sha256:
        raise BundleError(f"the part {_shown(name)} is not the one that the manifest names: a line was changed, added or taken away")
    return part


def _object(line: bytes, what: str) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BundleError(f"{what} is no JSON object: the file was changed, or is no bundle")
    return given


def _entry(line: bytes) -> AuditEntry:
    given = _object(line, "an entry")
    kinds = {field.name: int if field.name == "seq" else str for field in fields(AuditEntry)}
    if set(given) != set(kinds) or any(type(given[name]) is not kind for name, kind in kinds.items()):
        raise BundleError("an entry has not the fields of an entry")
    return AuditEntry(**given)


def _check_statuses(lines: Sequence[bytes], entries: Sequence[AuditEntry]) -> None:
    latest = {entry.pointer: status_row(entry) for entry in entries}
    if [_object(line, "a status") for line in lines] != list(latest.values()):
        raise BundleError("the statuses are not those of the last entry of each pointer")


def _check_sign_offs(lines: Sequence[bytes], entries: Sequence[AuditEntry]) -> None:
    """The digest of the entry of a sign-off covers its name, note and time, which stand in a part of their own."""
    if [hashlib.sha256(line).hexdigest() for line in lines] != [entry.digest for entry in entries if entry.status == SIGNED_OFF]:
        raise BundleError("the sign-offs are not those of the chain: a name, a note or a time was changed, added or taken away")


def status_row(entry: AuditEntry) -> dict[str, Any]:
    """The status of a pointer at the end of a segment: that of its last entry."""
    return {name: getattr(entry, name) for name in ("pointer", "status", "digest", "reason", "finished_at", "seq")}


def _not_proved(chain: ChainReport, key: bytes | None, anchor: Head | None, start: Head) -> Iterator[str]:
    if key is None and anchor is None:
        yield "who wrote it: anybody could have made this chain. Give --key FILE, or --anchor HEAD with a head from elsewhere"
    elif key is None and (chain.anchored_to or start.seq) < chain.head.seq:
        yield f"who wrote the entries after {chain.anchored_to or start.seq}, where the anchor is. Give --key FILE"
    if start.seq:
        yield f"the entries 1 to {start.seq}, which are not in this bundle"
    yield "that nothing was recorded after the head: compare it with a newer one"
    yield "that the sources are now as they were: the entries say what was found then"


def read_key(path: Path) -> bytes:
    """The key in a file: its bytes without white space around them. Raises OSError, ValueError for an empty one."""
    key = path.read_bytes().strip()
    if not key:
        raise ValueError("the key file is empty")
    return key


def _shown(text: object) -> str:
    """A text of the bundle for a terminal: nothing in it can steer one."""
    return json.dumps(str(text))[1:-1][:200]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="verify_bundle", description="Check an exported audit bundle.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--key", type=Path, metavar="FILE", help="the project's audit key: proves who wrote the entries")
    parser.add_argument(
        "--anchor", type=str, metavar="HEAD", help="a head from elsewhere, NUMBER:HASH: proves that nothing before it changed"
    )
    given = parser.parse_args(arguments)
    try:
        key = read_key(given.key) if given.key else None
        anchor = Head.read(given.anchor) if given.anchor else None
        report = check_bundle(given.bundle, key=key, anchor=anchor)
    except BundleError as error:
        sys.stdout.write(f"FAILED: {error}\n")
        return 1
    except (OSError, ValueError) as error:
        sys.stdout.write(f"CANNOT BE READ: {_shown(error)}\n")
        return 2
    manifest, chain = report.manifest, report.chain
    sys.stdout.write(
        f"OK: {chain.count:,} entries of {_shown(manifest['tenant'])}, written by {_shown(manifest.get('tool'))}\nhead {chain.head}\n"
    )
    proofs = [
        f"by the key: all {chain.count:,} entries and the manifest" if key else "",
        f"by the anchor: entries up to {chain.anchored_to}" if anchor else "",
    ]
    sys.stdout.writelines(f"proved {proof}\n" for proof in proofs if proof)
    sys.stdout.writelines(f"NOT PROVED: {sentence}\n" for sentence in report.not_proved)
    return 0


if __name__ == "__main__":
    sys.exit(main())
