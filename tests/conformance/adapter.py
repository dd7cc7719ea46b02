"""The library for the conformance checker: looks a function up and translates errors. Rules live in the library alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.errors import CompactionError
from tests.conformance import course09, dsh, s08, s14, s14_durable
from tests.conformance.calls import Functions
from tests.conformance.errors import Renamed, described

FUNCTIONS: dict[str, Functions] = {
    "s14": s14.FUNCTIONS | s14_durable.FUNCTIONS,
    "s08": s08.FUNCTIONS,
    "course09": course09.FUNCTIONS,
    "dsh": dsh.FUNCTIONS,
}


def run(system: str, function: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """What the library answers to one case."""
    if function not in FUNCTIONS.get(system, {}):
        raise NotImplementedError(f"{system}/{function}")
    try:
        return {"output": FUNCTIONS[system][function]({**case["input"], **case})}
    except Renamed as renamed:
        return {"error": {**described(renamed.error), "attrs": renamed.attrs}}
    except CompactionError as error:
        return {"error": described(error)}
