"""The configuration from environment variables, validated at the start of each process.

This module reads the product's variables; `providers.registry` reads the variables of the vendors.
A process that starts has a complete and valid configuration. A process with an invalid
configuration ends with a line for each mistake: the variable, the fault and the correction. An
unknown NOTIFY_ name is a mistake too, because a misspelt name would otherwise be ignored until
production. No message contains a secret.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationError

from notifications.core.rules import in_app
from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE
from notifications.core.rules.rate_limits.circuit_breaker import STREAKS
from notifications.core.rules.rate_limits.frequency_caps import DEFAULTS
from notifyproj import setting_names
from notifyproj.environment_parts import (
    AlertEnvironment,
    DatabaseEnvironment,
    GatewayEnvironment,
    InboxEnvironment,
    LiveEnvironment,
    MailEnvironment,
    WebEnvironment,
    WorkerEnvironment,
)
from notifyproj.service_urls import with_passwords
from notifyproj.sign_in_environment import SignInEnvironment
from notifyproj.values import (
    ArchiveUrl,
    BrokerUrl,
    FernetKeys,
    Listen,
    MostOfEach,
    Names,
    Nat64Prefixes,
    Providers,
    PublicUrl,
    Reachable,
    RedisUrl,
    Secret,
    Secrets,
    Streaks,
    TimesToLive,
)
from providers import registry
from providers.errors import ConfigurationError

_DEFAULT_PORTS: Final = {"redis": 6379, "rediss": 6379, "amqp": 5672, "amqps": 5671}


class InvalidEnvironment(SystemExit):
    """The environment is invalid; the message has a line for each mistake.

    As a SystemExit, the error ends each program that imports the settings (manage.py, Celery, the
    web server) with the lines and exit code 1 instead of a traceback.
    """


class LogLevel(StrEnum):
    """Lowest level of the log lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Delivery(StrEnum):
    """Handling of messages in live mode."""

    LIVE = "live"
    """The service calls the providers."""
    DRY_RUN = "dry_run"
    """The service does every step except the call of a provider."""


