"""Settings by subject, for `environment.Environment`; a description completes "Give ..."."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from notifications.core.conf import Live, Web
from notifications.core.rules import in_app
from notifications.core.rules.alert_thresholds import AlertThresholds
from notifications.core.rules.rate_limits.concurrency import CEILING
from notifyproj.values import (
    AlertUrls,
    MailSenders,
    Networks,
    PostgresUrl,
    PublicUrl,
    ReplicaUrl,
    Thresholds,
)


class DatabaseEnvironment(BaseModel):
    """Settings of PostgreSQL and its read replica."""

    database_url: PostgresUrl = Field(
        alias="DATABASE_URL",
        description="the URL of PostgreSQL, such as postgresql://user:password@host:5432/notify, or"
        " without the password and DATABASE_PASSWORD",
        repr=False,
    )
    replica_url: ReplicaUrl | None = Field(
        alias="DATABASE_REPLICA_URL",
        default=None,
        description="the URL of a standby of DATABASE_URL for figures, lists and exports, such as"
        " postgresql://user:password@replica:5432/notify, or without the password and"
        " DATABASE_REPLICA_PASSWORD",
        repr=False,
    )


class WebEnvironment(BaseModel):
    """Settings of the web server: its capacity and the limits of a client."""

    web_slots: Annotated[int, Field(ge=1, le=64)] = Field(
        alias="NOTIFY_WEB_SLOTS",
        default=8,
        description="a number from 1 to 64: the maximum of concurrent requests of a web process;"
        " each request uses a database connection",
    )
    web_connections: Annotated[int, Field(ge=64, le=65_536)] = Field(
        alias="NOTIFY_WEB_CONNECTIONS",
        default=4096,
        description="a number from 64 to 65536: the maximum of open connections of a web process",
    )
    head_seconds: Annotated[int, Field(ge=1, le=60)] = Field(
        alias="NOTIFY_HEAD_SECONDS",
        default=20,
        description="a number of seconds from 1 to 60: the timeout for the head of a request and"
        " for an idle connection; the idle timeout of a proxy must be shorter",
    )
    trusted_proxies: Networks = Field(
        alias="NOTIFY_TRUSTED_PROXIES",
        default=(),
        description="a comma list of addresses and networks, such as 10.0.0.7,172.16.0.0/12, of"
        " proxies with a trusted X-Forwarded-For header",
    )
    open_requests_per_second: Annotated[int, Field(ge=0, le=100_000)] = Field(
        alias="NOTIFY_OPEN_REQUESTS_PER_SECOND",
        default=20,
        description="a number from 0 to 100000: requests without an API key in a second from one"
        " client address, with a burst of ten times as many; 0: no limit",
    )

    @property
    def web(self) -> Web:
        """The settings as the app's `Web`."""
        return Web(
            slots=self.web_slots,
            connections=self.web_connections,
            head_seconds=self.head_seconds,
            trusted_proxies=self.trusted_proxies,
            open_requests_per_second=self.open_requests_per_second,
        )


class LiveEnvironment(BaseModel):
    """Settings of the live process: the URL for clients and the limits of connections."""

    live_url: PublicUrl | None = Field(
        alias="NOTIFY_LIVE_URL",
        default=None,
        description="the URL of the live processes for browsers and apps, such as"
        " https://notify.example.com; without a URL clients poll",
    )
    live_connections: Annotated[int, Field(ge=16, le=60_000)] = Field(
        alias="NOTIFY_LIVE_CONNECTIONS",
        default=12_000,
        description="a number from 16 to 60000: the maximum of streams of a live process; a"
        " further client gets 503 with Retry-After",
    )
    live_connections_per_recipient: Annotated[int, Field(ge=1, le=1000)] = Field(
        alias="NOTIFY_LIVE_CONNECTIONS_PER_RECIPIENT",
        default=20,
        description="a number from 1 to 1000: the maximum of streams of one recipient in a live"
        " process; a further stream closes the oldest",
    )
    live_heartbeat_seconds: Annotated[int, Field(ge=1, le=300)] = Field(
        alias="NOTIFY_LIVE_HEARTBEAT_SECONDS",
        default=25,
        description="a number of seconds from 1 to 300 between two heartbeats of a stream; the"
        " read timeout of a proxy must be longer",
    )
    live_send_seconds: Annotated[int, Field(ge=1, le=600)] = Field(
        alias="NOTIFY_LIVE_SEND_SECONDS",
        default=20,
        description="a number of seconds from 1 to 600 in which a client must read an event; the"
        " live process drops a slower client",
    )

    @property
    def live(self) -> Live:
        """The limits as the app's `Live`."""
        return Live(
            connections=self.live_connections,
            connections_per_recipient=self.live_connections_per_recipient,
            heartbeat_seconds=self.live_heartbeat_seconds,
            send_seconds=self.live_send_seconds,
        )


