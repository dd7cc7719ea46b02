"""A proposal waits for a person: a candidate that a rule or a summary found, or another text for a fact that is there."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from compaction.durable.canonical import Item
from compaction.errors import DurableError
from ctxweb import addresses
from ctxweb.importers.values import clean_text
from ctxweb.models import DurableProposal
from ctxweb.queries.durable import readable_proposal
from ctxweb.queries.readable import readable_session
from ctxweb.queries.sources import Stored, item_key, stored_state, text_of
from ctxweb.services.durable_proposals import CANDIDATE, item_of, proposal_decide
from ctxweb.services.durable_versions import Author
from ctxweb.views.source_form import Field, FormPage, Side, answer_form, name_field
from ctxweb.views.source_words import DOMAIN_WORDS

TAKE, LEAVE = "take", "leave"
CHOICES = {
    # kind: what each decision is called
    "candidate": ((TAKE, "Confirm it: it becomes part of the state"), (LEAVE, "Turn it down")),
    "conflict": ((TAKE, "Take the other one: a new version has it in the place of this one"), (LEAVE, "Keep what is there")),
}


@require_http_methods(["GET", "HEAD", "POST"])
def source_proposal(request: HttpRequest, session_id: str, number: int) -> HttpResponse:
    session, _ = readable_session(public_id=session_id)
    proposal = readable_proposal(session=session, number=number)
    stored = stored_state(session=session)
    try:
        item = item_of(proposal)
    except DurableError as error:
        raise Http404 from error
    page = _page(request, stored, proposal, item)

    def change(values: Mapping[str, str], author: Author, version: int) -> str:
        if values["decision"] not in (TAKE, LEAVE):
            raise DurableError("no decision was chosen: choose one", code="empty_field", field="decision")
        taken = values["decision"] == TAKE
        proposal_decide(project=session.project, proposal=proposal, accepted=taken, expected=version, author=author)
        return addresses.sources(session_id, item=item_key(proposal.domain, item.id) if taken else "")

    return answer_form(request, session, page, change, json=addresses.api_session(session_id, "durable"))


def _page(request: HttpRequest, stored: Stored, proposal: DurableProposal, item: Item) -> FormPage:
    word = DOMAIN_WORDS[proposal.domain]
    there = next((one for one in getattr(stored.state, proposal.domain) if one.id == item.id), None)
    is_candidate = proposal.kind == CANDIDATE
    decided = getattr(proposal, "decision", None)
    return FormPage(
        title=f"Candidate for a {word}" if is_candidate else f"Two confirmations of {word} {clean_text(item.id)}",
        detail="Nothing that rules or summaries find is a fact until a person confirms it." if is_candidate else "A person chooses.",
        action=addresses.source_proposal(stored.session.public_id, proposal.number),
        back=addresses.sources(stored.session.public_id),
        submit="Decide",
        version=stored.number,
        fields=(
            Field(name="decision", label="Decision", options=CHOICES["candidate" if is_candidate else "conflict"]),
            Field(name="reason", label="Note", hint="kept with the decision"),
            name_field(request),
        ),
        sides=tuple(side for side in (_side("What is there", there), _side(_found_by(proposal), item)) if side is not None),
        wrong="This was decided before: a decision is made once." if decided is not None else "",
    )


def _found_by(proposal: DurableProposal) -> str:
    return f"By {proposal.author}, through {proposal.origin}, for version {proposal.base:,}"


def _side(title: str, item: Item | None) -> Side | None:
    if item is None:
        return None
    pointer = getattr(item, "source_pointer", "") or getattr(item, "source_id", "")
    confirmed = getattr(item, "last_confirmed_at", "") or getattr(item, "captured_at", "")
    return Side(title=title, text=text_of(item), pointer=clean_text(pointer), note=f"confirmed {confirmed}" if confirmed else "")
