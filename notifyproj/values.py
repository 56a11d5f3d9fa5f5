"""Types of settings: each type parses the text of an environment variable or raises a ValueError.

The message of the ValueError ends a sentence that begins with the variable's name: "has no host".
The message does not repeat the value, because the value may be a secret. The message about a list
without secrets repeats the invalid item.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Final
from urllib.parse import urlsplit

import redis
from cryptography.fernet import Fernet
from pydantic import AfterValidator, BeforeValidator

from notifications.core import server_tls
from notifications.core.conf import ListenAddress
from notifications.core.rules.alert_thresholds import AlertThresholds
from notifications.core.rules.allowed import AllowList
from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE, Priority
from notifications.core.rules.rate_limits.circuit_breaker import Streak
from notifications.core.rules.rate_limits.frequency_caps import Cap, Caps
from notifyproj import postgres_url
from notifyproj.service_urls import fault_of_password
from providers import mailboxes
from providers.alert_destinations import destination
from providers.contract import Channel
from providers.transport.guard import nat64_prefixes

_MIN_SECRET_LENGTH: Final = 32
"""Characters; Django requires 50, but 32 random characters cannot be guessed."""


_LONGEST_TTL_S: Final = 60 * 24 * 3600
_MOST_PORT: Final = 65_535


def _redis_url(value: str) -> str:
    return _verify_redis_url(_url(value, schemes=("redis", "rediss")))


def _broker_url(value: str) -> str:
    return _verify_redis_url(_url(value, schemes=("redis", "rediss", "amqp", "amqps")))


def _verify_redis_url(url: str) -> str:
    """Return the URL with verification written out, after a look at the parts that Redis has.

    Raises:
        ValueError: a fault of TLS, or a database or parameter that redis-py would not take.
    """
    verified = server_tls.verify(url)
    if not url.startswith("redis"):
        return verified
    database = urlsplit(url).path.removeprefix("/")
    if database and not (database.isascii() and database.isdecimal()):
        raise ValueError("has a database that is no number; write /0")
    try:
        redis.ConnectionPool.from_url(verified).make_connection()  # connects on its first command
    except (TypeError, ValueError):
        raise ValueError("has a parameter that redis-py does not know, or its value") from None
    return verified


def _public_url(value: str) -> str:
    """Return the form that browsers send: scheme and host in lower case, no / at the end."""
    parts = urlsplit(_url(value, schemes=("https", "http")))
    return parts._replace(netloc=parts.netloc.lower()).geturl().rstrip("/")


def _issuer(value: str) -> str:
    return _url(value, schemes=("https", "http")).rstrip("/")


def _url(value: str, *, schemes: tuple[str, ...]) -> str:
    """Check the shape of a URL and return the URL.

    Raises:
        ValueError: another scheme, no host, or an invalid port.
    """
    parts = urlsplit(value)
    if parts.scheme not in schemes:
        raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if not parts.hostname:
        raise ValueError(fault_of_password(value) or "has no host")
    try:
        _ = parts.port
    except ValueError:
        said = fault_of_password(value) or "has an invalid port; use a number up to 65535"
        raise ValueError(said) from None
    return value


def _archive_url(value: str) -> str:
    """Check the place of the archive: a folder, a bucket or `off`.

    Raises:
        ValueError: another scheme, a relative path, or no bucket.
    """
    if value == "off":
        return value
    parts = urlsplit(value)
    if parts.scheme not in {"file", "s3"}:
        raise ValueError("must be file:///a/folder, s3://bucket/prefix or off")
    if parts.scheme == "file" and (parts.netloc or not parts.path.startswith("/")):
        raise ValueError("needs an absolute path: file:///a/folder, with three slashes")
    if parts.scheme == "s3" and (not parts.netloc or parts.username or parts.password):
        raise ValueError("must be s3://bucket/prefix; boto3's environment has the credentials")
    return value


def _secret(value: str) -> str:
    if len(value) < _MIN_SECRET_LENGTH:
        raise ValueError(f"is shorter than {_MIN_SECRET_LENGTH} characters")
    return value


def _secrets(value: str) -> tuple[str, ...]:
    return tuple(_secret(part) for part in _names(value))


def _alert_urls(value: str) -> tuple[str, ...]:
    urls = _names(value)
    for position, url in enumerate(urls, start=1):
        try:
            destination.parse(url)
        except ValueError as error:
            raise ValueError(f"item {position}: {error}") from None
    return urls


def _fernet_keys(value: str) -> tuple[str, ...]:
    keys = _names(value)
    for position, key in enumerate(keys, start=1):
        try:
            Fernet(key)
        except ValueError:
            raise ValueError(f"item {position} is an invalid Fernet key") from None
    return keys


def _names(value: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in value.split(",") if part.strip())
    if not names:
        raise ValueError("is an empty list")
    return names


def _allow_list(value: str) -> AllowList:
    return AllowList.of(_names(value))


def _mail_senders(value: str) -> frozenset[str]:
    """Read `news@shop.example,@shop.example` in the canonical form.

    Raises:
        ValueError: an item is neither an address nor an @domain.
    """
    found = []
    for item in _names(value):
        local, _, domain = item.rpartition("@")
        try:
            found.append(mailboxes.check(item) if local else "@" + mailboxes.ascii_domain(domain))
        except mailboxes.MalformedAddress as error:
            raise ValueError(f"{item!r} {error}") from None
    return frozenset(found)


def _caps(value: str) -> Caps:
    """Read `push=10/hour,sms=3/day`, or `none`.

    Raises:
        ValueError: an item is no channel=cap, or names a channel twice or an unknown channel.
    """
    if value == "none":
        return {}
    return {channel: Cap.parse(text) for channel, text in _by_channel(value, "cap").items()}


def _routes(value: str) -> Mapping[Channel, str]:
    """Read `push=sandbox,email=smtp`."""
    return _by_channel(value, "provider")


def _failures_in_a_row(value: str) -> Mapping[Channel, Streak]:
    """Read `push=10/5,sms=5/2`: failures in a row / seconds, by channel."""
    given = _by_channel(value, "failures/seconds")
    return {channel: Streak.parse(text) for channel, text in given.items()}


def _times_to_live(value: str) -> Mapping[Priority, dt.timedelta]:
    """Read `P0=300,P3=172800`; a missing priority has its default.

    Raises:
        ValueError: an item is no priority=seconds, or a time is outside of 1 s to 60 days.
    """
    times = dict(DEFAULT_TIME_TO_LIVE)
    for item in _names(value):
        label, _, seconds = (part.strip() for part in item.partition("="))
        if label not in Priority.__members__ or not seconds.isdecimal():
            raise ValueError(f"{item!r} must have the form P0=seconds")
        if not 1 <= int(seconds) <= _LONGEST_TTL_S:
            raise ValueError(f"{item!r}: a time to live is from 1 to {_LONGEST_TTL_S} seconds")
        times[Priority[label]] = dt.timedelta(seconds=int(seconds))
    return times


def _by_channel(value: str, what: str) -> Mapping[Channel, str]:
    """Read a comma list of `channel=value`.

    Raises:
        ValueError: an item has another form, or names a channel twice or an unknown channel.
    """
    found: dict[Channel, str] = {}
    for item in _names(value):
        label, separator, given = (part.strip() for part in item.partition("="))
        if not (label and separator and given):
            raise ValueError(f"{item!r} must have the form channel={what}")
        try:
            channel = Channel.from_label(label)
        except KeyError:
            known = ", ".join(channel.label for channel in Channel)
            raise ValueError(f"{label!r} is an unknown channel; use one of {known}") from None
        if channel in found:
            raise ValueError(f"names the channel {label} twice")
        found[channel] = given
    return found


def _networks(value: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Read `10.0.0.7,172.16.0.0/12`.

    Raises:
        ValueError: an item is neither an address nor a network.
    """
    found = []
    for item in _names(value):
        try:
            found.append(ip_network(item))
        except ValueError:
            raise ValueError(f"{item!r} is an invalid IP address or network") from None
    return tuple(found)


