"""The sandbox: a provider for every channel, with outcomes by address.

The sandbox is a real provider over real HTTP (`providers.sandbox_server`, a separate process), so a
demo, a test key and a benchmark use the same code as production. The table of
`providers.sandbox_server.steering` lists the outcomes.

    POST {url}/v1/messages  ->  202 {"message_id": ...}
    receipts, and answers typed on the sandbox's page: POST to the receipts URL, signed
    (Standard Webhooks), in lists
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final
from uuid import UUID

import orjson

from providers import clock, configuration, http_outcomes, rounds, standard_webhooks
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    InboundText,
    Message,
    Outcome,
    Receipt,
    ReceiptKind,
    ReceiptRequest,
    Rejected,
    Repeat,
    Result,
)
from providers.errors import MalformedReceipt
from providers.transport import Reply, Request, Response, Transport
from providers.vendor import Vendor

NAME: Final = "sandbox"
_GONE: Final = frozenset({HTTPStatus.GONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_SANDBOX_*`."""

    url: str = field(metadata=parse_with(configuration.http_url))
    """URL of the sandbox: `http://sandbox:8025`."""
    secret: tuple[standard_webhooks.Secret, ...] = field(metadata=parse_with(configuration.secrets))
    """Secrets of the receipts' signature; several during a rotation."""
    dedup: bool = field(default=True, metadata=parse_with(configuration.yes_no))
    """`no`: the sandbox shows repeats, like an SMS vendor without idempotency keys."""


class Sandbox:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        self._transport = transport
        self._now = now
        self._url = config.url + "/v1/messages"
        self.page: Final = config.url + "/"
        """URL of the page that shows the sandbox's messages."""
        self._secrets = config.secret
        self._headers = ["Content-Type: application/json", "Accept: application/json"]
        if not config.dedup:
            self._headers.append("Sandbox-Dedup: no")
        self.capabilities = Capabilities(
            marks_begin=True,
            channels=frozenset(Channel),
            repeat=Repeat.DEDUPLICATED if config.dedup else Repeat.VISIBLE,
            gives_receipts=True,
            receipt_headers=standard_webhooks.HEADERS,
            withdraws=True,
            attachment_bytes=sys.maxsize,  # the request has no contents
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return rounds.send_one_request_each(
            batch,
            prepare=self._request,
            judge=_outcome,
            transport=self._transport,
            deadline=deadline,
        )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """See `providers.contract.Provider.parse_receipt`.

        Raises:
            InvalidSignature: the callback was not signed with a configured secret.
            MalformedReceipt: the signed callback has not the sandbox's form.
        """
        standard_webhooks.verify(
            request.body, headers=request.headers, secrets=self._secrets, now=self._now()
        )
        try:
            said = orjson.loads(request.body)
            texts = [_text(line) for line in said.get("texts", ())]
            return [*map(_receipt, said["receipts"]), *texts]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise MalformedReceipt("not a list of sandbox receipts") from error

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`."""
        page = Request(url=self.page, headers=[], method="GET")
        for _index, reply in self._transport.send([page], deadline=deadline):
            yield http_outcomes.reachability(reply)

    def _request(self, message: Message) -> Request:
        headers = [*self._headers, "Idempotency-Key: " + message.idempotency_key]
        if message.traceparent:
            headers.append("traceparent: " + message.traceparent)
        body = {
            "delivery_id": message.delivery_id,
            "notification_id": message.notification_id,
            "channel": message.channel.label,
            "address": message.address,
            "address_kind": message.address_kind,
            "title": message.title,
            "body": message.body,
            "html": message.html,
            "collapse_key": message.collapse_key,
            "urgent": message.urgent,
            "ttl_seconds": int(message.time_to_live.total_seconds()),
            "data": dict(message.data),
        }
        if message.is_withdrawal:
            body["is_withdrawal"] = True
        if message.unsubscribe_url:
            body["unsubscribe_url"] = message.unsubscribe_url
        if message.attachments:
            body["attachments"] = [
                {"name": each.name, "type": each.media_type, "size": len(each.content)}
                for each in message.attachments
            ]
        if message.channel is Channel.EMAIL:
            body["mail"] = message.mail  # orjson writes dataclasses
        return Request(url=self._url, headers=headers, body=rounds.json_body(body))


def _outcome(reply: Reply, message: Message) -> Outcome:
    outcome = http_outcomes.outcome_of(
        reply, accepted=_outcome_of_success, hide=message.address, dead=_GONE
    )
    if (
        isinstance(outcome, Rejected)
        and isinstance(reply, Response)
        and reply.status == HTTPStatus.MISDIRECTED_REQUEST
    ):
        return replace(outcome, another_provider_may_accept=True)
    return outcome


def _outcome_of_success(response: Response) -> Outcome:
    try:
        return Accepted(message_id=str(orjson.loads(response.body)["message_id"]))
    except (ValueError, KeyError, TypeError):
        return Accepted()  # a 2xx is the promise; without an id, receipts still name the delivery


def _receipt(line: Mapping[str, str]) -> Receipt:
    return Receipt(
        kind=ReceiptKind(line["kind"]),
        delivery_id=UUID(line["delivery_id"]),
        provider_message_id=line["message_id"],
        occurred_at=datetime.fromisoformat(line["occurred_at"]),
        code=line.get("code", ""),
        contact_is_dead=line.get("code") == "no_such_address",
    )


def _text(line: Mapping[str, str]) -> InboundText:
    return InboundText(
        from_address=line["from"],
        to_address=line["to"],
        text=str(line["text"]),
        provider_message_id=line["message_id"],
    )


VENDOR: Final = Vendor(NAME, Config, Sandbox)
