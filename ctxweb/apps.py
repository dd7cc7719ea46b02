"""The one Django application of this project."""

from django.apps import AppConfig


class CtxwebConfig(AppConfig):
    name = "ctxweb"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from ctxweb import checks  # noqa: F401  importing it registers the system checks
