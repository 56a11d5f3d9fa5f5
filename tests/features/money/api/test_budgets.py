"""Operators' keys read the budgets with the money of the day."""

from __future__ import annotations

import uuid

from notifications.core import clock
from notifications.core.models import Budget, BudgetDay, BudgetReservation, Producer
from notifications.core.rules.lane import Mode
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller


def test_a_budget_shows_spent_reserved_and_left_money(caller: Caller) -> None:
    Budget.objects.all().delete()
    shop = Producer.objects.create(name="shop")
    row = Budget.objects.create(producer=shop, channel=Channel.SMS, amount_micros=5_000_000)
    Budget.objects.create(amount_micros=7_000_000, is_hard=False)
    day = BudgetDay.objects.create(budget=row, day=clock.now().date(), used_micros=1_500_000)
    BudgetReservation.objects.create(
        delivery_id=uuid.uuid4(),
        token=uuid.uuid4(),
        micros=500_000,
        ledgers=[day.pk],
        created_at=clock.now(),
    )
    overall, own = caller.get("/v1/budgets").json()["results"]
    assert (overall["producer"], overall["channel"], overall["is_hard"]) == (None, None, False)
    assert (own["producer"], own["channel"], own["amount"]) == ("shop", "sms", 5.0)
    assert (own["spent"], own["reserved"], own["left"]) == (1.0, 0.5, 3.5)
    assert (own["month"], own["forecast"]) == (0.0, 0.0)
    first = caller.get("/v1/budgets", limit=1).json()
    assert [each["id"] for each in first["results"]] == [overall["id"]]
    second = caller.get("/v1/budgets", limit=1, cursor=first["next"]).json()
    assert [each["id"] for each in second["results"]] == [own["id"]]


def test_a_test_key_and_a_key_without_the_scope_are_refused(make_caller: MakeCaller) -> None:
    assert make_caller(mode=Mode.TEST).get("/v1/budgets").status_code == 403
    assert make_caller(scopes=["analytics:read"]).get("/v1/budgets").status_code == 403
