"""What left before a call: the largest blocks, and all that the user wrote."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from ctxweb.models import Block, Message, Span
from tests.ctxweb.pages_b.rows import make_session

pytestmark = pytest.mark.django_db


def test_what_the_user_wrote_is_shown_among_what_left_however_small_it_is() -> None:
    session = make_session(turns=7, name="a")
    asked = Message.objects.filter(revision=session.current, role="user", origin="human", seq__lt=20).values_list("seq", flat=True)
    texts = set(Block.objects.filter(revision=session.current, kind="text", seq__in=asked).values_list("seq", flat=True))
    assert texts
    Span.objects.filter(seq__in=texts).update(estimate=1)
    text = Client().get(f"/s/{session.public_id}/view/16?against=15").content.decode()
    shown = re.findall(r'class="ghost" id="g(\d+)\.1"', text)
    assert texts <= {int(seq) for seq in shown}
    assert "smaller blocks between them" in text
