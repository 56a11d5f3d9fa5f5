"""The price of a receipt replaces the estimated cost of its call, once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from uuid import UUID, uuid4

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core import clock
from notifications.core.api.schemas import AttemptDetail
from notifications.core.delivery import deliver
from notifications.core.feedback import delivery_receipts
from notifications.core.figures.questions import Question, ask
from notifications.core.models import (
    Attempt,
    Budget,
    BudgetDay,
    Delivery,
    Event,
    ReceiptPrice,
)
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import partitions, rollups
from notifications.features.money import known as cached
from notifications.features.money import sweep
from providers.contract import Accepted, Channel, Receipt, ReceiptKind, Unanswered
from tests.journey import Accept, Reach, deliveries_of, routed_to_scripted, status_and_reason
from tests.old_days import recount_days
from tests.vendors import Scripted

CENT: Final = 10_000
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider(
    outbox: object,  # noqa: ARG001 - its settings come first
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scripted]:
    """Route text messages to the scripted provider, which accepts each as the message `sm-1`."""
    with routed_to_scripted(monkeypatch, Channel.SMS) as scripted:
        scripted.answer = lambda batch: ((each, Accepted(message_id="sm-1")) for each in batch)
        reach(sms="+4915112345678")
        Budget.objects.all().delete()
        Budget.objects.create(channel=Channel.SMS, amount_micros=100 * CENT)
        cached.forget()
        yield scripted


def _text(take: Accept, **fields: object) -> UUID:
    return deliveries_of(take(**{"channels": ["sms"], "priority": "P3", **fields}))[0].id


def _sent(take: Accept) -> UUID:
    row = _text(take)
    deliver.deliver([row])
    return row


def _tell(row: UUID, micros: int | None = None, **more: object) -> None:
    known = {"provider_message_id": "sm-1", "price_micros": micros, **more}
    told = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row, **known)  # type: ignore[arg-type]  # fields by name
    delivery_receipts.record("scripted", [told])


def _sweep() -> None:
    ReceiptPrice.objects.update(due_at=TransactionNow())
    sweep.run_once(now=clock.now(), limit=100)
    cached.forget()


def _used() -> int:
    return BudgetDay.objects.get().used_micros


def _figures() -> int:
    """Return the cost in the roll-ups, in microdollars."""
    while rollups.count_next(limit=1).more:
        pass
    now = clock.now()
    question = Question(metric="cost", start=now - dt.timedelta(hours=1), end=now, now=now)
    answer = ask(question)
    return round(sum(group.total or 0 for group in answer.groups) * 1_000_000)


def _cost(row: UUID) -> tuple[object, object]:
    call = AttemptDetail.model_validate(Attempt.objects.get(delivery_id=row)).to_json()
    return call["cost_usd"], call["cost_basis"]


@pytest.mark.parametrize("micros", [25_000, 4_000, 0, CENT])
def test_a_price_settles_call_ledger_and_figures_once(
    micros: int, provider: Scripted, take: Accept
) -> None:
    assert provider.name
    rollups.count_next(limit=1)
    row = _sent(take)
    assert (_cost(row), _used()) == ((0.01, "estimated"), CENT)
    for _ in range(2):
        _tell(row, micros)
        _tell(row, 77_000)  # a later price changes nothing
        _sweep()
        assert (_cost(row), _used()) == ((micros / 1_000_000, "settled"), micros)
    assert not ReceiptPrice.objects.exists()
    assert Event.objects.filter(reason=Reason.COST_SETTLED).count() == (micros != CENT)
    assert _figures() == micros
    recount_days()
    assert _figures() == micros


@pytest.mark.usefixtures("provider")
def test_segments_settle_where_the_price_has_another_currency(take: Accept) -> None:
    row = _sent(take)
    _tell(row, segments=3)
    _sweep()
    assert (_cost(row), _used()) == ((0.03, "settled"), 3 * CENT)
    assert Attempt.objects.get(delivery_id=row).segments == 3


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("told", [{"micros": -1}, {"micros": 10**17}, {"segments": -2}, {}])
def test_an_impossible_price_changes_nothing(told: dict[str, int], take: Accept) -> None:
    row = _sent(take)
    _tell(row, **told)
    assert not ReceiptPrice.objects.exists()
    assert status_and_reason(row)[0] is Status.DELIVERED


@pytest.mark.usefixtures("provider")
def test_a_receipt_before_the_outcome_waits_for_the_call(take: Accept) -> None:
    row = _text(take)
    _tell(row, 25_000)
    _sweep()
    assert ReceiptPrice.objects.get().due_at > clock.now()
    deliver.deliver([row])
    _sweep()
    assert (_cost(row), _used()) == ((0.025, "settled"), 25_000)


@pytest.mark.usefixtures("provider")
def test_a_receipt_without_a_call_is_forgotten_after_a_day(take: Accept) -> None:
    _sent(take)
    strangers = [uuid4(), UUID(int=2**128 - 1), UUID(int=0)]
    for each in strangers:
        _tell(each, 25_000)
    _sweep()
    assert ReceiptPrice.objects.count() == len(strangers)
    ReceiptPrice.objects.update(created_at=clock.now() - dt.timedelta(hours=25))
    _sweep()
    assert not ReceiptPrice.objects.exists()
    assert _used() == CENT


@pytest.mark.usefixtures("provider")
def test_a_receipt_of_a_dropped_partition_changes_nothing(take: Accept) -> None:
    row = _sent(take)
    _tell(row, 25_000)
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE notification, delivery, attempt, event")
    assert partitions.existing()
    _sweep()
    assert (_used(), ReceiptPrice.objects.count()) == (CENT, 1)


@pytest.mark.usefixtures("provider")
def test_a_removed_budget_needs_no_correction(take: Accept) -> None:
    row = _sent(take)
    _tell(row, 25_000)
    Budget.objects.all().delete()
    _sweep()
    assert _cost(row) == (0.025, "settled")


@pytest.mark.usefixtures("provider")
def test_the_ledger_of_the_calls_day_is_corrected(take: Accept) -> None:
    row = _sent(take)
    yesterday = clock.now() - dt.timedelta(days=1)
    BudgetDay.objects.update(day=yesterday.date())
    Attempt.objects.update(reserved_at=yesterday)
    _sent(take)
    _tell(row, 25_000)
    _sweep()
    used = dict(BudgetDay.objects.values_list("day", "used_micros"))
    assert used.pop(yesterday.date()) == 25_000
    assert list(used.values()) == [CENT]


def test_a_lower_cost_releases_what_a_hard_budget_holds(provider: Scripted, take: Accept) -> None:
    assert provider.name
    Budget.objects.update(amount_micros=CENT)
    cached.forget()
    row, held = _sent(take), _text(take)
    cached.forget()
    deliver.deliver([held])
    assert status_and_reason(held) == (Status.SCHEDULED, "budget")
    soon = Delivery.objects.filter(id=held, due_at__lte=clock.now() + dt.timedelta(seconds=5))
    assert not soon.exists()
    _tell(row, 0)
    _sweep()
    assert soon.exists()


def test_a_call_without_an_answer_is_settled_by_its_receipt(
    provider: Scripted, take: Accept
) -> None:
    rollups.count_next(limit=1)
    provider.answer = lambda batch: ((each, Unanswered()) for each in batch)
    row = _sent(take)
    assert (_cost(row), _used(), _figures()) == ((None, None), CENT, 0)
    _tell(row, 25_000)
    _sweep()
    assert _cost(row) == (None, None)  # the outcome of another call may follow
    ReceiptPrice.objects.update(created_at=clock.now() - dt.timedelta(minutes=3))
    _sweep()
    assert (_cost(row), _used(), _figures()) == ((0.025, "settled"), 25_000, 25_000)


def test_the_segments_of_the_answer_make_the_estimate(provider: Scripted, take: Accept) -> None:
    provider.answer = lambda batch: (
        (each, Accepted(message_id="sm-1", segments=4)) for each in batch
    )
    row = _sent(take)
    assert (_cost(row), _used()) == ((0.04, "estimated"), 4 * CENT)


@pytest.mark.usefixtures("provider")
def test_concurrent_receipts_and_sweeps_settle_each_call_once(take: Accept) -> None:
    rows = [_text(take) for _ in range(20)]
    deliver.deliver(rows)

    def work(turn: int) -> None:
        try:
            for row in rows[:: 1 if turn % 2 else -1]:
                _tell(row, 25_000)
                sweep.run_once(now=clock.now(), limit=3)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    while ReceiptPrice.objects.exists():
        _sweep()
    assert _used() == 20 * 25_000
    assert Event.objects.filter(reason=Reason.COST_SETTLED).count() == 20
