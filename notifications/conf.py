"""The app's settings, typed.

Read from Django's `NOTIFICATIONS`, which `notifyproj` fills from the environment.
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
from notifications.rules.rate_limits import frequency_caps as caps
from notifications.rules.rate_limits.circuit_breaker import STREAKS, Streak
from notifications.rules.rate_limits.concurrency import CEILING
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """How much of a web process one client may take; `notifyproj.web_environment` explains each."""

    slots: int = 8
    connections: int = 4096
    connections_per_address: int = 256
    head_seconds: int = 20
    request_seconds: int = 30
    rate: int = 8192
    """Bytes a second that a client must send and read at least."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    open_requests_per_second: int = 20
    """Of one address, without a key."""

    def trusts(self, address: str) -> bool:
        """Whether a peer is one of our proxies."""
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
    """What the app needs to know of its environment."""

    state_url: str
    """redis:// URL of the state instance."""
    broker_url: str
    """URL of the broker, which is another instance."""
    encryption_keys: tuple[str, ...] = field(repr=False)
    """Fernet keys for sensitive variables; the first encrypts, all decrypt."""
    hash_key: bytes = field(repr=False)
    """Keys the address hashes in logs."""
    public_url: str = "http://127.0.0.1:8000"
    """Where producers, providers and browsers reach this service."""
    flower_url: str = ""
    """Where operators reach Flower, for the admin's menu; empty: the menu has no such link."""
    routes: Mapping[Channel, str] = field(default_factory=dict)
    """Provider by channel, for live mode."""
    test_provider: str = "sandbox"
    """Provider of everything in test mode."""
    dry_run: bool = False
    """Whether the null provider takes everything in live mode, so that nothing leaves."""
    allowed: AllowList | None = None
    """Who may be reached in live mode; None: everybody."""
    release_ramp: dt.timedelta = dt.timedelta(seconds=300)
    """Over how long P2 and P3 that waited for one instant are spread: thousands wait for 07:00."""
    retention: dt.timedelta = dt.timedelta(days=90)
    """How long notifications and their timelines are kept, by the day."""
    dead_letters_kept: dt.timedelta = dt.timedelta(days=90)
    """How long dead letters are kept."""
    audit_kept: dt.timedelta = dt.timedelta(days=730)
    """How long the audit log is kept."""
    contact_notice: bool = True
    """Whether the old address is told when a producer changes where a person is reached."""
    requires_second_factor: bool = False
    """Whether an operator without a second factor sees nothing but the page that sets one up."""
    dead_letters_alert: int = 20
    """More new dead letters in five minutes raise an alert: a single dead address is daily life."""
    broker_messages: int = 24
    """Most messages of a lane in the broker: 12,000 deliveries, so that a worker never runs dry
    between two relays and a wiped broker has little to lose."""
    calls_in_flight: int = CEILING
    """Most calls in flight at one provider from one process; the adaptive limit stays below."""
    sms_max_segments: int = 4
    """Most segments of one SMS; a longer one is refused when it is accepted."""
    max_clock_skew: dt.timedelta = dt.timedelta(seconds=2)
    """How far a host's clock may be from Postgres's; a process on a worse one does not work."""
    times_to_live: Mapping[Priority, dt.timedelta] = field(
        default_factory=lambda: DEFAULT_TIME_TO_LIVE
    )
    """After which a notification is not sent, unless its producer said otherwise."""
    idempotency_keys_kept: dt.timedelta = dt.timedelta(hours=24)
    """How long an idempotency key is remembered."""
    breaker_failures: Mapping[Channel, Streak] = field(default_factory=lambda: STREAKS)
    """Failures in a row that open a provider's circuit breaker, by channel."""
    web: Web = field(default_factory=Web)
    """The limits of a web process."""
    caps: caps.Caps = field(default_factory=lambda: caps.DEFAULTS)
    """What a person gets at most, unless they have caps of their own."""


@functools.cache
def current() -> Conf:
    """The settings of this process."""
    configured: Conf = settings.NOTIFICATIONS
    return configured
