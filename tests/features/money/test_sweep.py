"""A raise releases the rows of its budget, whatever else the lanes have queued."""

from __future__ import annotations

import datetime as dt
from typing import Final
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.models import Budget, Delivery
from notifications.core.rules.states import Status
from notifications.core.sweeps import release
from notifications.features.money import known as cached
from notifications.features.money import sweep
from providers.contract import Channel
from tests.journey import (
    Accept,
    caller,
    deliveries_of,
    outbox,
    reach,
    take,
)

__all__ = ["caller", "outbox", "reach", "take"]
CENT: Final = 10_000
pytestmark = pytest.mark.usefixtures("provider")


def _texts(take: Accept, count: int) -> list[UUID]:
    return [deliveries_of(take(channels=["sms"], priority="P3"))[0].id for _ in range(count)]


def _sweep() -> int:
    cached.forget()
    return sweep.run_once(now=clock.now(), limit=100).moved


def test_a_raise_releases_its_rows_beside_many_queued_rows_of_others(take: Accept) -> None:
    row = Budget.objects.create(channel=Channel.SMS, amount_micros=CENT)
    cached.forget()
    deliver.deliver(_texts(take, 3))
    assert Delivery.objects.filter(reason="budget").count() == 2
    _texts(take, 30)  # as of a campaign that no budget has held
    Budget.objects.filter(pk=row.pk).update(amount_micros=3 * CENT)
    assert _sweep() == 2
    held = Delivery.objects.filter(reason="budget")
    held.update(due_at=TransactionNow() - dt.timedelta(seconds=9))
    release.run_once(now=clock.now(), limit=500)
    queued = Delivery.objects.filter(reason="hold_over", status=Status.QUEUED)
    assert queued.count() == 2
    assert _sweep() == 0
