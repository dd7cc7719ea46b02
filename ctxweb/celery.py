"""The Celery application: a doorbell. The job table is the truth, and the sweep rings again for what was lost."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")

app = Celery("ctxweb", include=("ctxweb.tasks",))
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = {
    "jobs-sweep": {"task": "ctxweb.tasks.jobs_sweep", "schedule": 15.0},
}
