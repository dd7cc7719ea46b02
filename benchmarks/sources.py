"""Verification of sources: many small ones by two workers, and a large one in little memory.

python -m benchmarks.sources prepare               sessions with durable items into the home; prints the number of pointers
python -m benchmarks.sources verify                two workers verify all of them; prints the seconds of their work
python -m benchmarks.sources artifact FOLDER SIZE  a sparse artifact of SIZE bytes, looked at once; prints what it came to
python -m benchmarks.sources digest FOLDER         the same file through the standard library alone
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from datetime import datetime
from io import BytesIO
from pathlib import Path

import django

POINTERS = 50  # a session
WORKERS = 2
RECORD_CHARS = 300
START = "start"  # what a worker waits for on its standard input


def prepare(sessions: int) -> None:
    from django.core.management import call_command

    from ctxweb.models import LOCAL, DurableItem
    from ctxweb.services.session_import import session_import

    call_command("migrate", verbosity=0)
    for number in range(sessions):
        told = session_import(name=f"{number}.jsonl", stream=BytesIO(talk(number))).objects()
        session = told[0]["session"]
        DurableItem.objects.bulk_create(
            DurableItem(
                project_id=LOCAL, session=session, version=1, domain="facts", ordinal=record, item_id=str(record),
                pointer=f"transcript:{session}:{record}",
            )
            for record in range(2, 2 + POINTERS)
        )  # fmt: skip
    sys.stdout.write(f"{DurableItem.objects.count()}\n")


def talk(number: int) -> bytes:
    """A message list of as many records as it has pointers."""
    lines: list[dict[str, object]] = [{"format": "ctxweb.message_list", "version": 1, "title": f"session {number}"}]
    for record in range(POINTERS):
        text = f"session {number} says {record}: " + "evidence " * (RECORD_CHARS // 9)
        lines.append({"type": "message", "role": "user", "content": text})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def verify() -> None:
    """Both workers have started before there is anything to do, so that only their work counts."""
    from ctxweb.models import LOCAL, AuditEntry, Job, Project
    from ctxweb.services.source_jobs import project_verification_open

    before = AuditEntry.objects.count()
    command = [sys.executable, "-m", "benchmarks.sources", "worker"]
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(WORKERS)]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    jobs = project_verification_open(project=Project.objects.get(pk=LOCAL), actor="bench")
    cpu_s = sum(float(worker.communicate(START)[0]) for worker in workers)
    done = Job.objects.filter(pk__in=[job.pk for job in jobs])
    if set(done.values_list("state", flat=True)) != {"succeeded"}:
        raise SystemExit("not every part was verified")
    times: list[tuple[datetime, datetime]] = [(job.started_at, job.ended_at) for job in done if job.started_at and job.ended_at]
    seconds = (max(end for _, end in times) - min(start for start, _ in times)).total_seconds()
    sys.stdout.write(json.dumps({"seconds": seconds, "pointers": AuditEntry.objects.count() - before, "cpu_s": cpu_s}))


def worker() -> None:
    from django.db import connection

    from ctxweb.jobs import job_claim, jobs_waiting
    from ctxweb.services.jobs_run import claimed_run

    connection.ensure_connection()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    start = time.process_time()
    while waiting := jobs_waiting(kind="verify", limit=10):
        for job_id in waiting:
            job = job_claim(job_id=job_id)
            if job is not None:
                claimed_run(job=job)
    sys.stdout.write(f"{time.process_time() - start}")


def artifact(folder: Path, size: int) -> None:
    """As a worker looks at it, with everything loaded that a worker has loaded."""
    from ctxweb.models import Project
    from ctxweb.sources.resolving import project_resolver

    path = sparse(folder, size)
    digest = "0" * 12  # whatever it is: all bytes are read before it is compared
    project = Project(id="bench", artifact_roots=[str(folder)])
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256")  # whoever reads first, fills the memory of the system
    start = time.process_time()
    with project_resolver(project=project, pointers=[]) as opened:
        opened.resolver.resolve(f"artifact:s1:{path.name}:{digest}")
    looked = time.process_time()
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256")
    sys.stdout.write(json.dumps({"seconds": looked - start, "hashlib": time.process_time() - looked}))


def sparse(folder: Path, size: int) -> Path:
    path = folder / "s1" / "tool-results" / "large.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


if __name__ == "__main__":
    django.setup()
    match sys.argv[1:]:
        case ["artifact", folder, size]:
            artifact(Path(folder), int(size))
        case ["prepare", sessions]:
            prepare(int(sessions))
        case [word]:
            {"verify": verify, "worker": worker}[word]()
