"""A fallback chain whose text message has no money: P2 waits, P3 goes by e-mail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.models import Attempt, Budget, BudgetReservation
from notifications.features.money import known as cached
from notifications.features.money import sweep
from providers.contract import Channel
from tests.journey import CHAIN, Accept, Reach, chain_of, chain_statuses, deliver_chain

_PUSH_FAILED = ("push", "failed", "escalated")


@pytest.fixture(autouse=True)
def _no_money(
    outbox: object,  # noqa: ARG001 - its settings come first
    reach: Reach,
) -> Iterator[None]:
    """Text messages have no money today; the push fails for good."""
    reach(push="token.400", sms="+15552020300", email="ana@sandbox.example")
    Budget.objects.all().delete()
    Budget.objects.create(channel=Channel.SMS, amount_micros=0)
    cached.forget()
    yield
    cached.forget()


def test_a_p2_chain_waits_at_the_text_message(take: Accept) -> None:
    answer = take(**CHAIN | {"priority": "P2"})
    deliver_chain(answer)
    deliver_chain(answer)
    held = [_PUSH_FAILED, ("sms", "scheduled", "budget")]
    assert chain_statuses(answer) == held
    deliver_chain(answer)
    assert chain_statuses(answer) == held, "a held row is claimed before its time"
    [push, text] = chain_of(answer)
    assert not Attempt.objects.filter(delivery_id=text.id).exists()
    Budget.objects.all().delete()
    assert sweep.run_once(now=clock.now(), limit=100).moved == 1
    cached.forget()
    deliver_chain(answer)
    assert chain_statuses(answer) == [_PUSH_FAILED, ("sms", "sent", "")]
    calls = Attempt.objects.filter(delivery_id__in=[push.id, text.id])
    assert sorted(calls.values_list("delivery_id", flat=True)) == [push.id, text.id]


def test_a_p3_chain_goes_by_email_once(take: Accept) -> None:
    answer = take(**CHAIN | {"priority": "P3"})
    deliver_chain(answer)
    deliver_chain(answer)
    replaced = [_PUSH_FAILED, ("sms", "suppressed", "budget_to_email")]
    assert chain_statuses(answer)[:2] == replaced
    deliver_chain(answer)
    Budget.objects.all().delete()
    assert sweep.run_once(now=clock.now(), limit=100).moved == 0
    deliver.deliver([row.id for row in chain_of(answer)])
    assert chain_statuses(answer) == [*replaced, ("email", "sent", "")]
    assert not BudgetReservation.objects.exists()


@pytest.mark.parametrize("priority", ["P0", "P1"])
def test_an_urgent_chain_passes_the_budget(take: Accept, priority: str) -> None:
    answer = take(**CHAIN | {"priority": priority})
    for _ in range(3):
        deliver_chain(answer)
    assert chain_statuses(answer) == [_PUSH_FAILED, ("sms", "sent", "")]
