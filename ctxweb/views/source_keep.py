"""Keep as fact: what a message says, with its place as the source."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from ctxweb import addresses
from ctxweb.queries.kept import Quoted, quoted_block
from ctxweb.queries.readable import block_id, readable_session
from ctxweb.queries.sources import item_key, stored_state
from ctxweb.services.durable_keep import fact_keep
from ctxweb.services.durable_versions import Author
from ctxweb.views.source_form import WHY, Field, FormPage, Side, answer_form, name_field

MOST_LINES = 12


@require_http_methods(["GET", "HEAD", "POST"])
def source_keep(request: HttpRequest, session_id: str, block: str) -> HttpResponse:
    """The form holds the text of a block; what stays in it becomes the fact."""
    session, revision = readable_session(public_id=session_id)
    quoted = quoted_block(revision=revision, block=block_id(written=block))
    page = _page(request, session_id, quoted, version=stored_state(session=session).number)

    def change(values: Mapping[str, str], author: Author, version: int) -> str:
        written = fact_keep(
            session=session,
            revision=revision,
            seq=quoted.seq,
            content=values["content"],
            fact_id=" ".join(values["fact_id"].split()),
            author=author,
            expected=version,
        )
        kept = stored_state(session=session).state.facts[-1].fact_id if written.version is not None else ""
        return addresses.sources(session_id, item=item_key("facts", kept))

    return answer_form(request, session, page, change, json=addresses.api_session(session_id, "durable"))


def _page(request: HttpRequest, session_id: str, quoted: Quoted, *, version: int) -> FormPage:
    lines = min(max(len(quoted.text) // 90 + quoted.text.count("\n"), 2), MOST_LINES)
    note = "only its beginning is shown here" if quoted.is_cut else ""
    return FormPage(
        title=f"Keep a fact from block {quoted.block}",
        detail="Leave of the text what is the fact. The source is the record that the message was read from, with its digest of now.",
        action=addresses.source_keep(session_id, quoted.block),
        back=addresses.messages(session_id, seq=quoted.seq),
        submit="Keep it as a fact",
        version=version,
        fields=(
            Field(name="content", label="Fact", lines=lines, value=quoted.text),
            Field(name="fact_id", label="Id", hint="empty: one is made"),
            WHY,
            name_field(request),
        ),
        sides=(
            Side(title=f"Message {quoted.seq:,}, {quoted.role}", text="", pointer=f"transcript:{session_id}:{quoted.record}", note=note),
        ),
    )