class Environment(
    DatabaseEnvironment,
    WebEnvironment,
    InboxEnvironment,
    LiveEnvironment,
    SignInEnvironment,
    WorkerEnvironment,
    AlertEnvironment,
    MailEnvironment,
    GatewayEnvironment,
):
    """A valid environment. Each description completes the sentence "Give ..."."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    state_url: RedisUrl = Field(
        alias="REDIS_URL",
        description="the URL of the state Redis or Valkey, such as redis://:password@state:6379/0",
        repr=False,
    )
    broker_url: BrokerUrl = Field(
        alias="CELERY_BROKER_URL",
        description="the URL of the broker, such as redis://:password@broker:6379/0 or"
        " amqp://user:password@broker//",
        repr=False,
    )
    sandbox_url: str = Field(
        alias="NOTIFY_SANDBOX_URL",
        default="",
        description="the URL of the sandbox; without a sandbox, test keys cause no provider calls",
    )
    secret_key: Secret = Field(
        alias="NOTIFY_SECRET_KEY",
        description="the secret that signs sessions and tokens; `openssl rand -hex 32` makes a"
        " secret",
        repr=False,
    )
    secret_key_fallbacks: Secrets = Field(
        alias="NOTIFY_SECRET_KEY_FALLBACKS",
        default=(),
        description="a comma list of former values of NOTIFY_SECRET_KEY, whose signatures stay"
        " valid, such as those of unsubscribe links",
        repr=False,
    )
    encryption_keys: FernetKeys = Field(
        alias="NOTIFY_ENCRYPTION_KEYS",
        description="a comma list of Fernet keys: the first encrypts sensitive variables, all"
        " decrypt; `openssl rand -base64 32 | tr +/ -_` makes a key",
        repr=False,
    )
    public_url: PublicUrl = Field(
        alias="NOTIFY_PUBLIC_URL",
        description="the URL of this service for producers, providers and browsers, such as"
        " https://notify.example.com",
    )
    nat64_prefixes: Nat64Prefixes = Field(
        alias="NOTIFY_NAT64_PREFIXES",
        default=(),
        description="a comma list of the NAT64 prefixes of the network, such as 2001:db8:64::/96,"
        " of 32, 40, 48, 56, 64 or 96 bits; 64:ff9b::/96 is always included",
    )
    routes: Providers = Field(
        alias="NOTIFY_ROUTES",
        description="the provider of each channel, such as push=sandbox,email=smtp",
    )
    caps: MostOfEach = Field(
        alias="NOTIFY_CAPS",
        default_factory=lambda: DEFAULTS,
        description="the frequency caps by channel, such as push=10/hour,sms=3/day,email=20/day"
        " (the defaults), or none; caps in the preferences of a recipient win",
    )
    times_to_live: TimesToLive = Field(
        alias="NOTIFY_TIME_TO_LIVE",
        default_factory=lambda: DEFAULT_TIME_TO_LIVE,
        description="seconds by priority, such as P0=300,P1=3600,P2=86400,P3=172800 (the"
        " defaults), for requests without ttl_seconds; at most 60 days",
    )
    idempotency_hours: Annotated[int, Field(ge=1, le=168)] = Field(
        alias="NOTIFY_IDEMPOTENCY_HOURS",
        default=24,
        description="a number of hours from 1 to 168 for which an idempotency key is kept",
    )
    breaker_failures: Streaks = Field(
        alias="NOTIFY_BREAKER_FAILURES",
        default_factory=lambda: STREAKS,
        description="failures/seconds by channel, such as push=10/5,sms=5/2 (the defaults):"
        " the failures in a row within the seconds that open the circuit breaker of a provider",
    )
    delivery: Delivery = Field(
        alias="NOTIFY_DELIVERY",
        default=Delivery.LIVE,
        description=f"one of {', '.join(Delivery)}; dry_run calls no provider",
    )
    allowed_recipients: Reachable = Field(
        alias="NOTIFY_ALLOWED_RECIPIENTS",
        default=None,
        description="a comma list of the recipients that get messages: user ids, addresses,"
        " @domains, beginnings of phone numbers such as +4930; deliveries to others are suppressed",
        repr=False,
    )
    release_ramp_seconds: Annotated[int, Field(ge=0, le=3600)] = Field(
        alias="NOTIFY_RELEASE_RAMP_SECONDS",
        default=300,
        description="a number of seconds from 0 to 3600: the ramp of P2 and P3 deliveries that"
        " waited for the end of quiet hours",
    )
    bulk_job_per_hour: Annotated[int, Field(ge=0, le=360_000_000)] = Field(
        alias="NOTIFY_BULK_JOB_PER_HOUR",
        default=500_000,
        description="a number from 0 to 360000000: the messages an hour that no bulk job exceeds;"
        " 0: no ceiling",
    )
    sms_max_segments: Annotated[int, Field(ge=1, le=100)] = Field(
        alias="NOTIFY_SMS_MAX_SEGMENTS",
        default=4,
        description="a number from 1 to 100: the maximum of segments of one SMS; a longer SMS is"
        " refused",
    )
    attachments_max_bytes: Annotated[int, Field(ge=1, le=25_000_000)] = Field(
        alias="NOTIFY_ATTACHMENTS_MAX_BYTES",
        default=10_000_000,
        description="a number of bytes from 1 to 25000000: the maximum size of the attachments of"
        " one e-mail together, before encoding",
    )
    max_clock_skew_seconds: Annotated[float, Field(ge=0.1, le=60)] = Field(
        alias="NOTIFY_MAX_CLOCK_SKEW_SECONDS",
        default=2.0,
        description="a number of seconds from 0.1 to 60: the maximum difference between the clocks"
        " of the host and PostgreSQL; above it a process pauses until the clock is corrected",
    )
    retention_days: Annotated[int, Field(ge=61, le=3650)] = Field(
        alias="NOTIFY_RETENTION_DAYS",
        default=90,
        description="a number of days from 61 to 3650 for which notifications and timelines are"
        " kept; a notification may be scheduled 60 days ahead",
    )
    inbox_retention_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        alias="NOTIFY_INBOX_RETENTION_DAYS",
        default=90,
        description="a number of days from 1 to 3650 for which messages stay in an inbox",
    )
    archive_url: ArchiveUrl = Field(
        alias="NOTIFY_ARCHIVE_URL",
        default="",
        description="the place of days past retention: a folder that all processes share, such as"
        " file:///var/lib/notify/archive, a bucket, such as s3://bucket/prefix, or off: then days"
        " are dropped without an archive; by default the folder var/archive of the installation",
    )
    archive_days: Annotated[int, Field(ge=62, le=36_500)] = Field(
        alias="NOTIFY_ARCHIVE_DAYS",
        default=730,
        description="a number of days from 62 to 36500: the age of a day at which its files are"
        " deleted from the archive; more than NOTIFY_RETENTION_DAYS",
    )
    dead_letter_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        alias="NOTIFY_DEAD_LETTER_DAYS",
        default=90,
        description="a number of days from 1 to 3650 for which dead letters are kept",
    )
    audit_days: Annotated[int, Field(ge=90, le=3650)] = Field(
        alias="NOTIFY_AUDIT_DAYS",
        default=730,
        description="a number of days from 90 to 3650 for which the audit log is kept",
    )
    contact_notice: bool = Field(
        alias="NOTIFY_CONTACT_NOTICE",
        default=True,
        description="yes or no: whether the old phone number or mailbox of a recipient gets a"
        " notice when a producer changes the contact",
    )
    require_second_factor: bool = Field(
        alias="NOTIFY_REQUIRE_SECOND_FACTOR",
        default=False,
        description="yes or no: whether each operator must set up a second factor (TOTP)",
    )
    broker_messages: Annotated[int, Field(ge=2, le=10_000)] = Field(
        alias="NOTIFY_BROKER_MESSAGES",
        default=24,
        description="a number from 2 to 10000: the maximum of messages of a lane in the broker,"
        " each for up to 500 deliveries (P0 and P1: 50); other deliveries wait in PostgreSQL",
    )
    allowed_hosts: Names = Field(
        alias="NOTIFY_ALLOWED_HOSTS",
        default=(),
        description="a comma list of further host names that the Host header of a request may have",
    )
    debug: bool = Field(
        alias="NOTIFY_DEBUG",
        default=False,
        description="yes or no: whether error pages show tracebacks, for development only",
    )
    log_level: LogLevel = Field(
        alias="NOTIFY_LOG_LEVEL",
        default=LogLevel.INFO,
        description=f"one of {', '.join(LogLevel)}",
    )
    metrics_listen: Listen = Field(
        alias="NOTIFY_METRICS_LISTEN",
        default=None,
        description="host:port such as 0.0.0.0:9464, or host:first-last for several processes of a"
        " host, where each worker and beat serve /metrics",
    )
    flower_url: PublicUrl | None = Field(
        alias="NOTIFY_FLOWER_URL",
        default=None,
        description="the URL of Flower for operators, such as https://flower.example.com, for a"
        " link in the menu of the admin",
    )
    release: str = Field(
        alias="NOTIFY_RELEASE",
        default="",
        max_length=64,
        description="the name of the running release, such as 1.8.0 or a commit; `migrate` records"
        " a changed release, and the plots of the admin show the time",
    )
    flower_user: str = Field(
        alias="NOTIFY_FLOWER_USER", default="operator", description="the user name of Flower"
    )
    flower_password: str = Field(
        alias="NOTIFY_FLOWER_PASSWORD",
        default="",
        description="the password of Flower; Flower does not start without a password",
        repr=False,
    )
    allow_shared_redis: bool = Field(
        alias="NOTIFY_ALLOW_SHARED_REDIS",
        default=False,
        description="yes or no: whether the broker and the state Redis may be one server, for"
        " development only",
    )

    @property
    def hosts(self) -> list[str]:
        """Host names that requests may be addressed to: the public host, then the others."""
        return [urlsplit(self.public_url).hostname or "", *self.allowed_hosts]

    def contradictions(self, vendors: Collection[str]) -> list[str]:
        """Return a line for each pair of settings in conflict; `vendors`: configured providers."""
        lines = [
            f"NOTIFY_ROUTES sends {channel.label} through {name}, which is not configured:"
            f" set NOTIFY_{name.upper()}_... or choose a"
            f" configured provider ({', '.join(sorted(vendors))})."
            for channel, name in self.routes.items()
            if name not in vendors
        ]
        if self.archive_days <= self.retention_days:
            lines.append(
                "NOTIFY_ARCHIVE_DAYS is not above NOTIFY_RETENTION_DAYS: a day would be deleted"
                " from the archive as soon as the database drops the day."
            )
        if _server(self.broker_url) == _server(self.state_url) and not self.allow_shared_redis:
            lines.append(
                "CELERY_BROKER_URL and REDIS_URL name the same server: use separate servers,"
                " because the broker may lose its data and the state Redis may not"
                " (NOTIFY_ALLOW_SHARED_REDIS=yes for development)."
            )
        return lines + self.sign_in_contradictions()


def load(environ: Mapping[str, str]) -> Environment:
    """Read and validate the environment; a variable with an empty value counts as unset.

    Raises:
        InvalidEnvironment: a variable is missing, unknown or invalid, or two settings conflict.
    """
    environ = with_passwords(environ)
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    fields = {field.alias or name: field for name, field in Environment.model_fields.items()}
    mistakes = setting_names.taken_by_packages(fields.keys())
    if mistakes:  # the other faults would be of the provider, which nobody has configured
        raise InvalidEnvironment("\n".join(mistakes))
    if registry.fault() is None:  # else the settings of the unread provider look unknown
        mistakes += setting_names.unknown(given, known={*fields, *registry.settings_names()})
    try:
        vendors = registry.build_all(given)
    except ConfigurationError as error:
        raise InvalidEnvironment("\n".join([*mistakes, f"{error}."])) from None
    values = {name: value for name, value in given.items() if name in fields}
    try:
        environment = Environment.model_validate(values)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            name = str(problem["loc"][0])
            mistakes.append(
                f"{name} {_words(problem['type'], problem['msg'])}."
                f" Give {fields[name].description}."
            )
        raise InvalidEnvironment("\n".join(mistakes)) from None
    mistakes += environment.contradictions([*vendors, in_app.PROVIDER])
    if mistakes:
        raise InvalidEnvironment("\n".join(mistakes))
    return environment


def _words(kind: str, message: str) -> str:
    """Return the fault in words, without the value."""
    match kind:
        case "missing":
            return "is missing"
        case "bool_parsing":
            return "must be yes or no"
        case "enum":
            return "has an unknown value"
        case _:
            return message.removeprefix("Value error, ")


def _server(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
