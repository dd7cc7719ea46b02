"""What must hold for the cases of dsh logs."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.sentences_bugs import tail_warned
from tests.cases.world import World


def both_users_in_view(world: World) -> None:
    said = [f"{block.seq}.{block.i}" for block in world.blocks() if block.kind == "text"]
    users = {f"{message.seq}.1" for message in world.messages() if message.origin == "human"}
    assert len(users) == 2
    assert users <= set(world.view(2))
    assert users <= set(said)


def no_loss_by_attempt(world: World) -> None:
    (compaction,) = world.compactions()
    assert compaction.status == "failed"
    assert not world.entries()


def prune_names_its_call(world: World) -> None:
    (compaction,) = world.recorded()
    assert (compaction.mechanism, compaction.tokens_before, compaction.scale) == ("prune_head_tail", 3011, "messages")
    page = world.page("ledger")
    assert "call c1" in page
    assert "3,011" in page


def pruned_text_in_view(world: World) -> None:
    (entry,) = [entry for entry in world.entries() if not entry.adds]
    place = f"{entry.seq}.{entry.i}"
    assert place in world.view(3)
    page = world.page("view/3")
    assert "tool result middle pruned" in page
    assert "AAAAAAAA" not in page


def one_version_in_view(world: World) -> None:
    results = {f"{block.seq}.{block.i}" for block in world.blocks() if block.kind == "tool_result" and block.tool_id == "c1"}
    assert len(results & set(world.view(3))) == 1


def unknown_event_lowers(world: World) -> None:
    """The event follows the only call, whose own view it cannot touch; that a call after one is `approx` is shown in test_dsh."""
    (finding,) = [finding for finding in world.findings() if finding.code == "unknown_event"]
    assert finding.detail.startswith("zz/brand-new")
    assert "later views are approximate" in world.page("import")
    assert "finding" in world.page("")


SENTENCES: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"the view of call 2 holds both user messages", both_users_in_view),
    (r"a loss attributed to the attempt", no_loss_by_attempt),
    (r"the prune names call c1 and 3,011 tokens", prune_names_its_call),
    (r"the view of call 3 holds the pruned text, not the original", pruned_text_in_view),
    (r"both versions of the tool result in one view", one_version_in_view),
    (r"one warning", tail_warned),
    (r"the unknown event without the ignorable mark lowers the fidelity of the later views, and the page says so", unknown_event_lowers),
)
