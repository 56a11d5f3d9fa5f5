"""Apple Push Notification service: HTTP/2, token authentication.

    POST {url}/3/device/{token}
         authorization: bearer <ES256 JWT>
         apns-topic, apns-push-type, apns-priority, apns-expiration, apns-collapse-id, apns-id
    ->  200, or 4xx/5xx {"reason": ..., "timestamp": ms}

A production app's tokens are unknown to the sandbox host and the other way round: Apple answers
BadDeviceToken, the same answer as for a token without a device. One such answer makes a contact
dead; many such answers count as a wrong host or topic (`Rejected.may_be_misconfigured`).

Sources: https://developer.apple.com/documentation/usernotifications/
sending-notification-requests-to-apns, handling-notification-responses-from-apns (table of reasons),
establishing-a-token-based-connection-to-apns ("Refresh your token regularly")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock
from typing import Any, Final
from urllib.parse import quote

import orjson
from cryptography.hazmat.primitives.asymmetric import ec

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
    Rejected,
    Repeat,
    Result,
    Throttled,
    Unavailable,
)
from providers.push import keys, renewal, replacing
from providers.rounds import Unsendable
from providers.transport import Failure, Reply, Request, Response, Transport
from providers.vendor import OneWay, Vendor
from providers.verdicts import Verdict

NAME: Final = "apns"

PAYLOAD_LIMIT_BYTES: Final = 4096

PAUSE: Final = timedelta(minutes=15)
"""Least wait after a 5xx or TooManyRequests: Apple asks for the wait, and sends no Retry-After.
Urgent messages are exempt, because an OTP expires within a quarter of an hour: another provider,
another channel or the policy's own wait decides."""

PER_SECOND: Final = 5_000
"""Local limit: Apple names only a rate for a single device, and asks to spread a surge."""

STALE: Final = "ExpiredProviderToken"

NOBODY: Final = "0" * 64
"""A device token without a device: the target of a check."""

TABLE: Final[verdicts.Table] = {
    # The device or its app is gone; from every device: the host or the topic is wrong
    "BadDeviceToken": Verdict.DEAD_OR_MISCONFIGURED,
    "DeviceTokenNotForTopic": Verdict.DEAD_OR_MISCONFIGURED,
    # The device or its app is gone
    "ExpiredToken": Verdict.DEAD,
    "Unregistered": Verdict.DEAD,
    # This message cannot be sent as it is
    "BadCollapseId": Verdict.REJECTED,
    "BadExpirationDate": Verdict.REJECTED,
    "BadMessageId": Verdict.REJECTED,
    "BadPath": Verdict.REJECTED,
    "BadPriority": Verdict.REJECTED,
    "DuplicateHeaders": Verdict.REJECTED,
    "InvalidPushType": Verdict.REJECTED,
    "MethodNotAllowed": Verdict.REJECTED,
    "MissingDeviceToken": Verdict.REJECTED,
    "PayloadEmpty": Verdict.REJECTED,
    "PayloadTooLarge": Verdict.REJECTED,
    # Key, topic or account of the installation
    "BadCertificate": Verdict.MISCONFIGURED,
    "BadCertificateEnvironment": Verdict.MISCONFIGURED,
    "BadEnvironmentKeyIdInToken": Verdict.MISCONFIGURED,
    "BadEnvironmentKeyInToken": Verdict.MISCONFIGURED,  # as it was seen on the wire
    "BadTopic": Verdict.MISCONFIGURED,
    STALE: Verdict.MISCONFIGURED,
    "Forbidden": Verdict.MISCONFIGURED,
    "InvalidProviderToken": Verdict.MISCONFIGURED,
    "MissingProviderToken": Verdict.MISCONFIGURED,
    "MissingTopic": Verdict.MISCONFIGURED,
    "TooManyProviderTokenUpdates": Verdict.MISCONFIGURED,
    "TopicDisallowed": Verdict.MISCONFIGURED,
    "UnrelatedKeyIdInToken": Verdict.MISCONFIGURED,
    # Later
    "TooManyRequests": Verdict.THROTTLED,  # to the same device
    "IdleTimeout": Verdict.UNAVAILABLE,
    "InternalServerError": Verdict.UNAVAILABLE,
    "ServiceUnavailable": Verdict.UNAVAILABLE,
    "Shutdown": Verdict.UNAVAILABLE,
}
"""Apple adds reasons without notice: the HTTP status decides for an unknown reason."""

