"""Asks the pages of an imported session in one process, without a network: `python -m benchmarks.ask CASE N SESSION…`.

CASE is a key of `CASES`; each page is asked for N times, after one that warms up, or the views of N calls.
Prints a JSON list of `Answer`, for each session its answers in the same order.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from html.parser import HTMLParser

import django
from django.test import Client

WORD, CHINESE = "refund", "事件"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`p95_ms`: 95th percentile of the CPU time of an answer, which other work on the machine disturbs less than its wall time.

    Size and elements are those of the largest answer; None: JSON has no elements.
    """

    name: str
    p95_ms: float
    bytes: int
    nodes: int | None


class Elements(HTMLParser):
    count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += 1


def pages(session: str, times: int) -> Iterator[Answer]:
    from ctxweb import addresses
    from ctxweb.models import Block
    from ctxweb.queries.readable import readable_lane

    lane = readable_lane(public_id=session)
    middle = lane.session.message_count // 2
    block = Block.objects.filter(revision=lane.revision, seq__gte=middle).order_by("seq", "i")[0]
    for name, address in (
        ("sessions", addresses.SESSIONS),
        ("overview", addresses.overview(session)),
        ("messages, first window", addresses.messages(session)),
        ("messages, in the middle", addresses.messages(session, seq=middle)),
        ("view of the last call", addresses.view(session, lane.session.call_count)),
        ("ledger", addresses.ledger(session)),
        ("fate of a block", addresses.fate(session, block.seq, block.i)),
        ("import report", addresses.import_report(session)),
    ):
        yield answer(name, [address.partition("#")[0]] * times)


def views(session: str, times: int) -> Iterator[Answer]:
    from ctxweb import addresses
    from ctxweb.queries.readable import readable_lane

    lane = readable_lane(public_id=session)
    last = lane.session.call_count
    calls = sorted({last - place * (last - 1) // times for place in range(times)})
    yield answer("page", [addresses.view(session, n) for n in calls])
    yield answer("page, against the call before", [addresses.view(session, n, against=n - 1) for n in calls if n > 1])
    yield answer("JSON", [addresses.api_history(lane.history.public_id, f"calls/{n}/view") for n in calls])


def searches(session: str, times: int) -> Iterator[Answer]:
    from benchmarks.session import NEEDLE
    from ctxweb import addresses

    for name, q in (("English word", WORD), ("Chinese, two characters", CHINESE), ("code, inside of a word", NEEDLE[2:-2])):
        yield answer(name, [addresses.search(q)] * times)


CASES: dict[str, Callable[[str, int], Iterator[Answer]]] = {"pages": pages, "view": views, "search": searches}


def answer(name: str, asked: Sequence[str]) -> Answer:
    client = Client(SERVER_NAME="127.0.0.1")
    got(client, asked[0])
    spent, bodies = [], []
    for address in asked:
        start = time.process_time()
        bodies.append(got(client, address))
        spent.append(1000 * (time.process_time() - start))
    largest = max(bodies, key=len)
    return Answer(name=name, p95_ms=percentile(spent, 0.95), bytes=len(largest), nodes=elements(largest))


def got(client: Client, address: str) -> bytes:
    response = client.get(address)
    body = b"".join(response)
    if response.status_code != 200:
        raise SystemExit(f"{address} answered {response.status_code}")
    return body


def elements(body: bytes) -> int | None:
    if not body.lstrip().startswith(b"<"):
        return None
    parser = Elements()
    parser.feed(body.decode())
    return parser.count


def percentile(values: Sequence[float], share: float) -> float:
    """By nearest rank."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


if __name__ == "__main__":
    django.setup()
    from ctxweb.serve.static_files import prepare_static

    prepare_static()
    print(json.dumps([asdict(each) for session in sys.argv[3:] for each in CASES[sys.argv[1]](session, int(sys.argv[2]))]))