def _listen_address(value: str) -> ListenAddress:
    """Read `127.0.0.1:9464`, `[::]:9464` or `0.0.0.0:9464-9480`.

    Raises:
        ValueError: the text has another form, or a port outside of 1 to 65535.
    """
    host, _, ports = value.rpartition(":")
    first, _, last = ports.partition("-")
    last = last or first
    if not (host and first.isdecimal() and last.isdecimal()):
        raise ValueError("must have the form host:port or host:first-last")
    if not 1 <= int(first) <= int(last) <= _MOST_PORT:
        raise ValueError("must have ports from 1 to 65535, the first before the last")
    return ListenAddress(host.strip("[]"), int(first), int(last))


PostgresUrl = Annotated[str, AfterValidator(postgres_url.validate)]
ReplicaUrl = Annotated[str, AfterValidator(postgres_url.validate_replica)]
RedisUrl = Annotated[str, AfterValidator(_redis_url)]
ArchiveUrl = Annotated[str, AfterValidator(_archive_url)]
BrokerUrl = Annotated[str, AfterValidator(_broker_url)]


def _nat64_prefixes(text: object) -> object:
    return nat64_prefixes(text) if isinstance(text, str) else text


PublicUrl = Annotated[str, AfterValidator(_public_url)]
Issuer = Annotated[str, AfterValidator(_issuer)]
Secret = Annotated[str, AfterValidator(_secret)]
Secrets = Annotated[tuple[str, ...], BeforeValidator(_secrets)]
AlertUrls = Annotated[tuple[str, ...], BeforeValidator(_alert_urls)]
FernetKeys = Annotated[tuple[str, ...], BeforeValidator(_fernet_keys)]
Listen = Annotated[ListenAddress | None, BeforeValidator(_listen_address)]
"""Host and ports: `0.0.0.0:9464`, or `127.0.0.1:9464-9480` for several processes of a host."""
MailSenders = Annotated[frozenset[str], BeforeValidator(_mail_senders)]
"""Addresses, and domains such as `@shop.example`."""
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(_networks)]
Nat64Prefixes = Annotated[tuple[IPv6Network, ...], BeforeValidator(_nat64_prefixes)]
Reachable = Annotated[AllowList | None, BeforeValidator(_allow_list)]
Providers = Annotated[Mapping[Channel, str], BeforeValidator(_routes)]
"""Provider by channel: `push=sandbox,email=smtp`."""
MostOfEach = Annotated[Caps, BeforeValidator(_caps)]
"""Frequency cap of a recipient by channel: `push=10/hour,sms=3/day`, or `none`."""
Thresholds = Annotated[AlertThresholds, BeforeValidator(AlertThresholds.parse)]
"""Thresholds of alerts: `delivery_rate_low=99,processing_slow=800`."""
Streaks = Annotated[Mapping[Channel, Streak], BeforeValidator(_failures_in_a_row)]
TimesToLive = Annotated[Mapping[Priority, dt.timedelta], BeforeValidator(_times_to_live)]
"""Time to live by priority: `P0=300,P3=172800`, in seconds."""
