"""All addresses: the pages, the API, health. Static files are served in front of them."""

from django.urls import path

from ctxweb.api import api
from ctxweb.health import healthz
from ctxweb.views import PAGES

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/v1/", api.urls),
    *PAGES,
]

handler400 = "ctxweb.errors.bad_request"
handler403 = "ctxweb.errors.permission_denied"
handler404 = "ctxweb.errors.not_found"
handler500 = "ctxweb.errors.server_error"
