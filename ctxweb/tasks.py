"""Celery's side of the jobs: each task takes an id, or nothing, and calls the service of the same name."""

from ctxweb.celery import app
from ctxweb.services import jobs_run, source_jobs


@app.task(name="ctxweb.tasks.job_run")
def job_run(job_id: int) -> None:
    jobs_run.job_run(job_id=job_id)


@app.task(name="ctxweb.tasks.jobs_sweep")
def jobs_sweep() -> None:
    jobs_run.jobs_sweep()


@app.task(name="ctxweb.tasks.verifications_due")
def verifications_due() -> None:
    source_jobs.verifications_due()
