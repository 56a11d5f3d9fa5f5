"""The answer of a call that comes after the lease: the worker was frozen, or its host suspended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.feedback import delivery_receipts
from notifications.core.models import Attempt, DeadLetter, Delivery
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import CANCEL
from notifications.core.store.postgres import claims, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from providers.contract import Accepted, Message, Outcome, Receipt, ReceiptKind, Rejected
from tests.journey import Accept, lapse, status_and_reason, statuses, take_rows
from tests.vendors import Scripted

pytestmark = pytest.mark.django_db(transaction=True)
FAILURES = [ReceiptKind.FAILED, ReceiptKind.BOUNCED]


def _after_the_lease(
    row: UUID, outcome: Outcome, *, meanwhile: Callable[[], object] = bool
) -> Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]:
    """Return an answer that comes after the rescue of its row."""

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        rescue.rescue([lapse(row)])
        meanwhile()
        connection.close()  # of the thread of the call
        yield batch[0], outcome

    return answer


def _receipt(kind: ReceiptKind, row: UUID, message_id: str) -> Receipt:
    return Receipt(kind=kind, delivery_id=row, provider_message_id=message_id, code="30005")


@pytest.mark.parametrize("end", [Accepted(message_id="m-2"), Rejected(code="bad"), None])
def test_a_late_acceptance_counts_beside_a_running_repeat_of_its_call(
    scripted: Scripted, take: Accept, end: Outcome | None
) -> None:
    [row] = take_rows(take, 1, priority="P1")
    late_is_settled = threading.Event()

    def repeat(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        running.set()
        assert late_is_settled.wait(20)
        if end is not None:
            yield batch[0], end

    running = threading.Event()
    with ThreadPoolExecutor(1) as workers:

        def call_again() -> None:
            scripted.answer = repeat
            second.append(workers.submit(_deliver_apart, row))
            assert running.wait(20)

        second: list[Future[None]] = []
        scripted.answer = _after_the_lease(row, Accepted(message_id="m-1"), meanwhile=call_again)
        deliver.deliver([row])
        assert status_and_reason(row) == (Status.SENT, Reason.ACCEPTED_AFTER_LEASE)
        late_is_settled.set()
        second[0].result()
    assert status_and_reason(row) == (Status.SENT, Reason.ACCEPTED_AFTER_LEASE)
    assert not DeadLetter.objects.exists()


def _deliver_apart(row: UUID) -> None:
    """Deliver as another worker, by a connection of its own."""
    try:
        deliver.deliver([row])
    finally:
        connection.close()


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("is_cancelled", [False, True], ids=["queued", "cancelled"])
def test_a_late_acceptance_changes_nothing_after_a_receipt_of_its_failure(
    scripted: Scripted, take: Accept, kind: ReceiptKind, *, is_cancelled: bool
) -> None:
    [row] = take_rows(take, 1, priority="P1")

    def fail() -> None:
        if is_cancelled:
            transitions.apply(CANCEL, [Move(id=row, reason=Reason.CANCELLED)], ANYONE)
        assert delivery_receipts.record(scripted.name, [_receipt(kind, row, "m-1")]) == 0

    scripted.answer = _after_the_lease(row, Accepted(message_id="m-1"), meanwhile=fail)
    deliver.deliver([row])
    assert statuses([row]) == [Status.CANCELLED if is_cancelled else Status.QUEUED]


@pytest.mark.parametrize("kind", FAILURES)
def test_a_receipt_with_the_id_of_a_late_acceptance_is_about_that_call(
    scripted: Scripted, take: Accept, kind: ReceiptKind
) -> None:
    [row] = take_rows(take, 1, priority="P1")
    claim = claims.claim([row], now=clock.now())
    claims.renew([row], token=claim.token, provider=scripted.name)
    rescue.rescue([lapse(row)])
    scripted.answer = _after_the_lease(row, Accepted(message_id="m-2"))
    deliver.deliver([row])
    outcomes = Attempt.objects.filter(delivery_id=row).order_by("number")
    assert list(outcomes.values_list("outcome", "detail")) == [
        ("unanswered", "worker_lost"),
        ("accepted", "m-2"),
    ]
    assert delivery_receipts.record(scripted.name, [_receipt(kind, row, "m-other")]) == 0
    assert delivery_receipts.record(scripted.name, [_receipt(kind, row, "m-2")]) == 1
    assert status_and_reason(row)[1] == f"receipt_{kind.value}"


def test_a_message_id_longer_than_the_column_is_cut_by_every_writer(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1, priority="P1")
    too_long = "m" * 300
    scripted.answer = _after_the_lease(row, Accepted(message_id=too_long))
    deliver.deliver([row])
    assert statuses([row]) == [Status.SENT]
    receipt = Receipt(
        kind=ReceiptKind.DELIVERED,
        delivery_id=row,
        provider_message_id=too_long,
        code="c" * 600,
    )
    assert delivery_receipts.record(scripted.name, [receipt]) == 1
    assert Delivery.objects.get(id=row).provider_message_id == too_long[:255]
