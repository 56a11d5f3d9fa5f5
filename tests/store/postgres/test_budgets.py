"""Money is reserved for the calls of the claim that holds a delivery."""

from __future__ import annotations

from uuid import uuid4

import pytest

from notifications import clock
from notifications.models import Budget, BudgetDay, BudgetReservation, Delivery
from notifications.rules.budgets import PricedCall
from notifications.rules.states import Status
from notifications.store.cached import budgets as cached
from notifications.store.postgres import budgets
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

pytestmark = pytest.mark.usefixtures("outbox")


def test_a_claim_that_lost_its_lease_reserves_nothing_and_takes_nothing_back(
    take: Accept, reach: Reach
) -> None:
    reach(email="ana@sandbox.example")
    Budget.objects.all().delete()
    budget = Budget.objects.create(channel=Channel.EMAIL, amount_micros=300)
    cached.forget()
    known = cached.every()
    frozen, next_claim = uuid4(), uuid4()
    lost, held = (deliveries_of(take(channels=["email"]))[0] for _ in range(2))
    asks = [PricedCall(each.id, 100, [budget.id], is_limited=True) for each in (lost, held)]
    for row, token in ((lost, next_claim), (held, frozen)):
        Delivery.objects.filter(id=row.id).update(status=Status.SENDING, claim_token=token)

    budgets.reserve(asks[:1], token=next_claim, budgets=known, now=clock.now())
    shares = budgets.reserve(asks, token=frozen, budgets=known, now=clock.now())

    assert (set(shares.granted), shares.refused) == ({held.id}, {})
    tokens = dict(BudgetReservation.objects.values_list("delivery_id", "token"))
    assert tokens == {lost.id: next_claim, held.id: frozen}
    assert BudgetDay.objects.get(budget=budget).used_micros == 200
