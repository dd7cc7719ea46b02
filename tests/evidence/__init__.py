"""Evidence over what is really imported: prompts, balances, pages against twins, sizes and queries."""

import pytest

pytest.register_assert_rewrite(
    "tests.evidence.session_pages", "tests.evidence.other_pages", "tests.evidence.walk", "tests.evidence.elements"
)
