"""All settings, and the only place that reads the environment. `docs/operations.md` explains each variable."""

import os
from pathlib import Path

from csp.constants import NONE, SELF

from ctxweb.configured import configured_sources
from ctxweb.environment import Environment
from ctxweb.home import Home
from ctxweb.llm.prices import model_prices

BASE_DIR = Path(__file__).resolve().parent.parent
_env = Environment(values=os.environ)

# --- state folder and secrets
HOME = Home(root=_env.envpath("CTXWEB_HOME", default=BASE_DIR / "var"))
HOME.prepare()
SECRET_KEY = HOME.secret(HOME.secret_key)
API_TOKEN = HOME.secret(HOME.api_token)
AUDIT_KEY = _env.text("CTXWEB_AUDIT_KEY") or HOME.secret(HOME.audit_key)  # never in the database: it proves who wrote the audit
CHILD_ENVIRONMENT = {**os.environ, "CTXWEB_HOME": str(HOME.root)}  # what `serve` starts its children with
DEBUG = _env.envbool("CTXWEB_DEBUG", default=False)

# --- limits: each is tested at its value and beside it
CTXWEB_MAX_UPLOAD_BYTES = _env.envint("CTXWEB_MAX_UPLOAD_BYTES", default=2 * 1024**3)
CTXWEB_MAX_EXPANDED_BYTES = _env.envint("CTXWEB_MAX_EXPANDED_BYTES", default=2 * 1024**3)
CTXWEB_MAX_LINE_BYTES = _env.envint("CTXWEB_MAX_LINE_BYTES", default=16 * 1024**2)
CTXWEB_MAX_JSON_DEPTH = _env.envint("CTXWEB_MAX_JSON_DEPTH", default=200)
CTXWEB_MAX_RECORDS = _env.envint("CTXWEB_MAX_RECORDS", default=5_000_000)
CTXWEB_MAX_POST_BYTES = _env.envint("CTXWEB_MAX_POST_BYTES", default=2 * 1024**2)
CTXWEB_PAGE_ROWS = _env.envint("CTXWEB_PAGE_ROWS", default=200)
CTXWEB_DIFF_LINES = _env.envint("CTXWEB_DIFF_LINES", default=5_000)
CTXWEB_DIFF_CHARS = _env.envint("CTXWEB_DIFF_CHARS", default=400_000)
CTXWEB_BODY_PREVIEW_BYTES = _env.envint("CTXWEB_BODY_PREVIEW_BYTES", default=4096)
CTXWEB_SEARCH_SECONDS = _env.envint("CTXWEB_SEARCH_SECONDS", default=2)
CTXWEB_CONCURRENT_IMPORTS = _env.envint("CTXWEB_CONCURRENT_IMPORTS", default=2)
CTXWEB_CONCURRENT_SUMMARIES = _env.envint("CTXWEB_CONCURRENT_SUMMARIES", default=1)
CTXWEB_SUMMARY_MAX_TOKENS = _env.envint("CTXWEB_SUMMARY_MAX_TOKENS", default=4096)
CTXWEB_REPLAY_LANES = _env.envint("CTXWEB_REPLAY_LANES", default=4)
CTXWEB_DURABLE_ITEMS = _env.envint("CTXWEB_DURABLE_ITEMS", default=10_000)
CTXWEB_CHECKPOINT_CHARS = _env.envint("CTXWEB_CHECKPOINT_CHARS", default=5_000_000)
CTXWEB_UNIT_TEXTS = _env.envint("CTXWEB_UNIT_TEXTS", default=1000)
CTXWEB_RULES_BLOCKS = _env.envint("CTXWEB_RULES_BLOCKS", default=500_000)
CTXWEB_REPLAYS_KEPT = _env.envint("CTXWEB_REPLAYS_KEPT", default=20)

