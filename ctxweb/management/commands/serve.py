"""`manage.py serve`: the dashboard with everything that it needs, on this machine."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ctxweb.serve.errors import ServeError
from ctxweb.serve.lock import only_supervisor
from ctxweb.serve.supervisor import Address, Supervisor


class Command(BaseCommand):
    help = "Serve the dashboard: broker, worker and web server in one, until Ctrl-C."
    requires_system_checks = ()  # they run at the start itself, whose refusal names the setting

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="a loopback address (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="default: %(default)s")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        try:
            with only_supervisor(settings.HOME):
                Supervisor(address=Address(host=host, port=port), say=self._say).run()
        except ServeError as error:
            raise CommandError(str(error)) from error

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()
