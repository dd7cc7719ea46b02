"""The pages, one file each; `PAGES` are their addresses."""

from django.urls import URLPattern, URLResolver

PAGES: tuple[URLPattern | URLResolver, ...] = ()
