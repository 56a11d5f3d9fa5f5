"""Web Push to browsers: RFC 8030, VAPID (RFC 8292), aes128gcm (RFC 8291).

    POST {endpoint}     Authorization: vapid t=<ES256 JWT>,k=<public key>
                        TTL, Urgency, Topic, Content-Encoding: aes128gcm
    ->  201, or the push service's own words

An address is a browser's subscription, in JSON. The page's service worker gets
`{"notification_id", "delivery_id", "title", "body", "tag", "data"}` and passes `tag` to
`showNotification`: the tag hides a repeat after the display of the first message; Topic hides a
repeat before the display.

An endpoint is an untrusted URL: the guard of webhooks applies, and only answers of the push
services in SERVICES can count against the VAPID key. Otherwise a 403 of an unknown server would
open the breaker for all recipients.

| answer | outcome | source |
| --- | --- | --- |
| 201, 2xx | Accepted | RFC 8030, 5 |
| 404, 410 | Rejected, the subscription is dead | RFC 8030, 7.3 |
| 401 | Misconfigured | RFC 8292, 4.2: the signature |
| 403, and a 401 that says OTHER_KEY | Misconfigured; but from a service that accepted the key since
the service's last such answer: Rejected, the subscription is dead | RFC 8292, 4.2: made for another
key; Mozilla answers 401 |
| 400, 413 | Rejected | RFC 8030, 7.2 |
| others | `providers.http_outcomes` | |
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, partial
from ipaddress import IPv6Network
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from providers import clock, configuration, http_outcomes, rounds, verdicts
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Repeat,
    Result,
)
from providers.endpoints import audience
from providers.errors import ForbiddenAddress
from providers.push import keys, replacing
from providers.push.web_push_encryption import PLAINTEXT_LIMIT_BYTES, Subscription, encrypt
from providers.rounds import Unsendable
from providers.transport import PER_STRANGER, Reply, Request, Response, Transport
from providers.transport.guard import AddressPolicy, nat64_prefixes
from providers.vendor import OneWay, Vendor
from providers.verdicts import Verdict

NAME: Final = "web_push"

SERVICES: Final = (
    "fcm.googleapis.com",  # Chrome, Edge on Android, Opera ...
    "push.services.mozilla.com",
    "push.apple.com",
    "notify.windows.com",
)
"""Hosts whose 401 and 403 count against the VAPID key; subdomains count."""

SHOWS_EACH_PUSH: Final = "push.apple.com"
"""Safari ends the subscription of a page that shows nothing for a push: no silent message is sent
to this service. https://webkit.org/blog/12945/meet-web-push/"""

FORBIDDEN: Final = 403

OTHER_KEY: Final = b"key mismatch"
"""Part of Mozilla's 401 for a subscription that was made for another key. Source: autopush-rs,
`VapidError::KeyMismatch`."""

PER_SECOND: Final = 2_000
"""Local limit: no push service names a rate; each service answers 429 to calls above its limit."""

LONGEST_LIFE: Final = timedelta(weeks=4)
"""Longest time for which the services keep a message."""

SIGNED_FOR: Final = timedelta(hours=6)
"""Time for which a signature for a service is used."""

SLACK: Final = timedelta(hours=12)
"""Further validity of a signature, because clocks differ. Both times together stay below the 24
hours that are allowed."""

ORIGINS: Final = 256
"""Number of kept signatures. Four services exist; the remaining places are for invented
endpoints."""

TABLE: Final[verdicts.Table] = {
    "400": Verdict.REJECTED,
    "401": Verdict.MISCONFIGURED,
    "403": Verdict.MISCONFIGURED,
    "404": Verdict.DEAD,
    "407": Verdict.REJECTED,  # no proxy is in use: the endpoint sent the 407
    "410": Verdict.DEAD,
    "413": Verdict.REJECTED,
    "429": Verdict.THROTTLED,
}


def contact(text: str) -> str:
    """Read the contact for push services.

    Raises:
        ValueError: the text is no mailto: or https: URL of a real host; Apple checks.
    """
    if not text.startswith(("mailto:", "https://")) or "." not in text or not text.isascii():
        raise ValueError("write mailto: and a mailbox, or an https:// URL; localhost will not do")
    return text


