"""What the environment says, checked at start.

The one place that reads variables for the product (the vendors' own are read by
`providers.registry`). The promise: a process that starts has a whole and valid configuration. One
that does not start says so in one line per mistake: the variable, what is wrong with it, how to
mend it. A misspelt NOTIFY_ name is such a mistake: silently ignored, it would be found in
production. No secret is ever printed.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import urlsplit

from cryptography.fernet import Fernet
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from notifications.rules.allowed import AllowList
from notifications.rules.caps import DEFAULTS, Cap, Caps
from notifyproj.esp import anymail_vendor
from providers import registry
from providers.contract import Channel
from providers.errors import ConfigurationError

registry.add(anymail_vendor)

PREFIX: Final = "NOTIFY_"
_MIN_SECRET_LENGTH = 32
"""Characters; Django asks for 50, 32 of a random alphabet cannot be guessed."""
_DEFAULT_PORTS: Final = {"redis": 6379, "rediss": 6379, "amqp": 5672, "amqps": 5671}


class InvalidEnvironment(SystemExit):
    """The environment is not fit to start with; the message has one line per mistake.

    A SystemExit, so that whoever imports the settings (manage.py, Celery, the web server) ends with
    these lines and exit code 1 instead of a traceback.
    """


class LogLevel(StrEnum):
    """The least severe line that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Delivery(StrEnum):
    """What becomes of messages in live mode."""

    LIVE = "live"
    """They go to the providers."""
    DRY_RUN = "dry_run"
    """Everything happens but the call of a provider."""


def _postgres_url(value: str) -> str:
    return _url(value, schemes=("postgresql", "postgres"))


def _redis_url(value: str) -> str:
    return _url(value, schemes=("redis", "rediss"))


def _broker_url(value: str) -> str:
    return _url(value, schemes=("redis", "rediss", "amqp", "amqps"))


def _public_url(value: str) -> str:
    return _url(value, schemes=("https", "http")).rstrip("/")


def _url(value: str, *, schemes: tuple[str, ...]) -> str:
    """Check an URL's shape.

    Raises:
        ValueError: another scheme, no host, or a port that is none.
    """
    parts = urlsplit(value)
    if parts.scheme not in schemes:
        raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if not parts.hostname:
        raise ValueError("names no host")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("has a port that is no number up to 65535") from None
    return value


def _secret(value: str) -> str:
    if len(value) < _MIN_SECRET_LENGTH:
        raise ValueError(f"is shorter than {_MIN_SECRET_LENGTH} characters")
    return value


def _secrets(value: str) -> tuple[str, ...]:
    return tuple(_secret(part) for part in _names(value))


def _fernet_keys(value: str) -> tuple[str, ...]:
    keys = _names(value)
    for position, key in enumerate(keys, start=1):
        try:
            Fernet(key)
        except ValueError:
            raise ValueError(f"key {position} is no Fernet key") from None
    return keys


def _names(value: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in value.split(",") if part.strip())
    if not names:
        raise ValueError("lists nothing")
    return names


def _allow_list(value: str) -> AllowList:
    return AllowList.of(_names(value))


def _caps(value: str) -> Caps:
    """Read `push=10/hour,sms=3/day`, or `none`.

    Raises:
        ValueError: an item is no channel=cap, or names a channel twice or one that is none.
    """
    if value == "none":
        return {}
    return {channel: Cap.parse(text) for channel, text in _by_channel(value, "cap").items()}


def _routes(value: str) -> Mapping[Channel, str]:
    """Read `push=sandbox,email=smtp`."""
    return _by_channel(value, "provider")


def _by_channel(value: str, what: str) -> Mapping[Channel, str]:
    """Read a comma list of channel=something.

    Raises:
        ValueError: an item has another form, or names a channel twice or one that is none.
    """
    found: dict[Channel, str] = {}
    for item in _names(value):
        label, separator, given = (part.strip() for part in item.partition("="))
        if not (label and separator and given):
            raise ValueError(f"{item!r} is not of the form channel={what}")
        try:
            channel = Channel.from_label(label)
        except KeyError:
            known = ", ".join(channel.label for channel in Channel)
            raise ValueError(f"{label!r} is no channel ({known})") from None
        if channel in found:
            raise ValueError(f"names the channel {label} twice")
        found[channel] = given
    return found


