"""The app's settings as typed values, from Django's `NOTIFICATIONS`.

`notifyproj` reads the settings from the environment.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from django.conf import settings

from notifications.core.rules.alert_thresholds import AlertThresholds
from notifications.core.rules.allowed import AllowList
from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE, Priority
from notifications.core.rules.rate_limits import frequency_caps
from notifications.core.rules.rate_limits.circuit_breaker import STREAKS, Streak
from notifications.core.rules.rate_limits.concurrency import CEILING
from notifications.core.rules.single_sign_on import Options
from providers.contract import Channel

NO_ARCHIVE: Final = "off"
"""The value of NOTIFY_ARCHIVE_URL for an installation without an archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """Limits of a web process for each client; `notifyproj.web_environment` explains the fields."""

    slots: int = 8
    connections: int = 4096
    head_seconds: int = 20
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    open_requests_per_second: int = 20
    """Requests a second from one address without an API key."""

    def trusts(self, address: str) -> bool:
        """Return True if the address belongs to a trusted proxy."""
        if not self.trusted_proxies:
            return False
        try:
            ip = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        return any(ip in network for network in self.trusted_proxies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Limits of a live process; `notifyproj.environment_parts` explains the fields."""

    connections: int = 12_000
    connections_per_recipient: int = 20
    heartbeat_seconds: int = 25
    send_seconds: int = 20


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Host and ports of a server; the server takes the first free port."""

    host: str
    first_port: int
    last_port: int

    @property
    def ports(self) -> range:
        """Return the ports in order."""
        return range(self.first_port, self.last_port + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conf:
    """The settings of the app."""

    state_url: str
    """redis:// URL of the state instance."""
    broker_url: str
    """URL of the broker, a separate instance."""
    encryption_keys: tuple[str, ...] = field(repr=False)
    """Fernet keys for sensitive variables; the first encrypts, all decrypt."""
    hash_key: bytes = field(repr=False)
    """Keys the address hashes in logs."""
    public_url: str = "http://127.0.0.1:8000"
    """URL of this service for producers, providers and browsers."""
    flower_url: str = ""
    """URL of Flower for the admin's menu; empty: no menu entry."""
    release: str = ""
    """Name of the running release, for the plots of the admin; empty: deploys are unknown."""
    routes: Mapping[Channel, str] = field(default_factory=dict)
    """Provider by channel, for live mode."""
    test_provider: str = "sandbox"
    """Provider of all deliveries in test mode."""
    dry_run: bool = False
    """True: the null provider takes all live deliveries, and no message is sent."""
    allowed: AllowList | None = None
    """Recipients and addresses allowed in live mode; None: all."""
    flight_recorder: str = "off"
    """Folder of the flight recorder's files, in memory, shared by the processes of a host; `off`:
    no recorder."""
    release_ramp: dt.timedelta = dt.timedelta(seconds=300)
    """Duration over which P2 and P3 due at the same instant (07:00) are spread."""
    retention: dt.timedelta = dt.timedelta(days=90)
    """Retention of notifications and their timelines, in whole days."""
    inbox_retention: dt.timedelta = dt.timedelta(days=90)
    """Retention of inbox items, in whole days."""
    dead_letters_kept: dt.timedelta = dt.timedelta(days=90)
    """Retention of dead letters."""
    archive_url: str = NO_ARCHIVE
    """Place of the archive: `file:///...`, `s3://bucket/prefix`, or `off`."""
    archive_kept: dt.timedelta = dt.timedelta(days=730)
    """Age of a day at which the day's files are deleted from the archive."""
    audit_kept: dt.timedelta = dt.timedelta(days=730)
    """Retention of the audit log."""
    contact_notice: bool = True
    """True: the old address gets a notice when a producer changes a recipient's contact."""
    requires_second_factor: bool = False
    """True: an operator without a second factor sees only the page for setting it up."""
    report_hour: int = 6
    """Hour of the day in `report_timezone` in which the daily report is sent."""
    report_timezone: str = "UTC"
    publish_needs_second_person: bool = False
    """True: an operator who wrote a version of a template does not publish the version."""
    alert_urls: tuple[str, ...] = field(default=(), repr=False)
    """URLs of alert destinations."""
    alert_thresholds: AlertThresholds = field(default_factory=AlertThresholds)
    alerts_kept: dt.timedelta = dt.timedelta(days=7)
    """Retention of resolved alerts."""
    dead_letters_alert: int = 20
    """Number of new dead letters in five minutes above which an alert is raised."""
    broker_messages: int = 24
    """Maximum number of messages of a lane in the broker: for 12,000 deliveries of P2 or P3, or
    1,200 of P0 or P1, between two runs of the relay."""
    calls_in_flight: int = CEILING
    """Maximum number of calls in flight at a provider from one process; the adaptive limit stays
    below."""
    inbox_removes_read_pushes: bool = True
    """True: a message that is read in the inbox is removed from the devices that show its push."""
    inbox_url_schemes: frozenset[str] = frozenset()
    """App schemes that links of in-app messages may have beside https."""
    bulk_job_rate: float | None = None
    """Messages per second that no bulk job exceeds; None: no ceiling."""
    attachments_max_bytes: int = 10_000_000
    """Maximum bytes of the attachments of a notification together."""
    sms_max_segments: int = 4
    """Maximum segments of an SMS; a longer SMS is rejected at accept."""
    mail_senders: frozenset[str] = frozenset()
    """Addresses, and domains such as `@shop.example`, from which brands may send e-mails."""
    max_clock_skew: dt.timedelta = dt.timedelta(seconds=2)
    """Maximum difference between the host's clock and Postgres; a process above the limit does not
    work."""
    times_to_live: Mapping[Priority, dt.timedelta] = field(
        default_factory=lambda: DEFAULT_TIME_TO_LIVE
    )
    """Time to live of a notification by priority, if the producer gives none."""
    idempotency_keys_kept: dt.timedelta = dt.timedelta(hours=24)
    """Retention of idempotency keys."""
    breaker_failures: Mapping[Channel, Streak] = field(default_factory=lambda: STREAKS)
    """Consecutive failures that open a provider's circuit breaker, by channel."""
    metrics_listen: ListenAddress | None = None
    """Address at which workers and beat serve their metrics; None: not served and not counted."""
    web: Web = field(default_factory=Web)
    """The limits of a web process."""
    live_url: str = ""
    """URL of the live processes for browsers and apps; empty: clients poll."""
    live: Live = field(default_factory=Live)
    """The limits of a live process."""
    caps: frequency_caps.Caps = field(default_factory=lambda: frequency_caps.DEFAULTS)
    """Frequency caps of recipients without caps of their own."""


@functools.cache
def current() -> Conf:
    """Return the settings of the process."""
    configured: Conf = settings.NOTIFICATIONS
    return configured


def single_sign_on() -> Options | None:
    """Return the identity provider of operators.

    None: no provider is configured, or the app `features.single_sign_on` is not installed.
    """
    configured: Options | None = settings.SINGLE_SIGN_ON
    return configured
