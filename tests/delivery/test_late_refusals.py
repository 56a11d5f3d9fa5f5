"""A refusal that comes after the lease: nothing was sent, so the delivery is not `unknown`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core.delivery import deliver, rescue
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.models import (
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    Event,
    Notification,
    ProviderRoute,
)
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.scheduling import cancel
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from tests.journey import (
    CHAIN,
    Accept,
    AddVendor,
    Reach,
    chain_of,
    chain_statuses,
    lapse,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.vendors import Scripted

pytestmark = pytest.mark.django_db(transaction=True)
Answer = Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]


def _after_the_lease(
    row: UUID, outcome: Outcome, *, meanwhile: Callable[[], object] = bool
) -> Answer:
    """Return an answer that comes after the rescue of its row."""

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        rescue.rescue([lapse(row)])
        meanwhile()
        connection.close()  # of the thread of the call
        yield batch[0], outcome

    return answer


def _deliver_late(
    scripted: Scripted, row: UUID, outcome: Outcome, *, meanwhile: Callable[[], object] = bool
) -> None:
    scripted.answer = _after_the_lease(row, outcome, meanwhile=meanwhile)
    deliver.deliver([row])


def _counted(row: UUID) -> int:
    """Return the calls that count against the retry policy."""
    [found] = Delivery.objects.filter(id=row).values_list("attempts", "attempts_before")
    return int(found[0] - found[1])


@pytest.mark.parametrize(
    ("outcome", "reason", "counted"),
    [
        (Unavailable(code="503"), Reason.UNAVAILABLE, 1),
        (Throttled(code="429"), Reason.THROTTLED, 0),
        (NotStarted(code="late"), Reason.CLAIM_RETURNED, 0),
        (Misconfigured(code="401"), Reason.PROVIDER_MISCONFIGURED, 0),
    ],
)
def test_a_late_refusal_for_a_time_retries_the_unknown_delivery_within_its_budget(
    scripted: Scripted, take: Accept, outcome: Outcome, reason: Reason, counted: int
) -> None:
    [row] = take_rows(take, 1)
    _deliver_late(scripted, row, outcome)
    assert status_and_reason(row) == (Status.RETRYING, reason)
    assert _counted(row) == counted
    assert Event.objects.filter(delivery_id=row, status=Status.UNKNOWN).count() == 1
    last = Event.objects.filter(delivery_id=row).latest("seq")
    assert (last.status, last.reason) == (Status.RETRYING, reason)
    assert last.detail.startswith("after the lease")


def test_the_retry_after_a_late_refusal_is_sent(scripted: Scripted, take: Accept) -> None:
    [row] = take_rows(take, 1)
    _deliver_late(scripted, row, NotStarted(code="late"))
    Delivery.objects.filter(id=row).update(due_at=TransactionNow())
    scripted.answer = lambda batch: ((each, Accepted()) for each in batch)
    deliver.deliver([row])
    assert statuses([row]) == [Status.SENT]


def test_a_late_rejection_is_a_failure_with_a_dead_letter_and_a_dead_contact(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    _deliver_late(scripted, row, Rejected(code="550", contact_is_dead=True))
    assert status_and_reason(row) == (Status.FAILED, Reason.PERMANENT)
    letter = DeadLetter.objects.get(delivery_id=row)
    assert (letter.reason, letter.detail) == (Reason.PERMANENT, "after the lease: 550")
    assert not Contact.objects.filter(invalidated_at=None).exists()


def test_the_attempt_of_a_late_refusal_has_the_answer(scripted: Scripted, take: Accept) -> None:
    [row] = take_rows(take, 1)
    _deliver_late(scripted, row, Unavailable(code="503"))
    call = Attempt.objects.get(delivery_id=row)
    assert (call.outcome, call.code) == ("unavailable", "503")
    assert call.cost_micros is None


def test_the_last_call_of_the_budget_fails_also_when_its_refusal_is_late(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    Delivery.objects.filter(id=row).update(attempts=4)
    _deliver_late(scripted, row, Unavailable(code="503"))
    assert status_and_reason(row) == (Status.FAILED, Reason.RETRIES_EXHAUSTED)
    assert DeadLetter.objects.get().reason == Reason.RETRIES_EXHAUSTED


def test_a_late_refusal_of_an_expired_delivery_sends_nothing_more(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)

    def expire() -> None:
        Notification.objects.update(expires_at=TransactionNow() - dt.timedelta(seconds=1))

    _deliver_late(scripted, row, NotStarted(code="late"), meanwhile=expire)
    Delivery.objects.filter(id=row).update(due_at=TransactionNow())
    deliver.deliver([row])
    assert status_and_reason(row) == (Status.EXPIRED, Reason.TTL_PASSED)


def test_a_late_refusal_of_a_cancelled_delivery_sends_nothing_more(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    notification = Notification.objects.get().id
    _deliver_late(
        scripted, row, Unavailable(code="503"), meanwhile=lambda: cancel.stop([notification])
    )
    Delivery.objects.filter(id=row).update(due_at=TransactionNow())
    deliver.deliver([row])
    assert status_and_reason(row) == (Status.CANCELLED, Reason.CANCELLED)


def test_a_late_silence_leaves_the_delivery_unknown(scripted: Scripted, take: Accept) -> None:
    [row] = take_rows(take, 1)
    _deliver_late(scripted, row, Unanswered(code="timeout"))
    assert status_and_reason(row) == (Status.UNKNOWN, Reason.WORKER_LOST)


def test_a_late_refusal_of_an_earlier_call_is_no_evidence_about_the_last_call(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)

    def call_again() -> None:
        Delivery.objects.filter(id=row).update(attempts=2)

    _deliver_late(scripted, row, Rejected(code="550"), meanwhile=call_again)
    assert status_and_reason(row) == (Status.UNKNOWN, Reason.WORKER_LOST)
    assert Attempt.objects.get(delivery_id=row).outcome == "rejected"


def test_a_late_refusal_resolves_the_dead_letter_of_a_closed_delivery(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)

    def close() -> None:
        rescue.resend_or_close([lapse(row)])
        assert DeadLetter.objects.get(resolved_at=None).reason == Reason.CLOSED_UNANSWERED

    _deliver_late(scripted, row, NotStarted(code="late"), meanwhile=close)
    assert statuses([row]) == [Status.RETRYING]
    assert not DeadLetter.objects.filter(resolved_at=None).exists()


def test_a_late_rejection_replaces_the_cause_of_the_dead_letter_of_a_closed_delivery(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)

    def close() -> None:
        rescue.resend_or_close([lapse(row)])

    _deliver_late(scripted, row, Rejected(code="550"), meanwhile=close)
    [letter] = DeadLetter.objects.all()
    assert (letter.reason, letter.detail) == (Reason.PERMANENT, "after the lease: 550")


def test_the_resend_of_a_p0_goes_on_after_a_late_refusal(scripted: Scripted, take: Accept) -> None:
    [row] = take_rows(take, 1, priority="P0")
    _deliver_late(scripted, row, Unavailable(code="503"))
    assert statuses([row]) == [Status.QUEUED]
    assert not Attempt.objects.filter(delivery_id=row, outcome="unanswered").exists()


def test_a_late_refusal_begins_no_call_of_the_next_provider(
    scripted: Scripted, take: Accept, add_vendor: AddVendor
) -> None:
    add_vendor("spare")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="spare", rank=1)
    [row] = take_rows(take, 1)
    refusal = Rejected(code="spam", another_provider_may_accept=True)
    _deliver_late(scripted, row, refusal)
    assert list(Attempt.objects.values_list("provider", "outcome")) == [("scripted", "unavailable")]
    assert status_and_reason(row) == (Status.RETRYING, Reason.UNAVAILABLE)


def _take_chain(take: Accept, reach: Reach) -> tuple[AcceptedRequest | Refused, UUID]:
    """Return a request with a chain from e-mail to SMS, and its first delivery."""
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    fields = CHAIN | {"user_id": "ana", "channels": ["email", "sms"], "priority": "P2"}
    answer = take(**fields)
    [first] = chain_of(answer)
    return answer, first.id


@pytest.mark.parametrize("outcome", [Unavailable(code="503"), Rejected(code="550")])
def test_a_late_refusal_in_a_fallback_chain_opens_the_next_channel(
    scripted: Scripted, take: Accept, reach: Reach, outcome: Outcome
) -> None:
    answer, first = _take_chain(take, reach)
    _deliver_late(scripted, first, outcome)
    assert chain_statuses(answer) == [
        ("email", "failed", Reason.ESCALATED),
        ("sms", "queued", Reason.FALLBACK),
    ]
    assert not DeadLetter.objects.exists()


@pytest.mark.parametrize("status", [Status.UNCONFIRMED, Status.UNKNOWN])
def test_a_late_refusal_retries_no_channel_whose_next_channel_is_open(
    scripted: Scripted, take: Accept, reach: Reach, status: Status
) -> None:
    answer, first = _take_chain(take, reach)

    def end_window() -> None:
        rescue.resend_or_close([lapse(first)])
        assert statuses([first]) == [Status.UNCONFIRMED]
        Delivery.objects.filter(id=first).update(status=status)

    _deliver_late(scripted, first, Unavailable(code="503"), meanwhile=end_window)
    email, sms = chain_statuses(answer)
    assert sms == ("sms", "queued", Reason.FALLBACK)
    assert email[1] == ("failed" if status is Status.UNKNOWN else "unconfirmed")
