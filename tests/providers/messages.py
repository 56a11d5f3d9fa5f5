"""Messages and clocks for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from providers.contract import Channel, Message

SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
NOON = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)


def noon() -> datetime:
    return NOON


class MovedClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at


def message(address: str, channel: Channel = Channel.PUSH, **changes: object) -> Message:
    delivery_id = uuid4()
    plain = Message(
        delivery_id=delivery_id,
        notification_id=uuid4(),
        idempotency_key=f"{delivery_id}.0",
        channel=channel,
        address=address,
        title="Order ready",
        body="Your order is ready.",
    )
    return replace(plain, **changes)  # type: ignore[arg-type] # its texts
