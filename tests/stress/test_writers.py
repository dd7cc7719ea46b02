"""Many writers at once: the settings of the database lose no transaction and report no error."""

from __future__ import annotations

import os

import pytest
from django.db import connections, transaction
from django.db.models import F

from ctxweb.models import Job

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS = 20
TRANSACTIONS = 50


def test_twenty_writers_end_their_transactions_without_an_error() -> None:
    job = Job.objects.create(public_id="w" * 20, kind="none", key="w" * 64)
    connections.close_all()
    children = []
    for _ in range(WRITERS):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for _ in range(TRANSACTIONS):
                    with transaction.atomic():
                        read = Job.objects.select_for_update().get(pk=job.pk)
                        Job.objects.filter(pk=job.pk).update(done=read.done + 1, version=F("version") + 1)
                status = 0
            except Exception as error:
                os.write(2, f"a writer failed: {error!r}\n".encode())
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * WRITERS
    job.refresh_from_db()
    assert job.done == job.version == WRITERS * TRANSACTIONS
