"""The proof of a replay: a second one, made from the raw records of the session alone, comes to the same edits and sizes."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping

from compaction.counters import bpe
from compaction.counters.agreement import agrees
from compaction.replay.replayable import Replayable, replayable
from compaction.replay.report import fingerprint
from compaction.replay.rows import LaneFacts
from compaction.replay.run import replay
from ctxweb.models import Revision, Session
from ctxweb.replays.asked import ReplayAsked
from ctxweb.replays.lane import counter_of
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.intake import head_of, importer_of, member_of, records_of
from ctxweb.services.importing.lanes import public_id_of

READ_BUFFER = 256 * 1024
NUL_SHOWN = "\u2400"


def replay_again(*, session: Session, revision: Revision, asked: ReplayAsked) -> str:
    """The fingerprint of a replay from the stored bytes. Raises ImportRefused where they hold the session no more, and what reading
    them raises."""
    lane = _lane(session, revision)
    found = replay(lane, asked.policy(lane), count=asked.count, summaries=asked.summaries, orphans=asked.orphans)
    return fingerprint(found)


def _lane(session: Session, revision: Revision) -> Replayable:
    member = member_of(source=revision.source)
    head = head_of(member=member)
    importer = importer_of(head=head)
    reader, texts = importer.reader(), dict[bytes, str]()
    with io.BufferedReader(member.open(), READ_BUFFER) as stream:  # type: ignore[type-var]  # a raw stream, as in an import
        for record in records_of(stream=stream, head=head, importer=importer):
            for body in reader.feed(record).bodies:
                texts[body.digest] = (body.text or "").replace("\0", NUL_SHOWN)
    lane = next((each for each in reader.lanes() if public_id_of(format_id=importer.id, key=each.key) == session.public_id), None)
    if lane is None:
        raise ImportRefused("missing", "The raw bytes hold this session no more.")
    figures = bpe.count_batch(list(texts.values()), session.encoding, fast=agrees(session.encoding))
    counts = {digest: figure.tokens for digest, figure in zip(texts, figures, strict=True)}
    facts = LaneFacts(public_id=session.public_id, format=session.format, kind=lane.kind, window=session.window)
    return replayable(lane.events, facts, counts=counts, texts=lambda digests: _some(texts, digests), count=counter_of(session.encoding))


def _some(texts: Mapping[bytes, str], digests: Collection[bytes]) -> dict[bytes, str]:
    return {digest: texts[digest] for digest in digests}
