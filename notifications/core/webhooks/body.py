"""The request of a message: body, signature, guarded URL.

    {"type": "notification.failed", "timestamp": ..., "data": {"producer", "notification_id",
    "delivery_id", "user_id", "channel", "provider", "status", "reason", "message", "metadata",
    "occurred_at", "request_id"}}

The data of `contact.invalidated` and of `bulk_job.*` have fields of the contact and of the job.
`inbox.action` has the field `action_id` too, which the row of the message keeps as its reason.
The fields come from the rows of the notification, whose sensitive variables are not among them.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
from dataclasses import dataclass, field
from ipaddress import IPv6Network
from typing import Any, Final

import orjson

from notifications.core.rules import reasons
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.webhook_events import StatusEvent
from notifications.core.store.postgres import secret_variables
from notifications.core.store.postgres.webhook_messages import (
    BulkJobFacts,
    ClaimedMessage,
    status_of,
)
from providers import configuration, standard_webhooks
from providers.configuration import parse_with
from providers.contract import Channel
from providers.errors import ForbiddenAddress
from providers.standard_webhooks import Secret
from providers.transport import Request
from providers.transport.guard import AddressPolicy, is_private_url, nat64_prefixes
from providers.webhook import standard

_HINT: Final = (
    "an installation for tests calls addresses of its own machine and network with"
    " NOTIFY_WEBHOOK_ALLOW_PRIVATE=yes and NOTIFY_WEBHOOK_SECRETS, as `make demo` does"
)
_TRACE_ID: Final = slice(3, 35)
"""Of a `traceparent`: the `X-Request-Id` of the request that made the notification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _GuardConfig:
    """The settings of webhooks that say which addresses may be called."""

    allow_private: bool = field(default=False, metadata=parse_with(configuration.yes_no))
    nat64: tuple[IPv6Network, ...] = field(
        default=(), metadata=parse_with(nat64_prefixes, setting=configuration.NAT64_PREFIXES)
    )


@functools.cache
def policy() -> AddressPolicy:
    """Return the addresses that endpoints may have; the settings are those of webhook contacts."""
    config = configuration.load(_GuardConfig, vendor=standard.NAME, environ=os.environ)
    return AddressPolicy(allow_private=config.allow_private, nat64=config.nat64)


def check_url(url: str) -> None:
    """Check the URL of a webhook at its entry, and before each call.

    Raises:
        ForbiddenAddress: the URL is not allowed; for an address of a private network with the
            setting that allows such addresses.
    """
    try:
        policy().check_url(url)
    except ForbiddenAddress as error:
        if is_private_url(url):
            raise ForbiddenAddress(f"{error}; {_HINT}") from None
        raise


def keys_of(
    endpoint_id: int,
    *,
    version: int,
    previous_until: dt.datetime | None,
    now: dt.datetime,
) -> list[Secret]:
    """Return the secrets that sign for an endpoint now, newest first."""
    versions = [version]
    if previous_until is not None and now < previous_until:
        versions.append(version - 1)
    return [
        Secret(key)
        for each in versions
        for key in secret_variables.signing_key(f"webhook-endpoint:{endpoint_id}:{each}")
    ]


def request_of(message: ClaimedMessage, *, now: dt.datetime) -> Request:
    """Return the signed request of a message.

    Raises:
        ForbiddenAddress: the URL is not allowed.
    """
    check_url(message.url)
    body = orjson.dumps({
        "type": message.type,
        "timestamp": message.occurred_at,
        "data": _data(message),
    })
    secrets = keys_of(
        message.endpoint_id,
        version=message.secret_version,
        previous_until=message.previous_secret_until,
        now=now,
    )
    signed = standard_webhooks.sign(body, message_id=str(message.id), at=now, secrets=secrets)
    headers = ["Content-Type: application/json"]
    headers += [f"{name}: {value}" for name, value in signed.items()]
    if message.facts is not None and message.facts.traceparent:
        headers.append("traceparent: " + message.facts.traceparent)
    return Request(url=message.url, headers=headers, body=body, guard=policy())


def _data(message: ClaimedMessage) -> dict[str, Any]:
    facts, status = message.facts, status_of(message)
    if message.contact is not None:
        return {
            "contact_id": message.contact_id,
            "user_id": message.contact.user_id,
            "channel": Channel(message.contact.channel).label,
            "reason": message.contact.reason,
            "message": "A provider reported the address as dead; the contact is invalid.",
            "occurred_at": message.occurred_at,
        }
    if message.bulk_job is not None:
        return _bulk_job(message, message.bulk_job)
    if facts is None or status is None:
        return {"message": "This is a test event.", "occurred_at": message.occurred_at}
    is_action = message.type == StatusEvent.INBOX_ACTION
    reason = Reason.INBOX_ACTION if is_action else message.reason
    return {
        "producer": facts.producer,
        "notification_id": message.notification_id,
        "delivery_id": message.delivery_id,
        **({"action_id": message.reason} if is_action else {}),
        "user_id": facts.user_id,
        "channel": None if facts.channel is None else Channel(facts.channel).label,
        "provider": facts.provider or None,
        "status": status.label,
        "reason": reason,
        "message": _sentence(reason, status),
        "metadata": facts.metadata,
        "occurred_at": message.occurred_at,
        "request_id": facts.traceparent[_TRACE_ID] or None,
    }


def _sentence(reason: str, status: Status) -> str:
    if not reason and status is Status.SENT:
        return "The provider accepted the message."
    return reasons.sentence(reason)


def _bulk_job(message: ClaimedMessage, job: BulkJobFacts) -> dict[str, Any]:
    return {
        "bulk_job_id": message.bulk_job_id,
        "name": job.name,
        "reason": message.reason,
        "metadata": job.metadata,
        "progress": {
            "examined": job.expansion.examined,
            "accepted": job.expansion.accepted,
            "left_out": job.expansion.left_out,
        },
        "occurred_at": message.occurred_at,
    }
