"""The app's settings as typed values, from Django's `NOTIFICATIONS`.

`notifyproj` reads the settings from the environment.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings

from notifications.rules.allowed import AllowList
from notifications.rules.lane import DEFAULT_TIME_TO_LIVE, Priority
from notifications.rules.rate_limits import frequency_caps
from notifications.rules.rate_limits.circuit_breaker import STREAKS, Streak
from notifications.rules.rate_limits.concurrency import CEILING
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """Limits of a web process for each client; `notifyproj.web_environment` explains the fields."""

    slots: int = 8
    connections: int = 4096
    connections_per_address: int = 256
    head_seconds: int = 20
    request_seconds: int = 30
    rate: int = 8192
    """Minimum bytes a second that a client must send and read."""
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
    routes: Mapping[Channel, str] = field(default_factory=dict)
    """Provider by channel, for live mode."""
    test_provider: str = "sandbox"
    """Provider of all deliveries in test mode."""
    dry_run: bool = False
    """True: the null provider takes all live deliveries, and no message is sent."""
    allowed: AllowList | None = None
    """Recipients and addresses allowed in live mode; None: all."""
    release_ramp: dt.timedelta = dt.timedelta(seconds=300)
    """Duration over which P2 and P3 due at the same instant (07:00) are spread."""
    retention: dt.timedelta = dt.timedelta(days=90)
    """Retention of notifications and their timelines, in whole days."""
    dead_letters_kept: dt.timedelta = dt.timedelta(days=90)
    """Retention of dead letters."""
    audit_kept: dt.timedelta = dt.timedelta(days=730)
    """Retention of the audit log."""
    contact_notice: bool = True
    """True: the old address gets a notice when a producer changes a recipient's contact."""
    requires_second_factor: bool = False
    """True: an operator without a second factor sees only the page for setting it up."""
    dead_letters_alert: int = 20
    """Number of new dead letters in five minutes above which an alert is raised."""
    broker_messages: int = 24
    """Maximum number of messages of a lane in the broker. The default holds 12,000 deliveries:
    enough for workers between two relay runs, and few to publish again after a broker loses its
    data."""
    calls_in_flight: int = CEILING
    """Maximum number of calls in flight at a provider from one process; the adaptive limit stays
    below."""
    sms_max_segments: int = 4
    """Maximum segments of an SMS; a longer SMS is rejected at accept."""
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
    web: Web = field(default_factory=Web)
    """The limits of a web process."""
    caps: frequency_caps.Caps = field(default_factory=lambda: frequency_caps.DEFAULTS)
    """Frequency caps of recipients without caps of their own."""


@functools.cache
def current() -> Conf:
    """Return the settings of the process."""
    configured: Conf = settings.NOTIFICATIONS
    return configured
