"""The program that `counting_apart` starts: counts bodies under the lease of the run that started it.

    python -m ctxweb.services.importing.count_process JOB ATTEMPT SECONDS ENCODING

reads the digests of the bodies from stdin. SECONDS are those left of the run, 0 for no end. It ends with 0, or with one of
`counting_apart.EXITS`.
"""

from __future__ import annotations

import sys
import time

import django


def main(job_id: str, attempt: str, seconds: str, encoding: str) -> int:
    from compaction.messages import DIGEST_BYTES
    from ctxweb.jobs import JobRun, JobStop
    from ctxweb.models import Job
    from ctxweb.services.importing.counting import bodies_count
    from ctxweb.services.importing.counting_apart import EXITS, LOST

    job = Job.objects.filter(pk=job_id, attempt=attempt, state=Job.State.LEASED).first()
    if job is None:
        return LOST
    read = sys.stdin.buffer.read()
    digests = {read[start : start + DIGEST_BYTES] for start in range(0, len(read), DIGEST_BYTES)}
    deadline = time.monotonic() + float(seconds) if float(seconds) else None
    try:
        bodies_count(run=JobRun(job, deadline), digests=digests, encoding=encoding)
    except JobStop as stop:
        return next(status for status, kind in EXITS.items() if isinstance(stop, kind))
    return 0


if __name__ == "__main__":
    django.setup()
    sys.exit(main(*sys.argv[1:]))
