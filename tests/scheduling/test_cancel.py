"""A producer cancels a notification before its deliveries leave."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from notifications.intake.accept import Caller
from notifications.scheduling import cancel
from tests.journey import (
    Accept,
    Reach,
    deliveries_of,
)

Outbox = Callable[[UUID], list[Any]]


def test_a_cancelled_notification_stops_what_waits_once(
    reach: Reach, take: Accept, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    mine = partial(cancel.cancel, producer_id=caller.producer_id, mode=caller.mode)
    assert mine(row.notification_id) == [row.id]
    assert mine(row.notification_id) == []
    stranger = cancel.cancel(row.notification_id, producer_id=0, mode=caller.mode)
    assert stranger is None
