"""The worker of the program with its sweep every second, and with one job that kills whoever works on it.

python -m tests.stress.summary_worker CELERY-OPTIONS…
"""

import os
import signal
import sys

import django

SWEEP_SECONDS = 1.0
POISON = "poison"  # the focus of a job that nobody survives


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "ctxweb.settings"
    django.setup()
    from ctxweb.celery import app
    from ctxweb.services import checkpoint_summarize

    check_archive = checkpoint_summarize._Work._check_archive

    def check_or_die(work: checkpoint_summarize._Work) -> None:
        if work.plan.asked.focus == POISON:
            os.kill(os.getpid(), signal.SIGKILL)
        check_archive(work)

    checkpoint_summarize._Work._check_archive = check_or_die  # type: ignore[method-assign, assignment]
    app.conf.beat_schedule["jobs-sweep"].update(schedule=SWEEP_SECONDS, options={"expires": SWEEP_SECONDS})
    app.start(sys.argv[1:])


if __name__ == "__main__":
    main()
