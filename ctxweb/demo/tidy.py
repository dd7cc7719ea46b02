"""*tidy*: a short session in which nothing was taken from the model."""

from __future__ import annotations

from ctxweb.demo.script import Count, Script
from ctxweb.demo.texts import source_file, test_log


def tidy_session(count: Count) -> bytes:
    """Eight calls: read, change, test, answer. The prompt only grows."""
    script = Script(seed=11, count=count, hidden=16_400)
    script.title("Round prices once, at the end")
    script.user("Prices on invoices are rounded per line. Round once, at the end, and keep the tests green.")
    script.step(
        "Grep",
        "shop/invoice/total.py:41\nshop/invoice/lines.py:88\nshop/refund/total.py:17",
        script.think("The rounding may be in more than one place; look for it first."),
        script.say("I will look for every place that rounds."),
        pattern="round\\(",
        path="shop",
    )
    script.step("Read", source_file(1, 18), file_path="/home/ana/shop/shop/invoice/total.py")
    script.step("Read", source_file(2, 9), file_path="/home/ana/shop/shop/invoice/lines.py")
    script.step(
        "Edit",
        "The file has been updated.",
        script.think("Lines keep four decimals; the total rounds half up."),
        file_path="/home/ana/shop/shop/invoice/total.py",
        old_string="    return sum(round(line.amount, 2) for line in lines)",
        new_string="    return round_half_up(sum(line.amount for line in lines))",
    )
    script.step("Bash", test_log(3, 24), command="pytest -q tests/test_invoice.py")
    script.wait(420)
    script.user("Good. 退款 should use the same function.")
    script.step("Read", source_file(4, 7), file_path="/home/ana/shop/shop/refund/total.py")
    script.answer(script.say("Refunds now call `round_half_up` too: one rounding, at the end, in both places."))
    return script.file()
