"""Webhooks to endpoints that recipients gave us: signed, guarded, never followed elsewhere.

The body is JSON, signed as Standard Webhooks says with every secret of NOTIFY_WEBHOOK_SECRETS: to
change one, add the new one, tell the receivers, then drop the old. The id is the idempotency key,
so a receiver can tell a repeat.

    {"type": ..., "timestamp": ..., "data": {"notification_id", "delivery_id", "title", "body",
    ...}}

| answer | outcome | source |
| --- | --- | --- |
| 2xx | Accepted | Standard Webhooks, "success" |
| 410 | Rejected, the endpoint is dead | the same, "disable the endpoint" |
| 3xx | Rejected | the same, "a redirect is a failure" |
| others | `providers.http_outcomes` | |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import orjson

from providers import clock, configuration, http_outcomes, standard_webhooks
from providers.configuration import read_by
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Receipt,
    ReceiptRequest,
    Rejected,
    Repeat,
    Result,
)
from providers.errors import ForbiddenAddress, NoReceipts
from providers.transport import Reply, Request, Response, Transport
from providers.transport.guard import AddressPolicy

NAME: Final = "webhook"

DEAD_ENDPOINT: Final = 410

DEFAULT_TYPE: Final = "notification"
"""Event type of a message whose data names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_WEBHOOK_*`."""

    secrets: tuple[standard_webhooks.Secret, ...] = field(metadata=read_by(configuration.secrets))
    allow_private: bool = field(default=False, metadata=read_by(configuration.yes_no))
    """`yes` only where everybody who may enter a URL may also reach the private network."""


SETTINGS: Final = configuration.setting_names(NAME, Config)


def configure(environ: Mapping[str, str], *, transport: Transport) -> Webhook:
    """Build the adapter from the environment.

    Raises:
        ConfigurationError: a setting is missing or malformed.
    """
    config = configuration.load(Config, vendor=NAME, environ=environ)
    return Webhook(config, transport=transport)


class Webhook:
    """See `providers.contract.Provider`."""

    name: Final = NAME
    capabilities: Final = Capabilities(
        channels=frozenset({Channel.WEBHOOK}), repeat=Repeat.DEDUPLICATED, gives_receipts=False
    )

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Nothing is contacted until the first `send`."""
        self._transport = transport
        self._now = now
        self._secrets = config.secrets
        self._policy = AddressPolicy(allow_private=config.allow_private)

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        allowed = []
        for message in batch:
            try:
                self._policy.check_url(message.address)
            except ForbiddenAddress as error:
                yield _refused(message, detail=str(error))
            else:
                allowed.append(message)
        requests = [self._request(message) for message in allowed]
        for index, reply in self._transport.send(requests, deadline=deadline):
            message = allowed[index]
            yield Result(
                delivery_id=message.delivery_id,
                outcome=_outcome(reply, address=message.address),
                latency=reply.elapsed,
            )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt]:  # noqa: ARG002 - Provider
        """Refuse: an endpoint's answer is all that it says.

        Raises:
            NoReceipts: always.
        """
        raise NoReceipts(self.name)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:  # noqa: ARG002 - Provider
        """Find nothing: each recipient has an endpoint of their own."""
        return iter(())

    def _request(self, message: Message) -> Request:
        now = self._now()
        body = orjson.dumps({
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
        signed = standard_webhooks.sign(body, message_id=message_id, at=now, secrets=self._secrets)
        headers = ["Content-Type: application/json"]
        headers += [f"{name}: {value}" for name, value in signed.items()]
        if message.traceparent:
            headers.append("traceparent: " + message.traceparent)
        return Request(url=message.address, headers=headers, body=body, guard=self._policy)


def _refused(message: Message, *, detail: str) -> Result:
    outcome = Rejected(code="forbidden_address", detail=detail)
    return Result(delivery_id=message.delivery_id, outcome=outcome, latency=timedelta(0))


def _outcome(reply: Reply, *, address: str) -> Outcome:
    if isinstance(reply, Response) and reply.status == DEAD_ENDPOINT:
        detail = http_outcomes.excerpt(reply.body, hide=address)
        return Rejected(code=str(DEAD_ENDPOINT), detail=detail, contact_is_dead=True)
    return http_outcomes.outcome_of(reply, accepted=lambda _response: Accepted(), hide=address)
