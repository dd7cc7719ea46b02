"""Items that are not part of a session's durable state: candidates, and the other side of a conflict. Only a person's decision
makes one part of it; until then it is kept beside the state, as it was."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from compaction.durable.canonical import Item, item_from
from compaction.durable.values import DOMAINS, Domain, DurableContextState, DurableFact, PendingItem
from compaction.errors import DurableError
from compaction.typed_json import to_json
from ctxweb.durable_rows import last_version
from ctxweb.models import DurableDecision, DurableProposal, Project
from ctxweb.services.durable_changes import with_items
from ctxweb.services.durable_versions import Author, Confirm, version_append
from ctxweb.services.source_confirm import digests_now
from ctxweb.synced import synced

CANDIDATE, CONFLICT = "candidate", "conflict"


class ProposalDecided(Exception):
    """Somebody has decided about this proposal before; a decision is made once."""


def candidate_add(*, session: str, domain: str, item: object, author: Author) -> DurableProposal:
    """Keep an item that a rule or a summary found, for a person to decide about. The same one, open or decided, is not kept
    twice. Raises DurableError."""
    known = checked_domain(domain)
    return proposal_add(session=session, kind=CANDIDATE, domain=known, item=item_from(known, item, place="item"), author=author)


def proposal_add(*, session: str, kind: str, domain: Domain, item: Item, author: Author) -> DurableProposal:
    text = json.dumps(to_json(item), sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    with synced():
        same = DurableProposal.objects.filter(session=session, domain=domain, sha256=digest).first()
        if same is not None:
            return same
        last = last_version(session=session)
        made = DurableProposal(
            session=session,
            number=(DurableProposal.objects.filter(session=session).aggregate(last=Max("number"))["last"] or 0) + 1,
            kind=kind,
            domain=domain,
            item_id=item.id.encode("utf-8", "replace").decode().replace("\0", ""),
            item=text,
            sha256=digest,
            base=0 if last is None else last.number,
            author=author.name,
            origin=author.origin,
            at=timezone.now(),
        )
        made.save(force_insert=True)
        return made


def proposal_decide(
    *, project: Project, proposal: DurableProposal, accepted: bool, expected: int, author: Author, confirm: Confirm = digests_now
) -> DurableDecision:
    """Decide about a proposal. An accepted one becomes part of the state, in the place of what has its id, as a new version.

    A candidate is confirmed by this, so its time is that of now; the other side of a conflict keeps its own. To settle a
    conflict with a third text, turn it down and change the item. Raises ProposalDecided, VersionMoved, DurableError.
    """
    item = item_of(proposal)
    if proposal.kind == CANDIDATE and isinstance(item, DurableFact | PendingItem):
        item = replace(item, last_confirmed_at=timezone.now().isoformat())
    domain = checked_domain(proposal.domain)

    def make(before: DurableContextState) -> DurableContextState:
        return with_items(before, domain, [item]) if accepted else before

    def decide(number: int) -> None:
        try:
            with transaction.atomic():
                DurableDecision.objects.create(
                    proposal=proposal,
                    accepted=accepted,
                    version=number if accepted else None,
                    author=author.name,
                    note=author.reason,
                    at=timezone.now(),
                )
        except IntegrityError:
            raise ProposalDecided(f"Proposal {proposal.number} has been decided about: a decision is made once.") from None

    version_append(project=project, session=proposal.session, expected=expected, author=author, make=make, confirm=confirm, together=decide)
    return DurableDecision.objects.get(proposal=proposal)


def item_of(proposal: DurableProposal) -> Item:
    """The item that a proposal holds. Raises DurableError where the row was damaged."""
    return item_from(checked_domain(proposal.domain), json.loads(proposal.item))


def checked_domain(given: str) -> Domain:
    """The name of a list of the state. Raises DurableError."""
    for domain in DOMAINS:
        if given == domain:
            return domain
    raise DurableError(f"domain is no list of the state: use {', '.join(DOMAINS)}", code="unknown_field", field="domain")
