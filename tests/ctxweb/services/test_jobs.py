"""A job changes by compare-and-swap: one worker has it, and what a late one wanted to commit is rolled back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ctxweb.jobs import (
    FRUITLESS_RUNS,
    JobCancelled,
    JobLost,
    JobRun,
    SliceOver,
    job_cancel,
    job_claim,
    job_open,
    jobs_running,
    jobs_waiting,
)
from ctxweb.models import Job

pytestmark = pytest.mark.django_db(transaction=True)
ELSEWHERE = "another-machine/1/1"


def opened() -> Job:
    return job_open(kind="import", key="k" * 64, params={"name": "x"})


def claimed() -> Job:
    job = job_claim(job_id=opened().pk)
    assert job is not None
    return job


def lapse(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1), worker=ELSEWHERE)


def test_the_same_key_is_one_job() -> None:
    assert opened().pk == opened().pk
    assert Job.objects.count() == 1


def test_a_job_that_has_ended_is_queued_again_by_its_key() -> None:
    JobRun(claimed()).end("failed", error={"code": "c", "message": "m"})
    again = opened()
    assert (again.state, again.error, again.fruitless) == ("queued", None, 0)


def test_a_claimed_job_is_nobody_elses() -> None:
    job = claimed()
    assert job_claim(job_id=job.pk) is None
    assert jobs_waiting(kind="import", limit=5) == []
    assert jobs_running(kind="import") == 1


def test_a_lease_that_ran_out_can_be_claimed_and_the_late_worker_commits_nothing() -> None:
    late = JobRun(claimed())
    lapse(late.job)
    assert jobs_waiting(kind="import", limit=5) == [late.job.pk]
    second = job_claim(job_id=late.job.pk)
    assert second is not None
    with pytest.raises(JobLost), late.commit(done=7):
        Job.objects.filter(pk=second.pk).update(kind="half")
    with pytest.raises(JobLost):
        late.end("succeeded")
    second.refresh_from_db()
    assert (second.kind, second.done, second.state, second.attempt) == ("import", 0, "leased", 2)


def test_the_job_of_a_dead_process_of_this_machine_is_free_at_once() -> None:
    job = claimed()
    host, pid, _ = job.worker.rsplit("/", 2)
    Job.objects.filter(pk=job.pk).update(worker=f"{host}/{pid}/1")  # a process with this number, but of another time
    assert jobs_waiting(kind="import", limit=5) == [job.pk]


def test_a_job_without_progress_is_abandoned_and_progress_starts_the_count_anew() -> None:
    run = JobRun(claimed())
    with run.commit(done=1):
        pass
    for _ in range(FRUITLESS_RUNS):
        lapse(run.job)
        assert job_claim(job_id=run.job.pk) is not None
    lapse(run.job)
    assert job_claim(job_id=run.job.pk) is None
    run.job.refresh_from_db()
    assert run.job.state == "abandoned"
    assert run.job.error is not None
    assert run.job.error["code"] == "abandoned"


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_after_its_batch() -> None:
    job = opened()
    job_cancel(job=job)
    job.refresh_from_db()
    assert job.state == "cancelled"
    run = JobRun(claimed())
    job_cancel(job=run.job)
    with pytest.raises(JobCancelled), run.commit(done=5):
        pass
    run.job.refresh_from_db()
    assert (run.job.state, run.job.done) == ("leased", 5)


def test_a_run_whose_time_is_over_stops_behind_a_committed_batch() -> None:
    run = JobRun(claimed(), deadline=0.0)
    with pytest.raises(SliceOver), run.commit(done=5):
        pass
    run.end("queued")
    run.job.refresh_from_db()
    assert (run.job.state, run.job.done, run.job.lease_until) == ("queued", 5, None)


def test_the_log_keeps_its_last_lines() -> None:
    run = JobRun(claimed())
    for number in range(60):
        run.note(f"line {number}")
    run.job.refresh_from_db()
    assert [entry["line"] for entry in run.job.log][::49] == ["line 10", "line 59"]
