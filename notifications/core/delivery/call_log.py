"""The log line of each provider call, written for a group of results."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from notifications.core import conf, telemetry
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.redaction import address_hash
from notifications.core.store.postgres.attempts import AttemptRow
from providers.contract import Channel, Result


def write(
    pairs: Sequence[tuple[ClaimedDelivery, Result]], calls: Sequence[AttemptRow], *, provider: str
) -> None:
    """Write a line for each call; `calls` has the rows of the pairs, in the same order."""
    hash_key = conf.current().hash_key
    telemetry.write_calls([
        _fields(claimed, call, provider, hash_key)
        for (claimed, _), call in zip(pairs, calls, strict=True)
    ])


def _fields(
    claimed: ClaimedDelivery, call: AttemptRow, provider: str, hash_key: bytes
) -> dict[str, object]:
    delivery, notification = claimed.delivery, claimed.notification
    return {
        "address_hash": address_hash(claimed.destination.address, key=hash_key),
        "attempt": call.number,
        "code": call.code,
        "delivery_id": delivery.id,
        "http_status": call.http_status,
        "latency_ms": call.latency_ms,
        "notification_id": notification.id,
        "outcome": call.outcome,
        "producer_id": notification.producer_id,
        "provider": provider,
        "retry_after_s": call.retry_after_s,
        "signed_with": call.signed_with,
        "trace_id": notification.traceparent[3:35],
        "type": notification.type,
        **_fields_of_lane(delivery.mode, delivery.priority, delivery.channel),
    }


@functools.cache
def _fields_of_lane(mode: Mode, priority: Priority, channel: Channel) -> Mapping[str, str]:
    return {"mode": mode.label, "priority": priority.name, "channel": channel.label}
