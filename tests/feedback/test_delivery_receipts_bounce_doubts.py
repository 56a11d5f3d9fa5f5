"""A provider that calls most addresses dead by mistake ends few contacts, and says so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import pytest
from django.db import transaction
from django.db.models import F
from pytest_django import DjangoCaptureOnCommitCallbacks

from notifications.core.delivery import deliver
from notifications.core.feedback import delivery_receipts
from notifications.core.models import Alert, Attempt, Contact, Delivery, Event, Suppression
from notifications.core.rules.rate_limits.circuit_breaker import (
    REFUSAL_SAMPLE,
    REFUSALS_BELIEVED,
    BreakerOverride,
    HealthKey,
)
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import rollups
from notifications.core.store.rate_limits import bounce_doubts, circuit_breakers
from notifications.core.store.redis import state
from providers.contract import Channel, Receipt, ReceiptKind
from tests.journey import Accept, Reach, deliveries_of, statuses

pytestmark = pytest.mark.usefixtures("outbox")

Bounce = Callable[..., None]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    bounce_doubts.forget()
    provider_overrides.forget()
    yield
    bounce_doubts.forget()
    provider_overrides.forget()


@pytest.fixture
def sent(reach: Reach, take: Accept) -> Callable[[int], list[UUID]]:
    """Return a function that sends e-mails to so many new recipients."""

    def send(count: int) -> list[UUID]:
        rows = []
        for number in range(Contact.objects.count(), Contact.objects.count() + count):
            reach(f"user{number}", email=f"user{number}@sandbox.example")
            rows += [row.id for row in deliveries_of(take(user_id=f"user{number}"))]
        deliver.deliver(rows)
        return rows

    return send


@pytest.fixture
def bounce(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Bounce:
    def report(rows: Sequence[UUID], *, complaint: bool = False) -> None:
        receipts = [
            Receipt(
                kind=ReceiptKind.BOUNCED,
                delivery_id=each,
                contact_is_dead=True,
                has_complained=complaint,
            )
            for each in rows
        ]
        with django_capture_on_commit_callbacks(execute=True):
            delivery_receipts.record("sandbox", receipts)

    return report


def _arrive(rows: Sequence[UUID]) -> None:
    receipts = [Receipt(kind=ReceiptKind.DELIVERED, delivery_id=each) for each in rows]
    delivery_receipts.record("sandbox", receipts)


def _ended() -> int:
    return Contact.objects.exclude(invalidated_at=None).count()


def test_bounces_of_all_messages_end_few_contacts_and_raise_an_alert(
    sent: Callable[[int], list[UUID]], bounce: Bounce
) -> None:
    rows = sent(REFUSAL_SAMPLE + 5)
    bounce(rows)
    assert _ended() == Suppression.objects.count() == REFUSALS_BELIEVED
    assert set(statuses(rows)) == {Status.BOUNCED}
    alert = Alert.objects.get(kind="bounces_not_believed")
    assert alert.subject == "sandbox"
    assert alert.detail.startswith(f"{len(rows) - REFUSALS_BELIEVED} of {len(rows)} bounces")
    bounce(sent(1))
    assert _ended() == REFUSALS_BELIEVED


def test_bounces_beside_successes_end_their_contacts(
    sent: Callable[[int], list[UUID]], bounce: Bounce
) -> None:
    rows = sent(2 * REFUSAL_SAMPLE)
    _arrive(rows[REFUSAL_SAMPLE:])
    bounce(rows[:REFUSAL_SAMPLE])
    assert _ended() == REFUSAL_SAMPLE
    assert not Alert.objects.filter(kind="bounces_not_believed").exists()


def test_a_repeated_callback_counts_once(sent: Callable[[int], list[UUID]], bounce: Bounce) -> None:
    rows = sent(REFUSAL_SAMPLE + REFUSALS_BELIEVED)
    _arrive(rows[REFUSALS_BELIEVED:])
    for _ in range(3):
        with transaction.atomic():
            bounce(rows[:REFUSALS_BELIEVED])
            transaction.set_rollback(True)  # not stored: the provider repeats the callback
    bounce(rows[:REFUSALS_BELIEVED])
    assert _ended() == REFUSALS_BELIEVED
    assert not Alert.objects.filter(kind="bounces_not_believed").exists()


def test_complaints_always_count(sent: Callable[[int], list[UUID]], bounce: Bounce) -> None:
    rows = sent(REFUSAL_SAMPLE + 1)
    bounce(rows, complaint=True)
    assert _ended() == len(rows)


def test_an_operator_can_believe_all_bounces(
    sent: Callable[[int], list[UUID]], bounce: Bounce
) -> None:
    circuit_breakers.force(("sandbox", Channel.EMAIL), BreakerOverride.CLOSED, by="ada")
    rows = sent(REFUSAL_SAMPLE + 1)
    bounce(rows)
    assert _ended() == len(rows)


_HOURS_AGO = dt.timedelta(hours=5)


@pytest.fixture
def sent_hours_ago(sent: Callable[[int], list[UUID]]) -> Callable[[int], list[UUID]]:
    """Return a function that sends e-mails, five hours ago, which the roll-ups have counted."""
    rollups.count_next(limit=1)

    def send(count: int) -> list[UUID]:
        rows = sent(count)
        Delivery.objects.filter(id__in=rows).update(sent_at=F("sent_at") - _HOURS_AGO)
        Event.objects.filter(delivery_id__in=rows).update(at=F("at") - _HOURS_AGO)
        calls = Attempt.objects.filter(delivery_id__in=rows)
        calls.update(started_at=F("started_at") - _HOURS_AGO)
        rollups.count_next(limit=10_000)
        with state.connection() as redis:
            # After five minutes the window of the breaker has none of these calls.
            redis.delete(circuit_breakers.key(HealthKey("sandbox", Channel.EMAIL)))
        return rows

    return send


@pytest.mark.django_db(transaction=True)
def test_late_bounces_are_compared_with_the_messages_of_their_time(
    sent_hours_ago: Callable[[int], list[UUID]], bounce: Bounce
) -> None:
    rows = sent_hours_ago(3 * REFUSAL_SAMPLE)
    for each in rows[::3]:
        bounce([each])
    assert _ended() == REFUSAL_SAMPLE
    assert not Alert.objects.filter(kind="bounces_not_believed").exists()
    bounce([*rows[1::3], *rows[2::3]])
    assert _ended() == REFUSAL_SAMPLE
    assert Alert.objects.filter(kind="bounces_not_believed").exists()


@pytest.mark.django_db(transaction=True)
def test_late_bounces_of_little_traffic_are_compared_with_the_messages_of_their_hours(
    sent: Callable[[int], list[UUID]], bounce: Bounce
) -> None:
    """A provider sends one message a minute, so no two bounced messages share a minute."""
    rollups.count_next(limit=1)
    rows = sent(3 * REFUSAL_SAMPLE)
    for number, each in enumerate(rows):
        age = _HOURS_AGO + dt.timedelta(minutes=number)
        Delivery.objects.filter(id=each).update(sent_at=F("sent_at") - age)
        Event.objects.filter(delivery_id=each).update(at=F("at") - age)
        Attempt.objects.filter(delivery_id=each).update(started_at=F("started_at") - age)
    rollups.count_next(limit=10_000)
    bounce(rows[::3])
    assert _ended() == REFUSAL_SAMPLE
    bounce([*rows[1::3], *rows[2::3]])
    assert _ended() == REFUSAL_SAMPLE
    assert Alert.objects.filter(kind="bounces_not_believed").exists()


@pytest.mark.django_db(transaction=True)
def test_an_old_job_does_not_hide_a_mistake_of_now(
    sent_hours_ago: Callable[[int], list[UUID]],
    sent: Callable[[int], list[UUID]],
    bounce: Bounce,
) -> None:
    old = sent_hours_ago(3 * REFUSAL_SAMPLE)
    bounce([*old[:1], *sent(REFUSAL_SAMPLE)])
    assert _ended() == 1 + REFUSALS_BELIEVED
