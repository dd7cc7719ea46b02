"""Replays on the fly and kept: pages, twins, the command, and what is refused."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F, Sum
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from compaction.policies import POLICIES
from ctxweb.jobs import JobRun, job_claim
from ctxweb.models import AddedBlock, Body, History, LedgerEntry, Session, Span
from ctxweb.queries.call_figures import call_figures
from ctxweb.queries.readable import readable_lane
from ctxweb.queries.replay import replayed
from ctxweb.replays.asked import ReplayRefused, replay_asked
from ctxweb.services.history_replay import history_pin, history_replay, replay_open, replay_work

pytestmark = pytest.mark.django_db
LOW = {"trigger": 9_000, "hard_limit": 12_000}


def post(session: Session, **given: Any) -> Any:
    headers = {"Authorization": f"Bearer {settings.API_TOKEN}"}
    return Client().post(f"/api/v1/sessions/{session.public_id}/replays", given, content_type="application/json", headers=headers)


def keep(session: Session, policy: str = "workbuddy-s14", **limits: Any) -> History:
    assert session.current is not None
    kept = history_replay(session=session, revision=session.current, asked=replay_asked(policy=policy, limits=limits or LOW))
    return History.objects.get(public_id=kept.history)


def test_a_replay_that_is_asked_for_again_is_the_same_history(session: Session) -> None:
    first, again = post(session, policy="workbuddy-s14", limits=LOW), post(session, policy="workbuddy-s14", limits=LOW)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert first.json()["origin"] == "replayed"
    assert first.json()["compactions"]
    other = post(session, policy="workbuddy-s14", limits=LOW | {"trigger": 8_000})
    assert other.json()["id"] != first.json()["id"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"policy": "nobody"}, "policy"),
        ({"limits": {"trigger": -5}}, "trigger"),
        ({"limits": {"trigger": 200_000, "hard_limit": 100_000}}, "trigger"),
        ({"limits": {"no_layer.keep": 5}}, "no_layer.keep"),
        ({"limits": {"prune_old_messages.keep_recent_messages": "many"}}, "prune_old_messages.keep_recent_messages"),
        ({"count": "words"}, "count"),
        ({"summaries": "mine"}, "summaries"),
        ({"policy": {"id": "x"}}, "title"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_the_name_of_the_field(session: Session, given: dict[str, Any], field: str) -> None:
    answer = post(session, **given)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(f"{field}: ")


def test_a_page_with_broken_limits_says_which_and_replays_nothing(session: Session) -> None:
    address = f"/s/{session.public_id}/replay?trigger=-5"
    whole = Client().get(address)
    assert whole.status_code == 400
    assert "<code>trigger</code>" in whole.content.decode()
    part = Client().get(address, headers={"HX-Request": "true", "HX-Target": "result"})
    assert part.status_code == 200  # htmx puts only such an answer on the page
    assert "<html" not in part.content.decode()


def test_every_compaction_of_a_kept_replay_balances_in_the_own_unit_in_exact_tokens_and_in_estimates(session: Session) -> None:
    for policy in ("workbuddy-s14", "learn-claude-code-s08", "dsh-basic", "mini-harness-09"):
        history = keep(session, policy, **(LOW if policy == "workbuddy-s14" else {"window": 20_000}))
        for row in history.compactions.all():
            taken = row.entries.aggregate(
                own=Sum(F("own_before") - F("own_after")),
                exact=Sum(F("exact_before") - F("exact_after")),
                estimate=Sum(F("tokens_before") - F("tokens_after")),
            )
            assert (row.own_before or 0) - (taken["own"] or 0) == row.own_after, policy
            assert (row.exact_before or 0) - (taken["exact"] or 0) == row.exact_after, policy
            assert row.estimate_before - (taken["estimate"] or 0) == row.estimate_after, policy


def test_what_is_stored_has_the_sizes_that_the_page_had_before(session: Session) -> None:
    lane = readable_lane(public_id=session.public_id)
    found = replayed(lane=lane, asked=replay_asked(limits=LOW))
    history = keep(session)
    kept = readable_lane(public_id=session.public_id, history_id=history.public_id)
    assert found.detail.history == history.public_id
    assert [call_figures(lane=kept, n=call.n).estimate for call in found.calls] == [call.estimate for call in found.calls]
    assert [row.before_call for row in history.compactions.order_by("ordinal")] == [row.call for row in found.rows]


def test_every_policy_answers_on_a_session(session: Session) -> None:
    for policy in POLICIES:
        answer = Client().get(f"/s/{session.public_id}/replay?policy={policy.id}")
        assert answer.status_code == 200, policy.id
        assert Client().get(answer.context["frame"].json).json()["policy"]["id"] == policy.id


def test_ledger_view_and_fate_show_the_history_that_is_named(session: Session) -> None:
    history = keep(session)
    own, h = f"/s/{session.public_id}", f"?h={history.public_id}"
    ledger = Client().get(f"{own}/ledger{h}").content.decode()
    assert "workbuddy-s14 would have made" in ledger
    assert f'href="b/{LedgerEntry.objects.filter(history=history, adds=False)[0].seq}.' in ledger
    assert h in ledger
    call = history.compactions.order_by("ordinal")[0].before_call
    view = Client().get(f"{own}/view/{call}{h}")
    estimate = Span.objects.filter(history=history, from_call__lte=call, to_call__gt=call).aggregate(all=Sum("estimate"))["all"]
    assert f"{estimate:,}" in view.content.decode()
    taken = LedgerEntry.objects.filter(history=history, adds=False, state_after="")[0]
    fate = Client().get(f"{own}/b/{taken.seq}.{taken.i}{h}").content.decode()
    assert 'aria-current="true">workbuddy-s14' in fate
    assert "(chars/4)" in fate
    for page in ("ledger", f"view/{call}"):
        assert Client().get(f"{own}/{page}?h=nothing").status_code == 404


def test_a_block_that_a_replay_put_in_has_a_fate_there_and_nowhere_else(session: Session) -> None:
    history = keep(session, "learn-claude-code-s08", trigger=30_000)
    added = AddedBlock.objects.filter(history=history).select_related("body")[0]
    address = f"/s/{session.public_id}/b/{added.seq}.{added.i}"
    shown = Client().get(f"{address}?h={history.public_id}")
    assert shown.status_code == 200
    assert "would have put it there" in shown.content.decode()
    assert Client().get(address).status_code == 404
    assert Client().get(shown.context["frame"].json).json()["block"]["block"] == f"{added.seq}.{added.i}"
    assert Client().get(f"/s/{session.public_id}/body/{bytes(added.body.digest).hex()}").status_code == 200


def test_the_last_replays_are_kept_and_pinned_ones_stay(session: Session) -> None:
    with override_settings(CTXWEB_REPLAYS_KEPT=2):
        first, second = keep(session, trigger=9_000), keep(session, trigger=8_000)
        history_pin(history=first, pinned=True)
        third = keep(session, trigger=7_000)
    kept = set(History.objects.filter(origin="replayed").values_list("public_id", flat=True))
    assert kept == {first.public_id, third.public_id}
    assert not Span.objects.filter(history=second.pk).exists()


def test_a_job_keeps_a_replay_and_names_the_history(session: Session) -> None:
    job = replay_open(session=session, asked=replay_asked(limits=LOW))
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    replay_work(JobRun(claimed))
    job.refresh_from_db()
    assert job.state == "succeeded"
    assert job.result is not None
    assert History.objects.filter(public_id=job.result["history"], origin="replayed").exists()
    assert Client().get(f"/jobs/{job.public_id}").status_code == 200


def test_the_number_of_queries_does_not_grow_with_what_fires(session: Session) -> None:
    counts = []
    for trigger in (9_000, 3_000):
        address = f"/s/{session.public_id}/replay?trigger={trigger}"
        Client().get(address)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answer = Client().get(address)
        counts.append(len(queries))
        assert len(answer.content) < 100_000
        assert answer.content.count(b"<") < 5_000
        assert not re.search(rb"<[^>]+ (style|on\w+)=", answer.content)
    assert counts[0] == counts[1]


def test_a_spilled_text_has_a_pointer_to_the_text_itself(session: Session) -> None:
    history = keep(session, "claude-code-spill", **{"spill_results.longer_than": 2_000})
    spilled = LedgerEntry.objects.filter(history=history, verb="spill").exclude(pointer="")
    assert spilled.exists()
    digests = {pointer.rpartition(":")[2][:32] for pointer in spilled.values_list("pointer", flat=True)}
    assert Body.objects.filter(digest__in=[bytes.fromhex(digest) for digest in digests]).count() == len(digests)


def test_the_command_says_the_same_and_proves_it_from_the_raw_records(session: Session) -> None:
    out = StringIO()
    call_command("replay", session.public_id, "--set", "trigger=9000", "--set", "hard_limit=12000", "--report", "--json", stdout=out)
    told = json.loads(out.getvalue())
    twin = Client().get(f"/api/v1/sessions/{session.public_id}/replay?trigger=9000&hard_limit=12000").json()
    assert told["layers"] == twin["layers"]
    assert told["report"][-1] == "replayed from the raw records: the same"
    with pytest.raises(CommandError, match="trigger"):
        call_command("replay", session.public_id, "--set", "trigger=-1", stdout=out)


def test_strict_refuses_a_session_whose_tool_calls_do_not_pair(session: Session) -> None:
    lane = readable_lane(public_id=session.public_id)
    found = replayed(lane=lane, asked=replay_asked(limits=LOW, orphans="keep"))
    orphans = [each for each in found.detail.findings if each.code == "orphans_kept"]
    if orphans:
        with pytest.raises(ReplayRefused) as refused:
            replayed(lane=lane, asked=replay_asked(limits=LOW, orphans="strict"))
        assert refused.value.field == "orphans"
    else:
        assert replayed(lane=lane, asked=replay_asked(limits=LOW, orphans="strict")).detail.firings == found.detail.firings


def test_a_later_read_of_a_spilled_file_leads_to_its_spill(session: Session) -> None:
    history = keep(session, "claude-code-spill", **{"spill_results.longer_than": 300})
    twin = Client().get(f"/api/v1/sessions/{session.public_id}/replay?policy=claude-code-spill&spill_results.longer_than=300").json()
    again = [each for each in twin["artifacts"] if each["read_again"]]
    assert again, "the demo session reads a file twice"
    fate = Client().get(f"/api/v1/histories/{history.public_id}/blocks/{again[0]['read_again']}/fate").json()
    assert fate["reads_spilled"]["pointer"] in {each["pointer"] for each in again}
    shown = Client().get(f"/s/{session.public_id}/b/{again[0]['read_again']}?h={history.public_id}").content.decode()
    assert "Its file had been spilled before" in shown
