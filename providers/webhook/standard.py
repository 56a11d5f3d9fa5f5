"""Webhooks to recipients' endpoints: signed, guarded, without following redirects.

The body is JSON, signed as Standard Webhooks says with the contact's own keys, so that no receiver
can sign for another. Every receiver of earlier releases knows the secrets of
NOTIFY_WEBHOOK_SECRETS: the secrets sign beside the contact's keys if the message requires both, and
alone if the message has no key. The id is the idempotency key, so a receiver can recognise a
repeat.

    {"type": ..., "timestamp": ..., "data": {"notification_id", "delivery_id", "title", "body",
    ...}}

| answer | outcome | source |
| --- | --- | --- |
| 2xx | Accepted | Standard Webhooks, "success" |
| 410 | Rejected, the endpoint is dead | the same, "disable the endpoint" |
| 429 | Throttled, with Retry-After | the same |
| any other, 3xx included | Unavailable, with Retry-After: retried | the same |
| none | `providers.http_outcomes` | |

No answer of an endpoint is Misconfigured: a 401 or 403 concerns the endpoint alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from ipaddress import IPv6Network
from typing import Final, assert_never

from providers import clock, configuration, endpoints, http_outcomes, rounds, standard_webhooks
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
from providers.transport import PER_STRANGER, Failure, Reply, Request, Response, Transport
from providers.transport.guard import AddressPolicy, nat64_prefixes
from providers.vendor import OneWay, Vendor

NAME: Final = "webhook"

PER_SECOND: Final = 100
"""Local limit, for each endpoint: an endpoint with a lower limit answers 429."""

DEFAULT_TYPE: Final = "notification"
"""Event type of a message without a type in its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_WEBHOOK_*`."""

    secrets: tuple[standard_webhooks.Secret, ...] = field(
        metadata=parse_with(configuration.secrets)
    )
    """Signing secrets, `whsec_...`; all secrets sign."""
    allow_private: bool = field(default=False, metadata=parse_with(configuration.yes_no))
    """`yes` allows private addresses: only if all users who may enter a URL may also reach the
    private network."""
    nat64: tuple[IPv6Network, ...] = field(
        default=(), metadata=parse_with(nat64_prefixes, setting=configuration.NAT64_PREFIXES)
    )
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    """Rate limit for each endpoint."""


class Webhook(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        self.capabilities: Final = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.WEBHOOK}),
            repeat=Repeat.DEDUPLICATED,
            gives_receipts=False,
            concurrency=PER_STRANGER,
            pace=Pace.even(config.per_second),
            endpoint_of=endpoints.origin,
        )
        self._transport = transport
        self._now = now
        self._secrets = config.secrets
        self._policy = AddressPolicy(allow_private=config.allow_private, nat64=config.nat64)

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return rounds.send_one_request_each(
            batch,
            prepare=self._request,
            judge=_outcome,
            transport=self._transport,
            deadline=deadline,
        )

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Yield no finding, because recipients have separate endpoints."""
        del deadline
        return iter(())

    def _request(self, message: Message) -> Request:
        self._policy.check_url(message.address)
        now = self._now()
        body = rounds.json_body({
            "type": message.data.get("type", DEFAULT_TYPE),
            "timestamp": now.isoformat(),
            "data": {
                **message.data,
                "notification_id": message.notification_id,
                "delivery_id": message.delivery_id,
                "title": message.title,
                "body": message.body,
            },
        })
        message_id = message.idempotency_key.replace(".", "_")  # a dot would blur what is signed
        secrets = [standard_webhooks.Secret(key) for key in message.signing_keys]
        if message.is_signed_for_all or not secrets:
            secrets += self._secrets
        signed = standard_webhooks.sign(body, message_id=message_id, at=now, secrets=secrets)
        headers = ["Content-Type: application/json"]
        headers += [f"{name}: {value}" for name, value in signed.items()]
        if message.traceparent:
            headers.append("traceparent: " + message.traceparent)
        return Request(url=message.address, headers=headers, body=body, guard=self._policy)


def _outcome(reply: Reply, message: Message) -> Outcome:
    match reply:
        case Failure():
            return http_outcomes.of_failure(reply)
        case Response() if reply.is_success:
            return Accepted()
        case Response():
            return _refusal(reply, detail=http_outcomes.excerpt(reply.body, hide=message.address))
        case _:
            assert_never(reply)


def _refusal(response: Response, *, detail: str) -> Outcome:
    code, wait = str(response.status), response.retry_after
    if response.status == HTTPStatus.GONE:
        return Rejected(code=code, detail=detail, contact_is_dead=True)
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return Throttled(code=code, detail=detail, retry_after=wait)
    return Unavailable(code=code, detail=detail, retry_after=wait)


VENDOR: Final = Vendor(NAME, Config, Webhook)
