"""Django's settings, from a validated environment.

A value that differs between installations is an environment variable (see `environment`). A value
that is the same for all installations is a constant of this module.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from pathlib import Path

import django_stubs_ext
from django.templatetags.static import static

from notifications.core.conf import Conf
from notifications.core.rules import in_app
from notifyproj import environment, postgres_url
from providers import dry_run, sandbox
from providers.contract import Channel

django_stubs_ext.monkeypatch()  # makes ModelForm[Producer] and the like legal at run time

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = environment.load(os.environ)

SECRET_KEY = ENVIRONMENT.secret_key
SECRET_KEY_FALLBACKS = list(ENVIRONMENT.secret_key_fallbacks)
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = ENVIRONMENT.hosts
CSRF_TRUSTED_ORIGINS = [ENVIRONMENT.public_url]
ROOT_URLCONF = "notifyproj.urls"
WSGI_APPLICATION = "notifyproj.wsgi.application"
CELERY_APP = "notifyproj.celery.app"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin.apps.SimpleAdminConfig",  # urls.py loads the pages; workers need none
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "notifications.core",
    "notifications.features.analytics",
    "notifications.features.archive",
    "notifications.features.attachments",
    "notifications.features.audiences",
    "notifications.features.back_pressure",
    "notifications.features.brands",
    "notifications.features.bulk_jobs",
    "notifications.features.cancel_jobs",
    "notifications.features.certificates",
    "notifications.features.connect",
    "notifications.features.digests",
    "notifications.features.inbox",
    "notifications.features.money",
    "notifications.features.moving",
    "notifications.features.preference_page",
    "notifications.features.receipt_lookups",
    "notifications.features.recipient_tokens",
    "notifications.features.schedules",
    "notifications.features.series",
    "notifications.features.single_sign_on",
    "notifications.features.sms_pumping",
    "notifications.features.template_studio",
]
MIDDLEWARE = [
    "notifications.core.api.correlation.Correlation",
    "notifications.core.api.cors.CrossOrigin",
    "notifications.core.api.body_limits.BodyLimits",
    "notifications.core.api.address_limits.AddressLimits",
    "django.middleware.security.SecurityMiddleware",
    "notifyproj.csp.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "notifyproj.pages.Compression",
    "notifyproj.pages.Sessions",
    "notifyproj.pages.HostCheck",
    "notifyproj.pages.Csrf",
    "notifyproj.pages.SignIn",
    "django_otp.middleware.OTPMiddleware",
    "notifyproj.sign_in.SecondFactor",
    "notifyproj.pages.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Django's health checks are off, because each check costs a round trip;
# `store.postgres.thread_session.drop_broken` checks the socket. A session lives for an hour, so a
# setting that an operator stores at the role reaches each task and request within the hour.
_SESSIONS = {
    "CONN_MAX_AGE": 3_600,
    # A transaction pooler may stand between the processes and Postgres. The pooler would drop
    # session settings, so `store.postgres.session_settings` stores them, and would give the next
    # statement to a session without the cursor that Django has declared.
    "DISABLE_SERVER_SIDE_CURSORS": True,
}
DATABASES = {"default": postgres_url.settings_of(ENVIRONMENT.database_url) | _SESSIONS}
if ENVIRONMENT.replica_url is not None:  # used by store.postgres.replica alone
    DATABASES["replica"] = {
        **postgres_url.settings_of(ENVIRONMENT.replica_url, is_replica=True),
        **_SESSIONS,
        "TEST": {"MIRROR": "default"},
    }
    MIDDLEWARE.append("notifyproj.pages.OwnWrites")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = "notifyproj.formats"
DOCS_SITE = BASE_DIR / "var" / "site"
# The folder of `make demo`; without the demo the pages below /demo/ are 404.
DEMO_FOLDER = Path(os.environ["DEMO_VAR"]) if "DEMO_VAR" in os.environ else None
STATIC_URL = "static/"
# What the build of the image and the start of the demo collect; see static_files.
STATIC_ROOT = (DEMO_FOLDER or BASE_DIR) / "static"
WHITENOISE_USE_FINDERS = DEBUG or not (STATIC_ROOT / "staticfiles.json").is_file()
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "notifyproj.static_files.StaticFiles"},
}
# Django's limit is for form posts; the API has a limit for each path.
DATA_UPLOAD_MAX_MEMORY_SIZE = 17 * 1024 * 1024
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 10 * 60 * 60  # seconds: a shift and its hand-over
OTP_TOTP_ISSUER = "Notifications"
OTP_ADMIN_HIDE_SENSITIVE_DATA = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.public_url.startswith("https:")
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if SESSION_COOKIE_SECURE else 0
SILENCED_SYSTEM_CHECKS = [
    "security.W003",  # the check looks for Django's class by name, and pages.Csrf is a subclass
    "security.W005",  # other hosts below the domain are the company's to decide about
    "security.W008",  # the proxy redirects; producers beside the service may call it by HTTP
    "security.W021",  # the company decides about the browsers' preload list
]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
LOGIN_REDIRECT_URL = "admin:index"
UNFOLD = {
    "SITE_TITLE": "Notifications",
    "SITE_HEADER": "Notifications",
    "SITE_SYMBOL": "notifications",
    "SITE_URL": None,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "ENVIRONMENT": "notifications.core.admin.dashboard.environment",
    "DASHBOARD_CALLBACK": "notifications.core.admin.dashboard.add_figures",
    "LOGIN": {"form": "notifyproj.sign_in.SignInForm"},
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "notifications.core.admin.menu.navigation",
    },
    "STYLES": [
        lambda _request: static("notifications/fonts/fonts.css"),
        lambda _request: static("notifications/console.css"),
    ],
    "COMMAND": {"search_callback": "notifications.core.admin.palette.search"},
}

DJANGO_CELERY_BEAT_TZ_AWARE = True

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["notifications.core.api.authentication.BearerKey"],
    "DEFAULT_PERMISSION_CLASSES": ["notifications.core.api.authentication.HasScope"],
    "DEFAULT_PARSER_CLASSES": ["notifications.core.api.json_io.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["notifications.core.api.json_io.JsonRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS is 405: the schema describes the API
    "EXCEPTION_HANDLER": "notifications.core.api.problems.answer",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Notifications",
    "DESCRIPTION": (
        "A producer hands a notification in. The service delivers it by push, SMS, e-mail, in-app,"
        " webhook or chat, or tells why it does not. Each error is a problem (RFC 9457): a client"
        " switches on its `code`. A POST with an `Idempotency-Key` can be repeated. Lists are"
        " paged by `cursor` and `limit`. A key that begins with `nk_test_` calls no real provider."
    ),
    "CONTACT": {"name": "The operators of this installation"},
    "LICENSE": {"name": "Apache-2.0", "url": "https://spdx.org/licenses/Apache-2.0.html"},
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/v1",
    "COMPONENT_SPLIT_REQUEST": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "POSTPROCESSING_HOOKS": ["notifications.core.api.operations.describe"],
    "WEBHOOKS": [
        "notifications.core.api.webhook_events.NOTIFICATION",
        "notifications.core.api.webhook_events.CONTACT",
        "notifications.core.api.webhook_events.BULK_JOB",
    ],
}

_SINGLE_SIGN_ON = "notifications.features.single_sign_on"
SINGLE_SIGN_ON = ENVIRONMENT.single_sign_on if _SINGLE_SIGN_ON in INSTALLED_APPS else None
PASSWORD_SIGN_IN = ENVIRONMENT.password_sign_in
if not (PASSWORD_SIGN_IN or SINGLE_SIGN_ON):
    raise environment.InvalidEnvironment(
        f"NOTIFY_PASSWORD_SIGN_IN=no needs {_SINGLE_SIGN_ON} in INSTALLED_APPS: nobody could sign"
        " in."
    )
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if SINGLE_SIGN_ON is not None:
    AUTHENTICATION_BACKENDS.append(f"{_SINGLE_SIGN_ON}.backend.SingleSignOn")

NOTIFICATIONS = Conf(
    state_url=ENVIRONMENT.state_url,
    broker_url=ENVIRONMENT.broker_url,
    encryption_keys=ENVIRONMENT.encryption_keys,
    hash_key=hashlib.sha256(b"address-hash" + SECRET_KEY.encode()).digest(),
    public_url=ENVIRONMENT.public_url,
    flower_url=ENVIRONMENT.flower_url or "",
    release=ENVIRONMENT.release,
    routes={Channel.IN_APP: in_app.PROVIDER, **ENVIRONMENT.routes},
    inbox_removes_read_pushes=ENVIRONMENT.inbox_removes_read_pushes,
    inbox_url_schemes=ENVIRONMENT.inbox_url_schemes,
    # The sandbox takes the messages of test keys; without a sandbox no provider is called.
    test_provider=sandbox.NAME if ENVIRONMENT.sandbox_url else dry_run.NAME,
    dry_run=ENVIRONMENT.delivery is environment.Delivery.DRY_RUN,
    allowed=ENVIRONMENT.allowed_recipients,
    retention=dt.timedelta(days=ENVIRONMENT.retention_days),
    inbox_retention=dt.timedelta(days=ENVIRONMENT.inbox_retention_days),
    dead_letters_kept=dt.timedelta(days=ENVIRONMENT.dead_letter_days),
    archive_url=ENVIRONMENT.archive_url or (BASE_DIR / "var" / "archive").as_uri(),
    flight_recorder=ENVIRONMENT.flight_recorder or f"/dev/shm/notify-{os.getuid()}",  # noqa: S108 - the recorder checks the owner
    archive_kept=dt.timedelta(days=ENVIRONMENT.archive_days),
    audit_kept=dt.timedelta(days=ENVIRONMENT.audit_days),
    contact_notice=ENVIRONMENT.contact_notice,
    requires_second_factor=ENVIRONMENT.require_second_factor,
    report_hour=ENVIRONMENT.report_hour,
    report_timezone=ENVIRONMENT.report_timezone,
    publish_needs_second_person=ENVIRONMENT.publish_needs_second_person,
    alert_urls=ENVIRONMENT.alert_urls,
    alert_thresholds=ENVIRONMENT.alert_thresholds,
    alerts_kept=dt.timedelta(days=ENVIRONMENT.alert_days),
    dead_letters_alert=ENVIRONMENT.dead_letter_alert,
    broker_messages=ENVIRONMENT.broker_messages,
    release_ramp=dt.timedelta(seconds=ENVIRONMENT.release_ramp_seconds),
    caps=ENVIRONMENT.caps,
    times_to_live=ENVIRONMENT.times_to_live,
    idempotency_keys_kept=dt.timedelta(hours=ENVIRONMENT.idempotency_hours),
    breaker_failures=ENVIRONMENT.breaker_failures,
    calls_in_flight=ENVIRONMENT.calls_in_flight,
    bulk_job_rate=ENVIRONMENT.bulk_job_per_hour / 3_600 or None,
    attachments_max_bytes=ENVIRONMENT.attachments_max_bytes,
    sms_max_segments=ENVIRONMENT.sms_max_segments,
    mail_senders=ENVIRONMENT.mail_senders,
    metrics_listen=ENVIRONMENT.metrics_listen,
    web=ENVIRONMENT.web,
    live_url=ENVIRONMENT.live_url or "",
    live=ENVIRONMENT.live,
    max_clock_skew=dt.timedelta(seconds=ENVIRONMENT.max_clock_skew_seconds),
)

LOGGING_CONFIG = "notifyproj.logs.configure"
LOGGING = {"level": ENVIRONMENT.log_level.value.upper()}
