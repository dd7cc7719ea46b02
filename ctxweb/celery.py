"""The Celery application: a doorbell. The job table is the truth, and the sweep rings again for what was lost."""

import os

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")

SWEEP_SECONDS = 15.0
DUE_SECONDS = 60.0  # how exactly the schedules of projects are kept

app = Celery("ctxweb", include=("ctxweb.tasks",))
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = {
    # a sweep that no worker took is stale by the next one
    "jobs-sweep": {"task": "ctxweb.tasks.jobs_sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "verifications-due": {"task": "ctxweb.tasks.verifications_due", "schedule": DUE_SECONDS, "options": {"expires": DUE_SECONDS}},
}


def mark_ready(**_: object) -> None:
    settings.HOME.worker_ready.touch()


def unmark_ready(**_: object) -> None:
    settings.HOME.worker_ready.unlink(missing_ok=True)


worker_ready.connect(mark_ready)
worker_shutting_down.connect(unmark_ready)