def hosts(text: str) -> tuple[str, ...]:
    """Read host names, separated by commas.

    Raises:
        ValueError: an entry is empty, or a URL.
    """
    names = tuple(part.strip().lower() for part in text.split(","))
    if not all(names) or any("/" in name for name in names):
        raise ValueError("write host names, separated by commas")
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_WEB_PUSH_*`."""

    private_key: ec.EllipticCurvePrivateKey = field(
        repr=False, metadata=parse_with(keys.p256_pem_or_raw)
    )
    """The VAPID key: 32 bytes in base64url, PEM, or the path of a PEM file."""
    subject: str = field(metadata=parse_with(contact))
    """Contact of the sender for push services: `mailto:push@example.com`."""
    services: tuple[str, ...] = field(default=SERVICES, metadata=parse_with(hosts))
    """Hosts of push services to which requests may go, separated by commas."""
    allow_private: bool = field(default=False, metadata=parse_with(configuration.yes_no))
    """`yes` allows private addresses: only if all users who may enter a URL may also reach the
    private network."""
    nat64: tuple[IPv6Network, ...] = field(
        default=(), metadata=parse_with(nat64_prefixes, setting=configuration.NAT64_PREFIXES)
    )
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    codes: verdicts.Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))
    """Verdicts by HTTP status."""


class WebPush(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        self.capabilities: Final = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.PUSH}),
            repeat=Repeat.HIDDEN,
            gives_receipts=False,
            concurrency=PER_STRANGER,
            address_kinds=frozenset({"web_push"}),
            withdraws=True,
            pace=Pace.even(config.per_second),
        )
        self._transport = transport
        self._now = now
        self._config = config
        self._policy = AddressPolicy(allow_private=config.allow_private, nat64=config.nat64)
        self.public_key: Final = _base64url(config.private_key.public_key())
        """The `applicationServerKey` of subscriptions: the point in base64url."""
        self._authorization = lru_cache(maxsize=ORIGINS)(self._sign)
        self._know_our_key: set[str] = set()
        """Origins of SERVICES that accepted a message since the origin's last 403."""

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        endpoints: dict[UUID, str] = {}
        return rounds.send_one_request_each(
            batch,
            prepare=partial(self._prepare, now=self._now(), endpoints=endpoints),
            judge=partial(self._judge, endpoints=endpoints),
            transport=self._transport,
            deadline=deadline,
            signed_with=self.public_key,
        )

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Yield the public key, with which pages must subscribe: browsers use separate services."""
        del deadline
        detail = f"pages must subscribe with applicationServerKey {self.public_key}"
        yield Finding(subject="credentials", is_good=True, detail=detail)

    def normalize(self, address: str) -> str:
        """Return a subscription from a browser in the stored form, without further fields.

        Raises:
            ValueError: the subscription is malformed, or on no host of `Config.services`. The
                message does not repeat the address.
        """
        try:
            found = Subscription.parse(address)
        except ValueError:
            msg = "address must be the JSON of a PushSubscription: endpoint, keys.p256dh, keys.auth"
            raise ValueError(msg) from None
        try:
            self._policy.check_url(found.endpoint)
        except ForbiddenAddress as error:
            raise ValueError(str(error)) from None
        if not self._is_known(found.endpoint):
            msg = "the endpoint of the subscription is on no host of NOTIFY_WEB_PUSH_SERVICES"
            raise ValueError(msg)
        return found.to_json()

    def _prepare(self, message: Message, *, now: datetime, endpoints: dict[UUID, str]) -> Request:
        try:
            subscription = Subscription.parse(message.address)
        except ValueError:
            raise Unsendable("malformed_subscription", contact_is_dead=True) from None
        self._policy.check_url(subscription.endpoint)
        if message.is_withdrawal and _is_on(subscription.endpoint, SHOWS_EACH_PUSH):
            raise Unsendable("silent_push_refused", "Safari ends a subscription for silent pushes")
        endpoints[message.delivery_id] = subscription.endpoint
        seconds = max(0, int(min(message.time_to_live, LONGEST_LIFE).total_seconds()))
        signature = self._authorization(audience(subscription.endpoint), _window(now))
        headers = [
            "Authorization: " + signature,
            "Content-Type: application/octet-stream",
            "Content-Encoding: aes128gcm",
            f"TTL: {seconds}",
            "Urgency: high" if _is_urgent(message) else "Urgency: normal",
            "Topic: " + replacing.topic(message),
        ]
        plaintext = rounds.json_body(payload(message), limit_bytes=PLAINTEXT_LIMIT_BYTES)
        return Request(
            url=subscription.endpoint,
            headers=headers,
            body=encrypt(plaintext, to=subscription),
            guard=self._policy,
        )

    def _judge(self, reply: Reply, message: Message, *, endpoints: Mapping[UUID, str]) -> Outcome:
        endpoint = endpoints[message.delivery_id]
        if not isinstance(reply, Response):
            return http_outcomes.outcome_of(reply, accepted=_outcome_of_success, hide=endpoint)
        code = str(reply.status)
        verdict = verdicts.look_up(code, TABLE, self._config.codes)
        if verdict is Verdict.MISCONFIGURED and code not in self._config.codes:
            verdict = self._whose_fault(reply, endpoint=endpoint)
        if verdict is None:
            outcome = http_outcomes.outcome_of(reply, accepted=_outcome_of_success, hide=endpoint)
            if isinstance(outcome, Accepted) and self._is_known(endpoint):
                self._know_our_key.add(audience(endpoint))
            return outcome
        detail = http_outcomes.excerpt(reply.body, hide=endpoint)
        return verdicts.outcome(verdict, code=code, detail=detail, retry_after=reply.retry_after)

    def _whose_fault(self, reply: Response, *, endpoint: str) -> Verdict:
        """Judge a 401 or 403; a second refusal in a row counts against the VAPID key."""
        if not self._is_known(endpoint):
            return Verdict.REJECTED
        origin = audience(endpoint)
        is_about_keys = reply.status == FORBIDDEN or OTHER_KEY in reply.body
        if is_about_keys and origin in self._know_our_key:
            self._know_our_key.discard(origin)
            return Verdict.DEAD_OR_MISCONFIGURED
        return Verdict.MISCONFIGURED

    def _is_known(self, endpoint: str) -> bool:
        return any(_is_on(endpoint, name) for name in self._config.services)

    def _sign(self, origin: str, window: int) -> str:
        import jwt  # noqa: PLC0415 - 9 MiB that only a process that sends has to pay

        expires_at = (window + 1) * SIGNED_FOR + SLACK
        claims = {
            "aud": origin,
            "exp": int(expires_at.total_seconds()),
            "sub": self._config.subject,
        }
        token = jwt.encode(claims, self._config.private_key, algorithm="ES256")
        return f"vapid t={token},k={self.public_key}"


def _is_on(endpoint: str, name: str) -> bool:
    """Return True if an endpoint is on a host or a subdomain."""
    host = urlsplit(endpoint).hostname or ""
    return host == name or host.endswith("." + name)


def _is_urgent(message: Message) -> bool:
    return message.urgent and not message.is_withdrawal


def payload(message: Message) -> dict[str, object]:
    """Return the object for the service worker."""
    ids = {
        "notification_id": str(message.notification_id),
        "delivery_id": str(message.delivery_id),
    }
    if message.is_withdrawal:
        return {**ids, replacing.WITHDRAW_KEY: replacing.tag(message)}
    return {
        **ids,
        "title": message.title,
        "body": message.body,
        "tag": replacing.tag(message),
        "data": dict(message.data),
    }


def _outcome_of_success(_response: Response) -> Outcome:
    return Accepted()  # the message's URL, in a header, is not needed


def _window(now: datetime) -> int:
    """Return the number of the current period of SIGNED_FOR since 1970."""
    return int(now.timestamp() // SIGNED_FOR.total_seconds())


def _base64url(key: ec.EllipticCurvePublicKey) -> str:
    point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return urlsafe_b64encode(point).rstrip(b"=").decode()


VENDOR: Final = Vendor(NAME, Config, WebPush)