# --- models that may write summaries; without a key or an address none is asked
CTXWEB_ANTHROPIC_API_KEY = _env.text("CTXWEB_ANTHROPIC_API_KEY")
CTXWEB_ANTHROPIC_BASE_URL = _env.envurl("CTXWEB_ANTHROPIC_BASE_URL", default="https://api.anthropic.com")
CTXWEB_ANTHROPIC_MODEL = _env.text("CTXWEB_ANTHROPIC_MODEL")
CTXWEB_OPENAI_API_KEY = _env.text("CTXWEB_OPENAI_API_KEY")
CTXWEB_OPENAI_BASE_URL = _env.envurl("CTXWEB_OPENAI_BASE_URL")
CTXWEB_OPENAI_MODEL = _env.text("CTXWEB_OPENAI_MODEL")
CTXWEB_LLM_STREAM = _env.envbool("CTXWEB_LLM_STREAM", default=True)
CTXWEB_MODEL_PRICES = model_prices(_env.envjson("CTXWEB_MODEL_PRICES"), name="CTXWEB_MODEL_PRICES")
CTXWEB_MODEL_WINDOW = _env.envint("CTXWEB_MODEL_WINDOW", default=0, least=0)
CTXWEB_SUMMARY_INPUT_SHARE = _env.envdecimal("CTXWEB_SUMMARY_INPUT_SHARE", default="0.6", most="1")
CTXWEB_SUMMARY_SESSION_CAP_USD = _env.envdecimal("CTXWEB_SUMMARY_SESSION_CAP_USD", default="1")
CTXWEB_SUMMARY_DAY_CAP_USD = _env.envdecimal("CTXWEB_SUMMARY_DAY_CAP_USD", default="10")
CTXWEB_SUMMARY_PROJECT_CAP_USD = _env.envdecimal("CTXWEB_SUMMARY_PROJECT_CAP_USD", default="100")

# --- sources: how they are verified and watched; stores and repositories stand in a file of their own
CTXWEB_SOURCES = configured_sources(_env.envpath("CTXWEB_SOURCES", default=HOME.root / "sources.json"))
CTXWEB_SOURCE_BYTES = _env.envint("CTXWEB_SOURCE_BYTES", default=4 * 1024**3)
CTXWEB_SOURCE_SECONDS = _env.envint("CTXWEB_SOURCE_SECONDS", default=120)
CTXWEB_EVENTS = _env.envbool("CTXWEB_EVENTS", default=True)
CTXWEB_WATCHERS = _env.envint("CTXWEB_WATCHERS", default=50)

# --- where agents of this machine keep their sessions: offered on the Sessions page, read when the person says so
CTXWEB_CLAUDE_ROOTS = [
    _env.envpath("CLAUDE_CONFIG_DIR", default=Path.home() / ".claude"),
    Path.home() / ".claude",
    Path.home() / ".config" / "claude",
]
CTXWEB_CODEX_ROOTS = [_env.envpath("CODEX_HOME", default=Path.home() / ".codex")]
CTXWEB_DSH_ROOTS = [_env.envpath("DSH_HOME", default=Path.home() / ".dsh")]

# --- who may ask: loopback names, exactly
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *_env.hosts("CTXWEB_ALLOWED_HOSTS")]

# --- application
INSTALLED_APPS = [
    "ctxweb",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "ctxweb.middleware.IsolationMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ctxweb.middleware.BodyLimitMiddleware",
    "django.middleware.common.CommonMiddleware",
    "ctxweb.middleware.UnsafeRequestMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "ctxweb.urls"
ASGI_APPLICATION = "ctxweb.asgi.application"
WSGI_APPLICATION = "ctxweb.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- database: no ATOMIC_REQUESTS, because under IMMEDIATE each atomic block takes the write lock
DATABASES = {"default": _env.database("DATABASE_URL", sqlite=HOME.database)}

# --- static files
STATIC_URL = "/static/"
STATIC_ROOT = HOME.static
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- request bodies
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
DATA_UPLOAD_MAX_MEMORY_SIZE = CTXWEB_MAX_POST_BYTES
FILE_UPLOAD_TEMP_DIR = str(HOME.uploads)

# --- headers and cookies
CSRF_COOKIE_NAME = "ctxweb_csrf"  # a name of our own: browsers share cookies between the ports of a host
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "ctxweb.errors.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
    }
}

# --- queue: a doorbell only, the job table is the truth
REDIS_URL = _env.text("REDIS_URL")
CELERY_BROKER_URL = REDIS_URL or f"redis+socket://{HOME.broker_socket}?virtual_host=0"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 900,
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,  # kombu's 10 would make a redelivery wait for 100 s
    "socket_timeout": 5,
}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 180
CELERY_TASK_SOFT_TIME_LIMIT = 150
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 100
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 180 * 1024  # KiB: a child that came near 200 MB is replaced after its task
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# --- logs: to stderr, which `serve` keeps under the state folder
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}, "none": {"class": "logging.NullHandler"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "ctxweb": {"level": "INFO"},
        "django": {"handlers": [], "propagate": True},
        # ANTHROPIC_LOG=debug, as agents of this machine may set it, would write prompts into our logs
        **{name: {"handlers": ["none"], "propagate": False} for name in ("anthropic", "httpx2", "httpcore2")},
    },
}
