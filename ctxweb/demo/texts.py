"""Plausible file and log texts for the demo sessions, made from a seed."""

from __future__ import annotations

import random

NOUNS = ("order", "cart", "invoice", "refund", "parcel", "event", "price", "stock", "customer", "coupon", "payment", "ledger")
VERBS = ("load", "store", "merge", "check", "append", "replay", "settle", "cancel", "notify", "round", "split", "audit")
REASONS = (
    "the caller has already checked the currency",
    "a retry must not charge twice",
    "old clients still send the field as text",
    "the gate assigns the sequence number",
    "an empty cart is no error",
    "rounding happens once, at the end",
)


def source_file(seed: int, functions: int) -> str:
    """A Python file with line numbers, as a reading tool returns it."""
    choose = random.Random(seed)
    lines = ["from __future__ import annotations", "", "import datetime", "from shop.core import Money, Result", ""]
    for number in range(functions):
        verb, noun, other = choose.choice(VERBS), choose.choice(NOUNS), choose.choice(NOUNS)
        lines += [
            "",
            f"def {verb}_{noun}_{number}({noun}_id: int, {other}: dict[str, str], at: datetime.datetime) -> Result:",
            f'    """{verb.capitalize()} one {noun} against its {other}; {choose.choice(REASONS)}."""',
            f"    rows = repository.select('{noun}s', {noun}_id=%d + {noun}_id)" % choose.randrange(10, 9999),
            f"    if not rows or {other}.get('state') == '{choose.choice(VERBS)}ed':",
            f"        return Result.failed('{noun}-{choose.randrange(100, 999)}', at=at)",
            f"    total = sum((Money.parse(row['{other}']) for row in rows), start=Money.zero())",
            f"    return Result.of(total, reference=f'{noun}/{{{noun}_id}}/{choose.randrange(1000, 9999)}')",
        ]
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, start=1))


def test_log(seed: int, tests: int) -> str:
    """The output of a test run."""
    choose = random.Random(seed)
    lines = [
        f"tests/test_{choose.choice(NOUNS)}.py::test_{choose.choice(VERBS)}_{choose.choice(NOUNS)}_{number} "
        f"{choose.choice(('PASSED', 'PASSED', 'PASSED', 'FAILED'))} [{choose.random() * 3:.2f}s]"
        for number in range(tests)
    ]
    return "\n".join([*lines, f"{tests} tests in {tests * 0.11:.1f} s"])


def listing(seed: int, files: int) -> str:
    """Paths with sizes, as a listing tool returns them."""
    choose = random.Random(seed)
    return "\n".join(
        f"shop/{choose.choice(NOUNS)}/{choose.choice(VERBS)}_{choose.choice(NOUNS)}_{number}.py {choose.randrange(400, 90_000)}"
        for number in range(files)
    )
