"""Each attempt counts once with its price, also after a receipt, a rescue or a late answer."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.feedback import delivery_receipts
from notifications.core.figures.questions import Question, ask
from notifications.core.models import Attempt, Delivery, Event
from notifications.core.rules.reasons import Reason
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.states import Status
from notifications.core.store.postgres import rollups
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Outcome,
    Receipt,
    ReceiptKind,
    Unavailable,
)
from tests.journey import Accept, Reach, lapse, routed_to_scripted, statuses, take_rows
from tests.old_days import recount_days
from tests.vendors import Scripted

pytestmark = pytest.mark.django_db(transaction=True)
_CALLS = 100
_CENT = 0.01


@pytest.fixture
def provider(
    outbox: object,  # noqa: ARG001 - its settings come first
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scripted]:
    """Route text messages to the scripted provider, and begin to count."""
    with routed_to_scripted(monkeypatch, Channel.SMS) as scripted:
        reach(sms="+15550000000")
        rollups.count_next(limit=1)
        yield scripted


def _early(outcome: Outcome) -> Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]:
    """Return an answer of the provider that stores the receipts before the outcomes."""

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        receipts = [
            Receipt(kind=ReceiptKind.DELIVERED, delivery_id=each.delivery_id) for each in batch
        ]
        assert delivery_receipts.record("scripted", receipts) == len(batch)
        connection.close()  # of the thread of the call
        yield from ((each, outcome) for each in batch)

    return answer


def _figures(*metrics: str, by: Dimension | None = None) -> list[object]:
    """Return totals of all counted events, before and after a recount, which must agree."""
    while rollups.count_next(limit=50).more:
        pass
    found = [_totals(name, by) for name in metrics]
    recount_days()
    assert [_totals(name, by) for name in metrics] == found
    return found


def _totals(metric: str, by: Dimension | None) -> object:
    now, hour = clock.now(), dt.timedelta(hours=1)
    dimensions = (by,) if by else ()
    asked = Question(metric=metric, start=now - hour, end=now + hour, by=dimensions, now=now)
    groups = ask(asked).groups
    return {each.key[0]: each.total for each in groups if each.total} if by else groups[0].total


def test_calls_whose_receipts_come_first_are_counted_and_priced(
    provider: Scripted, take: Accept
) -> None:
    provider.answer = _early(Accepted(message_id="m-1"))
    # P2: the ceilings of SMS hold P0 and P1 after ten SMS to a number.
    rows = take_rows(take, _CALLS, channels=["sms"], priority="P2")
    for first in range(0, _CALLS, 20):
        deliver.deliver(rows[first : first + 20])
    assert Counter(statuses(rows)) == {Status.DELIVERED: _CALLS}
    costs = Attempt.objects.values_list("cost_micros", flat=True)
    assert [each for each in costs if each] == [10_000] * _CALLS
    assert Event.objects.filter(reason=Reason.CALL_ENDED, status=None).count() == _CALLS
    calls, cost, sent, slow = _figures("calls", "cost", "sent", "call_to_answer_p95")
    assert (calls, cost, sent) == (_CALLS, pytest.approx(_CALLS * _CENT), _CALLS)
    assert slow is not None


def test_a_retry_whose_receipt_comes_first_counts_as_success(
    provider: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1, channels=["sms"], priority="P1")
    provider.answer = lambda batch: ((each, Unavailable(code="503")) for each in batch)
    deliver.deliver([row])
    Delivery.objects.filter(id=row).update(due_at=TransactionNow())
    provider.answer = _early(Accepted(message_id="m-1"))
    deliver.deliver([row])
    assert statuses([row]) == [Status.DELIVERED]
    assert _figures("calls", "failed_calls", "sent_after_retry") == [2, 1, 1]


def _after_the_rescue(
    row: UUID, outcome: Outcome
) -> Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]:
    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        rescue.rescue([lapse(row)])
        connection.close()  # of the thread of the call
        yield batch[0], outcome

    return answer


@pytest.mark.parametrize("priority", ["P1", "P3"])
@pytest.mark.parametrize(
    ("outcome", "failed", "cost"),
    [(Accepted(message_id="m-1"), {}, _CENT), (Unavailable(code="503"), {"unavailable": 1}, 0)],
    ids=["accepted", "refused"],
)
def test_an_answer_after_the_rescue_replaces_the_missing_answer(
    provider: Scripted,
    take: Accept,
    priority: str,
    outcome: Outcome,
    failed: dict[str, int],
    cost: float,
) -> None:
    [row] = take_rows(take, 1, channels=["sms"], priority=priority)
    provider.answer = _after_the_rescue(row, outcome)
    deliver.deliver([row])
    assert Attempt.objects.get(delivery_id=row).answered_at is not None
    assert _figures("calls", "cost") == [1, pytest.approx(cost)]
    assert _figures("failed_calls", by=Dimension.REASON) == [failed]


def test_a_call_behind_a_call_with_a_late_answer_counts(provider: Scripted, take: Accept) -> None:
    [row] = take_rows(take, 1, channels=["sms"], priority="P1")
    provider.answer = _after_the_rescue(row, Unavailable(code="503"))
    deliver.deliver([row])
    Delivery.objects.filter(id=row).update(due_at=TransactionNow())
    provider.answer = lambda batch: ((each, Accepted(message_id="m-2")) for each in batch)
    deliver.deliver([row])
    assert statuses([row]) == [Status.SENT]
    assert _figures("calls", "failed_calls", "cost") == [2, 1, pytest.approx(_CENT)]


def test_the_unanswered_call_of_a_rescued_urgent_message_counts(
    provider: Scripted, take: Accept
) -> None:
    def die(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        rescue.rescue([lapse(batch[0].delivery_id)])
        connection.close()  # of the thread of the call
        yield from ()

    [row] = take_rows(take, 1, channels=["sms"], priority="P1")
    provider.answer = die
    deliver.deliver([row])
    assert statuses([row]) == [Status.QUEUED]
    assert _figures("calls") == [1]
    assert _figures("failed_calls", by=Dimension.REASON) == [{"unanswered": 1}]
