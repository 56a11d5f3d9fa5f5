"""A hard budget of a day is never exceeded, and each call counts once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.models import (
    Attempt,
    Budget,
    BudgetDay,
    BudgetReservation,
    Delivery,
    Event,
    Price,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.cached import prices
from notifications.core.store.postgres import claims
from notifications.features.money import known as cached
from notifications.features.money import ledgers, sweep
from providers.contract import Accepted, Channel, Message, Outcome, Throttled, Unanswered
from tests.journey import (
    Accept,
    Reach,
    chain_of,
    deliveries_of,
    lapse,
    status_and_reason,
)
from tests.vendors import Scripted

CENT: Final = 10_000
HELD: Final = (Status.SCHEDULED, "budget")
SENT: Final = (Status.SENT, "")


def _budget(cents: float, **more: Any) -> Budget:  # noqa: ANN401 - columns
    fields = {"channel": Channel.SMS, "amount_micros": int(cents * CENT), **more}
    row = Budget.objects.create(**fields)
    cached.forget()
    return row


def _texts(take: Accept, count: int = 1, **fields: object) -> list[UUID]:
    wanted = {"channels": ["sms"], "priority": "P3", **fields}
    return [deliveries_of(take(**wanted))[0].id for _ in range(count)]


def _deliver(rows: Sequence[UUID]) -> list[tuple[Status, str]]:
    cached.forget()
    deliver.deliver(rows)
    return [status_and_reason(each) for each in rows]


def _used() -> int:
    return BudgetDay.objects.get().used_micros


def _sweep() -> int:
    moved = sweep.run_once(now=clock.now(), limit=100).moved
    cached.forget()
    return moved


@pytest.mark.usefixtures("provider")
def test_messages_above_a_hard_budget_wait_for_the_next_day(take: Accept) -> None:
    row = _budget(3)
    texts = _texts(take, 5)
    assert sorted(_deliver(texts)) == sorted([SENT] * 3 + [HELD] * 2)
    assert _used() == 3 * CENT
    assert not BudgetReservation.objects.exists()
    held = Delivery.objects.filter(reason="budget")
    assert {each.budget_id for each in held} == {row.pk}
    # Postgres's clock stands at the begin of the test's transaction.
    midnight = cached.every()[row.pk].next_day(clock.now()) - dt.timedelta(minutes=1)
    assert all(each.due_at and each.due_at >= midnight for each in held)
    assert not Attempt.objects.filter(delivery_id__in=[each.id for each in held]).exists()
    detail = Event.objects.filter(reason="budget").first()
    assert detail is not None
    assert detail.detail == "budget overall sms: $0.03 a day"


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize(("priority", "goes"), [("P0", True), ("P1", True), ("P2", False)])
def test_urgent_messages_pass_a_spent_budget_and_count(
    priority: str, *, goes: bool, take: Accept
) -> None:
    _budget(1)
    _deliver(_texts(take))
    assert _deliver(_texts(take, priority=priority)) == [SENT if goes else HELD]
    assert _used() == (2 if goes else 1) * CENT


@pytest.mark.usefixtures("provider")
def test_a_soft_budget_holds_nothing(take: Accept) -> None:
    _budget(1, is_hard=False)
    assert _deliver(_texts(take, 3)) == [SENT] * 3
    assert _used() == 3 * CENT


@pytest.mark.usefixtures("provider")
def test_the_budget_of_a_producer_counts_beside_the_overall_one(
    take: Accept,
    caller: Any,  # noqa: ANN401 - a caller
) -> None:
    overall = _budget(10)
    own = _budget(2, producer_id=caller.producer_id, channel=None)
    assert sorted(_deliver(_texts(take, 3))) == sorted([SENT] * 2 + [HELD])
    used = dict(BudgetDay.objects.values_list("budget_id", "used_micros"))
    assert used == {overall.pk: 2 * CENT, own.pk: 2 * CENT}


def test_a_long_text_reserves_each_segment(provider: Scripted, take: Accept) -> None:
    del provider
    _budget(3)
    Price.objects.create(channel=Channel.SMS, country="DE", micros=CENT, valid_from="2026-01-01")
    prices.forget()
    rows = _texts(take, 2, variables={"name": "x" * 170, "code": "1"})
    assert sorted(_deliver(rows)) == sorted([SENT, HELD])
    assert _used() == 2 * CENT


@pytest.mark.usefixtures("provider")
def test_a_call_costs_the_price_at_its_reservation(
    take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    _budget(1)
    renew = claims.renew

    def raise_price(*args: Any, **named: Any) -> object:  # noqa: ANN401 - as renew
        Price.objects.create(channel=Channel.SMS, micros=9 * CENT, valid_from="2026-01-01")
        prices.forget()
        return renew(*args, **named)

    monkeypatch.setattr(claims, "renew", raise_price)
    [row] = _texts(take)
    assert _deliver([row]) == [SENT]
    assert (_used(), Attempt.objects.get(delivery_id=row).cost_micros) == (CENT, CENT)


def test_five_calls_of_a_message_cost_once_for_each_accepted_call(
    provider: Scripted, take: Accept
) -> None:
    _budget(1)
    [row] = _texts(take, priority="P2")
    answers: list[Outcome] = [*[Throttled(code="429")] * 4, Accepted(message_id="id-1")]
    provider.answer = lambda batch: ((each, answers.pop(0)) for each in batch)
    for _ in range(5):
        Delivery.objects.filter(id=row).update(status=Status.QUEUED, claim_token=None)
        _deliver([row])
    assert Attempt.objects.filter(delivery_id=row).count() == 5
    assert (_used(), BudgetReservation.objects.count()) == (CENT, 0)


@pytest.mark.usefixtures("provider")
def test_a_budget_below_the_spent_money_holds_and_releases_nothing(take: Accept) -> None:
    row = _budget(3)
    rows = _texts(take, 4)
    _deliver(rows)
    Budget.objects.filter(pk=row.pk).update(amount_micros=CENT)
    assert _sweep() == 0
    assert _deliver(_texts(take)) == [HELD]
    assert (_used(), Delivery.objects.filter(reason="budget").count()) == (3 * CENT, 2)


def test_a_failed_call_gives_its_money_back(provider: Scripted, take: Accept) -> None:
    _budget(1)
    provider.answer = lambda batch: ((each, Throttled(code="429")) for each in batch)
    [row] = _texts(take)
    _deliver([row])
    assert status_and_reason(row)[0] is Status.RETRYING
    ledgers.apply()
    assert (_used(), BudgetReservation.objects.count()) == (0, 0)


def test_a_call_without_an_answer_counts_as_spent(provider: Scripted, take: Accept) -> None:
    _budget(1)
    provider.answer = lambda batch: ((each, Unanswered()) for each in batch)
    _deliver(_texts(take))
    assert (_used(), BudgetReservation.objects.count()) == (CENT, 0)


def test_test_mode_has_no_budget(provider: Scripted, take: Accept) -> None:
    del provider
    _budget(0)
    rows = _texts(take)
    Delivery.objects.filter(id__in=rows).update(mode=Mode.TEST)
    _deliver(rows)
    assert not BudgetDay.objects.exists()


def test_a_p3_text_goes_by_email_when_the_message_allows_it(
    provider: Scripted, reach: Reach, take: Accept
) -> None:
    del provider
    _budget(0)
    reach("ana", sms="+4915112345679", email="ana@sandbox.example")
    answer = take(user_id="ana", channels=["sms", "email"], priority="P3")
    [text] = deliveries_of(answer)
    _deliver([text.id])
    first, second = chain_of(answer)
    assert status_and_reason(first.id) == (Status.SUPPRESSED, "budget_to_email")
    assert (second.channel, second.status) == (Channel.EMAIL, Status.QUEUED)
    deliver.deliver([second.id])
    assert status_and_reason(second.id) == SENT
    only_text = take(user_id="ana", channels=["sms"], priority="P3")
    assert _deliver([each.id for each in deliveries_of(only_text)]) == [HELD]


@pytest.mark.usefixtures("provider")
def test_a_raise_releases_as_many_rows_as_the_money_pays(take: Accept) -> None:
    row = _budget(1)
    _deliver(_texts(take, 5))
    assert _sweep() == 0
    Budget.objects.filter(pk=row.pk).update(amount_micros=3 * CENT)
    assert _sweep() == 2
    due = Delivery.objects.filter(reason="budget", due_at__lte=clock.now())
    assert _deliver([each.id for each in due]) == [SENT] * 2
    assert _used() == 3 * CENT
    assert _sweep() == 0


@pytest.mark.usefixtures("provider")
def test_a_removed_budget_releases_its_rows(take: Accept) -> None:
    row = _budget(0)
    rows = _texts(take, 2)
    assert _deliver(rows) == [HELD] * 2
    row.delete()
    assert _sweep() == 2
    assert _deliver(rows) == [SENT] * 2


@pytest.mark.usefixtures("provider")
def test_the_money_of_a_new_day_is_new(take: Accept, monkeypatch: pytest.MonkeyPatch) -> None:
    _budget(1)
    assert sorted(_deliver(_texts(take, 2))) == sorted([SENT, HELD])
    tomorrow = clock.now() + dt.timedelta(days=1)
    monkeypatch.setattr(
        "notifications.core.delivery.batch.Batch.now", property(lambda _batch: tomorrow)
    )
    monkeypatch.setattr(clock, "now", lambda: tomorrow)
    assert _deliver(_texts(take)) == [SENT]
    assert sorted(BudgetDay.objects.values_list("used_micros", flat=True)) == [CENT, CENT]


def test_a_worker_killed_before_its_call_leaves_one_reservation(
    provider: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    del provider
    _budget(1)
    [row] = _texts(take)
    with monkeypatch.context() as patch:
        patch.setattr(deliver, "_return_claim", lambda *_a, **_k: None)
        patch.setattr("notifications.core.store.postgres.claims.renew", _die)
        with pytest.raises(KeyboardInterrupt):
            deliver.deliver([row])
    assert (_used(), BudgetReservation.objects.count()) == (CENT, 1)
    rescue.rescue([lapse(row)])
    ledgers.apply()
    assert (_used(), BudgetReservation.objects.count()) == (0, 0)
    assert _deliver([row]) == [SENT]
    assert _used() == CENT


def _die(*_args: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_the_next_claim_takes_over_a_reservation(
    provider: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    del provider
    _budget(1)
    [row] = _texts(take)
    with monkeypatch.context() as patch:
        patch.setattr("notifications.core.store.postgres.claims.renew", _die)
        patch.setattr(deliver, "_return_claim", lambda *_a, **_k: None)
        with pytest.raises(KeyboardInterrupt):
            deliver.deliver([row])
    Delivery.objects.filter(id=row).update(status=Status.QUEUED, claim_token=None)
    assert _deliver([row]) == [SENT]
    assert (_used(), BudgetReservation.objects.count()) == (CENT, 0)


def test_the_answer_of_a_killed_worker_is_spent_once(
    provider: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    _budget(2)
    [row] = _texts(take)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        for each in batch:
            yield each, Accepted(message_id="id-1")

    provider.answer = answer
    with monkeypatch.context() as patch:
        patch.setattr("notifications.core.delivery.settle.settle", _die)
        with pytest.raises(KeyboardInterrupt):
            deliver.deliver([row])
    assert BudgetReservation.objects.count() == 1
    rescue.rescue([lapse(row)])
    assert status_and_reason(row)[0] is Status.SENT
    assert (_used(), BudgetReservation.objects.count()) == (CENT, 0)
    assert Attempt.objects.get(delivery_id=row).cost_micros == CENT


@pytest.mark.parametrize(
    ("status", "was_called", "used"),
    [
        (Status.CANCELLED, False, 0),
        (Status.DELIVERED, True, CENT),
        (Status.QUEUED, False, 0),
        (Status.UNKNOWN, True, CENT),
    ],
)
def test_the_sweep_settles_what_no_rescue_saw(
    provider: Scripted,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    *,
    status: Status,
    was_called: bool,
    used: int,
) -> None:
    del provider
    _budget(1)
    [row] = _texts(take)
    with monkeypatch.context() as patch:
        patch.setattr("notifications.core.store.postgres.claims.renew", _die)
        patch.setattr(deliver, "_return_claim", lambda *_a, **_k: None)
        with pytest.raises(KeyboardInterrupt):
            deliver.deliver([row])
    assert _sweep() == 0  # the claim may still be alive
    old = clock.now() - dt.timedelta(minutes=10)
    BudgetReservation.objects.update(created_at=old)
    called_at = clock.now() if was_called else None
    Delivery.objects.filter(id=row).update(status=status, call_started_at=called_at)
    _sweep()
    assert (_used(), BudgetReservation.objects.count()) == (used, 0)


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_exactly_what_the_budget_pays(provider: Scripted, take: Accept) -> None:
    del provider
    _budget(50)
    rows = _texts(take, 100)
    halves = rows[::2], rows[1::2]

    def work(part: Sequence[UUID]) -> None:
        try:
            for start in range(0, len(part), 10):
                deliver.deliver(part[start : start + 10])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as workers:
        list(workers.map(work, halves))
    sent = Delivery.objects.filter(status=Status.SENT).count()
    assert (sent, Delivery.objects.filter(reason="budget").count()) == (50, 50)
    assert (_used(), BudgetReservation.objects.count()) == (50 * CENT, 0)


@pytest.mark.usefixtures("provider")
def test_a_channel_without_a_budget_asks_the_database_nothing(
    take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    _budget(1, channel=Channel.EMAIL)
    cached.every()
    monkeypatch.setattr(ledgers, "reserve", _die)
    rows = _texts(take)
    deliver.deliver(rows)
    assert [status_and_reason(each) for each in rows] == [SENT]
