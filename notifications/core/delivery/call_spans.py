"""The span of each provider call, a child of the request that made the notification."""

from __future__ import annotations

from collections.abc import Iterable

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.telemetry import traces
from providers.contract import Accepted, NotStarted, Result


def record(pairs: Iterable[tuple[ClaimedDelivery, Result]], *, provider: str) -> None:
    """Record the calls that ended just now and whose trace is sampled."""
    if not traces.are_on():
        return
    from notifications.core.telemetry import spans  # noqa: PLC0415 - only if spans are exported

    for claimed, result in pairs:
        parent = claimed.notification.traceparent
        if traces.is_sampled(parent) and not isinstance(result.outcome, NotStarted):
            outcome = type(result.outcome).__name__.lower()
            spans.record(
                f"send {claimed.delivery.channel.label}",
                kind=spans.CLIENT,
                parent=parent,
                attributes=_attributes(claimed, result, outcome=outcome, provider=provider),
                seconds=result.latency.total_seconds(),
                error="" if isinstance(result.outcome, Accepted) else outcome,
            )


def _attributes(
    claimed: ClaimedDelivery, result: Result, *, outcome: str, provider: str
) -> dict[str, str | int]:
    delivery = claimed.delivery
    attributes: dict[str, str | int] = {
        "messaging.system": provider,
        "messaging.operation.type": "send",
        "messaging.operation.name": "send",
        "messaging.message.id": str(delivery.id),
        "messaging.message.conversation_id": str(claimed.notification.id),
        "notifications.attempt": claimed.call,
        "notifications.channel": delivery.channel.label,
        "notifications.mode": delivery.mode.label,
        "notifications.outcome": outcome,
        "notifications.priority": delivery.priority.name,
    }
    if result.http_status is not None:
        attributes["http.response.status_code"] = result.http_status
    return attributes
