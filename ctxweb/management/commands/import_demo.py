"""`manage.py import_demo`: the demo sessions, also into a home that holds others."""

from typing import Any

from django.core.management.base import BaseCommand

from ctxweb.services.demo import demo_import


class Command(BaseCommand):
    help = "Import the three demo sessions: tidy, long and broken. Those that are there already stay as they are."

    def handle(self, *args: Any, **options: Any) -> None:
        demo_import()
