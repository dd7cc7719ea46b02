"""ASGI entry point, which `manage.py serve` gives to granian."""

import os
import warnings

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")
# whitenoise hands over files as plain iterators, which Django reads for it
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators", category=Warning)
application = get_asgi_application()
