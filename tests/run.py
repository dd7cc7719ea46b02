"""`make test`: the whole suite on SQLite, then what touches a database again on PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Mapping

from tests.local_services import SERVICES, answers, service_address

ON_SQLITE = "not stress"
ON_POSTGRES = "not stress and not browser and not nodb"


def run_pytest(marks: str, extra: Mapping[str, str]) -> bool:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CTXWEB_HOME")}
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope", "-q", "-m", marks, *sys.argv[1:]]
    return subprocess.run(command, env={**environment, **extra}, check=False).returncode == 0


def say(sentence: str) -> None:
    sys.stdout.write(f"\n=== {sentence}\n")
    sys.stdout.flush()


def main() -> int:
    say("The whole suite, on SQLite")
    passed = run_pytest(ON_SQLITE, {})
    address = service_address("postgres")
    if answers(address):
        say("What touches a database, on PostgreSQL")
        return 0 if run_pytest(ON_POSTGRES, {"DATABASE_URL": address}) and passed else 1
    say(f"Skipped: the run on PostgreSQL. None answers at its usual address; name one in {SERVICES['postgres'][0]}.")
    is_required = os.environ.get("CTXWEB_REQUIRE_SERVICES") == "1"
    return 0 if passed and not is_required else 1


if __name__ == "__main__":
    sys.exit(main())
