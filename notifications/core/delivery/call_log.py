"""The log line of each provider call, written for a group of results."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from notifications.core import clock, conf, telemetry
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.redaction import address_hashes
from notifications.core.store.postgres.attempts import AttemptRow
from providers.contract import Channel, Result


def write(
    pairs: Sequence[tuple[ClaimedDelivery, Result]], calls: Sequence[AttemptRow], *, provider: str
) -> None:
    """Write a line for each call; `calls` has the rows of the pairs, in the same order."""
    addresses = [claimed.destination.address for claimed, _ in pairs]
    hashes = address_hashes(addresses, key=conf.current().hash_key)
    now = clock.now()
    lines = []
    for (claimed, _), call, hashed in zip(pairs, calls, hashes, strict=True):
        delivery, notification = claimed.delivery, claimed.notification
        lane = _fields_of_lane(delivery.mode, delivery.priority, delivery.channel)
        lines.append({
            "address_hash": hashed,
            "attempt": call.number,
            "channel": lane["channel"],
            "code": call.code,
            "delivery_id": delivery.id,
            "event": telemetry.CALL["event"],
            "http_status": call.http_status,
            "latency_ms": call.latency_ms,
            "level": telemetry.CALL["level"],
            "logger": telemetry.CALL["logger"],
            "mode": lane["mode"],
            "notification_id": notification.id,
            "outcome": call.outcome,
            "priority": lane["priority"],
            "producer_id": notification.producer_id,
            "provider": provider,
            "retry_after_s": call.retry_after_s,
            "signed_with": call.signed_with,
            "timestamp": now,
            "trace_id": notification.traceparent[3:35],
            "type": notification.type,
        })
    telemetry.write_calls(lines)


@functools.cache
def _fields_of_lane(mode: Mode, priority: Priority, channel: Channel) -> Mapping[str, str]:
    return {"mode": mode.label, "priority": priority.name, "channel": channel.label}
