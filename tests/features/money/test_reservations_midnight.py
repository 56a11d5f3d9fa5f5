"""Reservations and holds around midnight count on one day."""

from __future__ import annotations

import datetime as dt
from typing import Final
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.delivery.batch import Batch, load
from notifications.core.models import Budget, BudgetDay, Delivery
from notifications.core.store.postgres import claims
from notifications.features.money import known as cached
from notifications.features.money import reservations
from providers.contract import Channel
from tests.journey import Accept, deliveries_of

CENT: Final = 10_000
_MOMENT: Final = dt.timedelta(milliseconds=1)
pytestmark = pytest.mark.usefixtures("provider")


def budget() -> Budget:
    row = Budget.objects.create(channel=Channel.SMS, amount_micros=CENT)
    cached.forget()
    return row


def texts(take: Accept, count: int) -> list[UUID]:
    return [deliveries_of(take(channels=["sms"], priority="P3"))[0].id for _ in range(count)]


def test_a_wave_beside_midnight_counts_on_the_day_of_its_first_second(
    take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = budget()
    batch = load(claims.claim(texts(take, 2), now=clock.now()))
    midnight = _last_midnight(row)
    times = iter([midnight - _MOMENT])
    monkeypatch.setattr(Batch, "now", property(lambda _batch: next(times, midnight)))
    [paid] = reservations.reserve(batch, batch.deliveries, provider="scripted")
    assert paid.reserved_at == midnight - _MOMENT
    assert BudgetDay.objects.get().day == (midnight - _MOMENT).date()
    _assert_held_for_hours()


def test_a_state_of_yesterday_holds_nothing_until_tomorrow(
    take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = budget()
    batch = load(claims.claim(texts(take, 1), now=clock.now()))
    midnight = _last_midnight(row)
    day = (midnight - _MOMENT).date()
    BudgetDay.objects.create(budget=row, day=day, used_micros=CENT, refused_micros=CENT)
    cached.forget()
    monkeypatch.setattr(Batch, "now", property(lambda _batch: midnight))
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: midnight - _MOMENT)
        reservations.hold_without_money(batch)
    batch.commit()
    _assert_held_for_hours()


def _last_midnight(row: Budget) -> dt.datetime:
    rule = cached.every()[row.pk]
    return rule.start_of(rule.day(clock.now()))


def _assert_held_for_hours() -> None:
    held = Delivery.objects.get(reason="budget")
    assert held.due_at is not None
    assert held.due_at < clock.now() + dt.timedelta(hours=12)