RENEW_SOONEST: Final = timedelta(minutes=20)
"""Signing more often is answered with TooManyProviderTokenUpdates."""

RENEW_AFTER: Final = timedelta(minutes=40)
"""The middle of the range that Apple allows: clocks may differ by 20 minutes either way."""


def https_url(text: str) -> str:
    """Read the base URL: APNs speaks HTTP/2 over TLS and nothing else.

    Raises:
        ValueError: the text is no https URL.
    """
    url = configuration.http_url(text)
    if not url.startswith("https://"):
        raise ValueError("write an https:// URL")
    return url


def identifier(text: str) -> str:
    """Read an id of Apple's developer pages: a team, a key, a bundle.

    Raises:
        ValueError: the text cannot be an id.
    """
    if not text.isascii() or not text.replace("-", "").replace(".", "").isalnum():
        raise ValueError("write letters, digits, dots and hyphens only")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_APNS_*`."""

    key: ec.EllipticCurvePrivateKey = field(repr=False, metadata=parse_with(keys.p256_pem))
    """The .p8 key: the text, or the path of a file."""
    key_id: str = field(metadata=parse_with(identifier))
    """Id of the key, 10 characters."""
    team_id: str = field(metadata=parse_with(identifier))
    """Id of the team, 10 characters."""
    topic: str = field(metadata=parse_with(identifier))
    """The app's bundle id."""
    url: str = field(default="https://api.push.apple.com", metadata=parse_with(https_url))
    """https://api.sandbox.push.apple.com for builds out of Xcode."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    codes: verdicts.Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


class Apns(OneWay):
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
            address_kinds=frozenset({"apns_token"}),
            withdraws=True,
            pace=Pace.even(config.per_second),
        )
        self._transport = transport
        self._now = now
        self._codes = config.codes
        self._topic = config.topic
        self._url = config.url + "/3/device/"
        self._tokens = _ProviderTokens(
            config.key, key_id=config.key_id, team_id=config.team_id, now=now
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return renewal.send(
            batch,
            attempt=self._attempt,
            tokens=self._tokens,
            stale_code=STALE,
            deadline=deadline,
        )

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Push to a device that does not exist: Apple checks token and topic first."""
        token = self._tokens.current(deadline=deadline)
        headers = [*self._headers(token), "apns-push-type: alert"]
        request = Request(url=self._url + NOBODY, headers=headers, body=b'{"aps":{"alert":"-"}}')
        for _index, reply in self._transport.send([request], deadline=deadline):
            if isinstance(reply, Failure):
                yield http_outcomes.reachability(reply)
                return
            reason = str(_answer(reply).get("reason", ""))
            is_good = reason == "BadDeviceToken"
            detail = "Apple takes our token" if is_good else f"HTTP {reply.status} {reason}"
            yield Finding(subject="credentials", is_good=is_good, detail=detail)

    def _attempt(
        self, batch: Sequence[Message], token: str, deadline: timedelta
    ) -> Iterator[Result]:
        return rounds.send_one_request_each(
            batch,
            prepare=partial(self._prepare, now=self._now(), common=self._headers(token)),
            judge=self._judge,
            transport=self._transport,
            deadline=deadline,
        )

    def _headers(self, token: str) -> list[str]:
        return ["authorization: bearer " + token, "apns-topic: " + self._topic]

    def _prepare(self, message: Message, *, now: datetime, common: Sequence[str]) -> Request:
        expires_at = now + message.time_to_live
        headers = [
            *common,
            "Content-Type: application/json",
            f"apns-expiration: {int(expires_at.timestamp())}",
            *(_BACKGROUND if message.is_withdrawal else _alert(message)),
        ]
        url = self._url + quote(message.address, safe="", errors="replace")
        return Request(url=url, headers=headers, body=_payload(message))

    def _judge(self, reply: Reply, message: Message) -> Outcome:
        outcome = self._outcome(reply, message)
        if not isinstance(reply, Response) or not isinstance(outcome, Throttled | Unavailable):
            return outcome
        if message.urgent:
            return outcome
        return replace(outcome, retry_after=outcome.retry_after or PAUSE)

    def _outcome(self, reply: Reply, message: Message) -> Outcome:
        accepted = Accepted(message_id=str(message.delivery_id))  # the apns-id of the request
        if isinstance(reply, Response):
            answer = _answer(reply)
            code = str(answer.get("reason", ""))
            verdict = verdicts.look_up(code, TABLE, self._codes)
            if verdict is not None:
                since = _since(answer)
                said = f"gone since {since.isoformat(timespec='seconds')}" if since else ""
                outcome = verdicts.outcome(
                    verdict, code=code, detail=said, retry_after=reply.retry_after
                )
                if isinstance(outcome, Rejected) and outcome.contact_is_dead:
                    outcome = replace(outcome, gone_since=since)
                return outcome
        return http_outcomes.outcome_of(reply, accepted=lambda _: accepted, hide=message.address)


_BACKGROUND: Final = ("apns-push-type: background", "apns-priority: 5")
"""Apple refuses another priority for a background push, and documents no collapse id for it."""


def _alert(message: Message) -> list[str]:
    return [
        "apns-push-type: alert",
        "apns-priority: 10" if message.urgent else "apns-priority: 5",
        "apns-collapse-id: " + replacing.collapse_id(message),
        f"apns-id: {message.delivery_id}",
    ]


def _payload(message: Message) -> bytes:
    ids = {
        "notification_id": str(message.notification_id),
        "delivery_id": str(message.delivery_id),
    }
    if message.is_withdrawal:
        aps = {"content-available": 1}
        return rounds.json_body({
            "aps": aps,
            replacing.WITHDRAW_KEY: replacing.tag(message),
            **ids,
        })
    if "aps" in message.data:
        raise Unsendable("reserved_data_key", "APNs keeps the data key 'aps' to itself")
    texts = {"title": message.title, "body": message.body}
    alert = {name: text for name, text in texts.items() if text}
    payload = {
        # Lets the app's Notification Service Extension run, and report the arrival.
        "aps": {"alert": alert, "mutable-content": 1},
        **message.data,
        **ids,
    }
    return rounds.json_body(payload, limit_bytes=PAYLOAD_LIMIT_BYTES)


def _answer(response: Response) -> Mapping[str, Any]:
    """Read the JSON of an error; empty for a success, and for a text that is no JSON object."""
    try:
        answer = orjson.loads(response.body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _since(answer: Mapping[str, Any]) -> datetime | None:
    """Return the time since which a device is gone: 410 carries the time, in milliseconds.

    "The time at which APNs confirmed the token was no longer valid for the topic."
    """
    match answer:
        case {"timestamp": int(milliseconds)} if 0 < milliseconds < 10**14:
            return datetime.fromtimestamp(milliseconds / 1000, UTC)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Signed:
    token: str
    at: datetime


class _ProviderTokens:
    """See `renewal.Tokens`. Signing takes a tenth of a millisecond, so no caller waits.

    A provider token is a locally signed JWT with a least and a greatest age.

        0 min             20 min              40 min           60 min
        |-- Apple refuses -|-- may be renewed --|-- is renewed --|-- Apple refuses an older one
            a newer one        if refused           by itself
    """

    def __init__(
        self, key: ec.EllipticCurvePrivateKey, *, key_id: str, team_id: str, now: clock.Clock
    ) -> None:
        """Make no token before the first use."""
        self._key = key
        self._key_id = key_id
        self._team_id = team_id
        self._now = now
        self._signing = Lock()
        self._held: _Signed | None = None

    def current(self, *, deadline: timedelta) -> str:
        """See `renewal.Tokens.current`; raises no exception."""
        del deadline  # signing never waits
        with self._signing:
            return self._younger_than(RENEW_AFTER)

    def renew(self, refused: str, *, deadline: timedelta) -> str:
        """See `renewal.Tokens.renew`; raises no exception."""
        del deadline
        with self._signing:
            if self._held and self._held.token != refused:
                return self._held.token  # another thread was quicker
            return self._younger_than(RENEW_SOONEST)

    def _younger_than(self, age: timedelta) -> str:
        now = self._now()
        if self._held is None or now - self._held.at >= age:
            self._held = _Signed(self._sign(now), now)
        return self._held.token

    def _sign(self, now: datetime) -> str:
        import jwt  # noqa: PLC0415 - 9 MiB that only a process that sends has to pay

        claims = {"iss": self._team_id, "iat": int(now.timestamp())}
        return jwt.encode(claims, self._key, algorithm="ES256", headers={"kid": self._key_id})


VENDOR: Final = Vendor(NAME, Config, Apns)