class Environment(BaseModel):
    """A valid environment. Each description completes the sentence "Give ..."."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: Annotated[str, AfterValidator(_postgres_url)] = Field(
        alias="DATABASE_URL",
        description="PostgreSQL's address, such as postgresql://user:password@host:5432/notify",
        repr=False,
    )
    state_url: Annotated[str, AfterValidator(_redis_url)] = Field(
        alias="REDIS_URL",
        description="the state Valkey's or Redis's address, such as redis://:password@state:6379/0",
        repr=False,
    )
    broker_url: Annotated[str, AfterValidator(_broker_url)] = Field(
        alias="CELERY_BROKER_URL",
        description="the broker's address, such as redis://:password@broker:6379/0 or amqp://user:password@broker//",
        repr=False,
    )
    secret_key: Annotated[str, AfterValidator(_secret)] = Field(
        alias="NOTIFY_SECRET_KEY",
        description="what signs sessions and tokens; make one with `openssl rand -hex 32`",
        repr=False,
    )
    secret_key_fallbacks: Annotated[tuple[str, ...], BeforeValidator(_secrets)] = Field(
        alias="NOTIFY_SECRET_KEY_FALLBACKS",
        default=(),
        description="a comma list of former NOTIFY_SECRET_KEYs: what they signed is still believed,"
        " unsubscribe links above all",
        repr=False,
    )
    encryption_keys: Annotated[tuple[str, ...], BeforeValidator(_fernet_keys)] = Field(
        alias="NOTIFY_ENCRYPTION_KEYS",
        description="a comma list of Fernet keys: the first encrypts sensitive variables, all"
        " decrypt; make one with `openssl rand -base64 32 | tr +/ -_`",
        repr=False,
    )
    public_url: Annotated[str, AfterValidator(_public_url)] = Field(
        alias="NOTIFY_PUBLIC_URL",
        description="where producers, providers and browsers reach this service, such as"
        " https://notify.example.com",
    )
    routes: Annotated[Mapping[Channel, str], BeforeValidator(_routes)] = Field(
        alias="NOTIFY_ROUTES",
        description="the provider of each channel, such as push=sandbox,email=smtp",
    )
    caps: Annotated[Caps, BeforeValidator(_caps)] = Field(
        alias="NOTIFY_CAPS",
        default_factory=lambda: DEFAULTS,
        description="what a person gets at most, such as push=10/hour,sms=3/day,email=20/day, or"
        " none; who has caps of their own keeps those",
    )
    delivery: Delivery = Field(
        alias="NOTIFY_DELIVERY",
        default=Delivery.LIVE,
        description=f"one of {', '.join(Delivery)}; in a dry run nothing leaves for a provider",
    )
    allowed_recipients: Annotated[AllowList | None, BeforeValidator(_allow_list)] = Field(
        alias="NOTIFY_ALLOWED_RECIPIENTS",
        default=None,
        description="a comma list of who may be reached, others are suppressed: user ids,"
        " addresses, @domains, beginnings of numbers such as +4930",
        repr=False,
    )
    release_ramp_seconds: Annotated[int, Field(ge=0, le=3600)] = Field(
        alias="NOTIFY_RELEASE_RAMP_SECONDS",
        default=300,
        description="a number of seconds from 0 to 3600, over which P2 and P3 that waited for the"
        " end of quiet hours are spread",
    )
    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(
        alias="NOTIFY_ALLOWED_HOSTS",
        default=(),
        description="a comma list of further host names that requests may be addressed to",
    )
    debug: bool = Field(
        alias="NOTIFY_DEBUG",
        default=False,
        description="yes or no: whether error pages show what went wrong, for development only",
    )
    log_level: LogLevel = Field(
        alias="NOTIFY_LOG_LEVEL",
        default=LogLevel.INFO,
        description=f"one of {', '.join(LogLevel)}",
    )
    flower_user: str = Field(
        alias="NOTIFY_FLOWER_USER", default="operator", description="who may sign in to Flower"
    )
    flower_password: str = Field(
        alias="NOTIFY_FLOWER_PASSWORD",
        default="",
        description="Flower's password; Flower does not start without one",
        repr=False,
    )
    allow_shared_redis: bool = Field(
        alias="NOTIFY_ALLOW_SHARED_REDIS",
        default=False,
        description="yes or no: whether broker and state may be one server, for development only",
    )

    @property
    def hosts(self) -> list[str]:
        """Every host name that requests may be addressed to: the public one, then the others."""
        return [urlsplit(self.public_url).hostname or "", *self.allowed_hosts]

    def contradictions(self, vendors: Collection[str]) -> list[str]:
        """One line for each two settings that cannot both hold; `vendors` are those configured."""
        lines = [
            f"NOTIFY_ROUTES sends {channel.label} through {name}, which has no settings:"
            f" set NOTIFY_{name.upper()}_... or choose another ({', '.join(sorted(vendors))})."
            for channel, name in self.routes.items()
            if name not in vendors
        ]
        if _server(self.broker_url) == _server(self.state_url) and not self.allow_shared_redis:
            lines.append(
                "CELERY_BROKER_URL and REDIS_URL name the same server: give the broker one of its"
                " own, because it may be wiped at any moment and the state may not"
                " (NOTIFY_ALLOW_SHARED_REDIS=yes for development)."
            )
        return lines


def load(environ: Mapping[str, str]) -> Environment:
    """Read and check the environment. A variable that is set to nothing counts as not set.

    Raises:
        InvalidEnvironment: with one line per mistake.
    """
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    fields = {field.alias or name: field for name, field in Environment.model_fields.items()}
    mistakes = _unknown_names(given, known={*fields, *registry.settings_names()})
    try:
        vendors = registry.configured(given)
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
    mistakes += environment.contradictions(vendors)
    if mistakes:
        raise InvalidEnvironment("\n".join(mistakes))
    return environment


def _unknown_names(given: Mapping[str, str], *, known: set[str]) -> list[str]:
    lines = []
    for name in sorted(given):
        if name.startswith(PREFIX) and name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean {close[0]}?" if close else "remove it."
            lines.append(f"{name} is no setting of this service: {hint}")
    return lines


def _words(kind: str, message: str) -> str:
    """What is wrong, without the value."""
    match kind:
        case "missing":
            return "is missing"
        case "bool_parsing":
            return "is neither yes nor no"
        case "enum":
            return "is not known"
        case _:
            return message.removeprefix("Value error, ")


def _server(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