class WorkerEnvironment(BaseModel):
    """Settings of workers."""

    flight_recorder: Annotated[str, Field(pattern=r"^(/.*|off)?$")] = Field(
        alias="NOTIFY_FLIGHT_RECORDER",
        default="",
        description="a folder in memory (tmpfs) that the workers of a host share, such as /flights,"
        " or off; default /dev/shm/notify-<user id>",
    )
    calls_in_flight: Annotated[int, Field(ge=1, le=10_000)] = Field(
        alias="NOTIFY_CALLS_IN_FLIGHT",
        default=CEILING,
        description="a number from 1 to 10000: the maximum of calls in flight from one process to"
        " one provider; below the maximum the number adapts to the latency of the provider",
    )


class GatewayEnvironment(BaseModel):
    """SMS gateways of the company; `providers.sms.gateways` reads the folder at its import."""

    sms_gateways: str = Field(
        alias="NOTIFY_SMS_GATEWAYS",
        default="",
        description="the folder with descriptions of SMS gateways (*.toml), such as"
        " /etc/notify/sms-gateways",
    )


class MailEnvironment(BaseModel):
    """Settings of e-mails."""

    mail_senders: MailSenders = Field(
        alias="NOTIFY_MAIL_SENDERS",
        default=frozenset(),
        description="a comma list of the addresses and @domains from which brands may send e-mails,"
        " such as news@shop.example,@mail.shop.example; each e-mail provider must be allowed to"
        " send from them; without the setting, e-mails have the sender of the provider",
    )


class AlertEnvironment(BaseModel):
    """Settings of alerts."""

    alert_urls: AlertUrls = Field(
        alias="NOTIFY_ALERT_URLS",
        default=(),
        description="a comma list of URLs to which alerts are sent, such as"
        " mailto:oncall@example.com or slack://TokenA/TokenB/TokenC",
        repr=False,
    )
    alert_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        alias="NOTIFY_ALERT_DAYS",
        default=7,
        description="a number of days from 1 to 3650 for which resolved alerts are kept",
    )
    alert_thresholds: Thresholds = Field(
        alias="NOTIFY_ALERT_THRESHOLDS",
        default=AlertThresholds(),
        description="a comma list of thresholds of alerts, such as"
        " delivery_rate_low=99,processing_slow=800: percentages, and milliseconds for"
        " processing_slow; docs/alerts.md has the defaults",
    )
    dead_letter_alert: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        alias="NOTIFY_DEAD_LETTER_ALERT",
        default=20,
        description="a number from 1 to 1000000: the number of new dead letters in five minutes"
        " above which an alert is raised",
    )


def _url_schemes(value: str) -> frozenset[str]:
    """Read `myapp,myapp-beta`.

    Raises:
        ValueError: a name is no scheme, or a scheme that a browser would run or that is not
            encrypted.
    """
    found = frozenset(name.strip().removesuffix(":").lower() for name in value.split(","))
    for name in sorted(found):
        if not in_app.SCHEME.fullmatch(name):
            raise ValueError(f"{name!r} is not a URL scheme")
        if name in in_app.FORBIDDEN_SCHEMES:
            raise ValueError(f"{name!r} is never allowed in an inbox")
    return found - {"https"}


class InboxEnvironment(BaseModel):
    """Settings of the inbox."""

    inbox_removes_read_pushes: bool = Field(
        alias="NOTIFY_INBOX_REMOVES_READ_PUSHES",
        default=True,
        description="yes or no: whether a message that is read in the inbox is removed from the"
        " devices that show its push, by a silent push",
    )
    inbox_url_schemes: Annotated[frozenset[str], BeforeValidator(_url_schemes)] = Field(
        alias="NOTIFY_INBOX_URL_SCHEMES",
        default=frozenset(),
        description="a comma list of the URL schemes of your apps, such as myapp, which links of"
        " in-app messages may have; https and paths are always allowed",
    )
