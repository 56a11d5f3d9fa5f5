"""Money is reserved for the calls of the claim that holds a delivery."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import Budget, BudgetDay, BudgetReservation, Delivery
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims
from notifications.core.sweeps import due_rows
from notifications.features.money import known as cached
from notifications.features.money import ledgers
from notifications.features.money.rules import Budget as KnownBudget
from notifications.features.money.rules import PricedCall
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

pytestmark = pytest.mark.usefixtures("outbox")


def _budget(reach: Reach) -> tuple[Budget, Mapping[int, KnownBudget]]:
    """Create the only budget, and a recipient with an e-mail address."""
    reach(email="ana@sandbox.example")
    Budget.objects.all().delete()
    budget = Budget.objects.create(channel=Channel.EMAIL, amount_micros=300)
    cached.forget()
    return budget, cached.every()


def test_a_claim_that_lost_its_lease_reserves_nothing_and_takes_nothing_back(
    take: Accept, reach: Reach
) -> None:
    budget, known = _budget(reach)
    frozen, next_claim = uuid4(), uuid4()
    lost, held = (deliveries_of(take(channels=["email"]))[0] for _ in range(2))
    asks = [PricedCall(each.id, 100, [budget.id], is_limited=True) for each in (lost, held)]
    for row, token in ((lost, next_claim), (held, frozen)):
        Delivery.objects.filter(id=row.id).update(status=Status.SENDING, claim_token=token)

    ledgers.reserve(asks[:1], token=next_claim, budgets=known, now=clock.now())
    shares = ledgers.reserve(asks, token=frozen, budgets=known, now=clock.now())

    assert (set(shares.granted), shares.refused) == ({held.id}, {})
    tokens = dict(BudgetReservation.objects.values_list("delivery_id", "token"))
    assert tokens == {lost.id: next_claim, held.id: frozen}
    assert BudgetDay.objects.get(budget=budget).used_micros == 200


@pytest.mark.django_db(transaction=True)
def test_no_claim_takes_a_delivery_while_its_price_is_being_reserved(
    take: Accept, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget, known = _budget(reach)
    [row] = deliveries_of(take(channels=["email"]))
    ask = PricedCall(row.id, 100, [budget.id], is_limited=True)
    slow, lock = uuid4(), ledgers._lock
    lapsed = clock.now() - dt.timedelta(minutes=1)
    Delivery.objects.filter(id=row.id).update(
        status=Status.SENDING, claim_token=slow, due_at=lapsed, claims=1
    )

    def rescue_and_reserve() -> int:
        try:
            rescued = due_rows.rescue_lost(now=clock.now(), limit=10).moved
            if rescued:
                token = claims.claim([row.id], now=clock.now()).token
                ledgers.reserve([ask], token=token, budgets=known, now=clock.now())
            return rescued
        finally:
            connection.close()

    rescued: list[int] = []

    def lock_late(*arguments: Any) -> Any:  # noqa: ANN401 - as the function
        with ThreadPoolExecutor(1) as other:
            monkeypatch.setattr(ledgers, "_lock", lock)
            rescued.append(other.submit(rescue_and_reserve).result())
        return lock(*arguments)

    monkeypatch.setattr(ledgers, "_lock", lock_late)
    shares = ledgers.reserve([ask], token=slow, budgets=known, now=clock.now())
    assert (rescued, set(shares.granted)) == ([0], {row.id})
    assert due_rows.rescue_lost(now=clock.now(), limit=10).moved == 1
    assert BudgetDay.objects.get(budget=budget).used_micros == 0
