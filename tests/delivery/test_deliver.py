"""From a queued row to a settled one, against a real provider over a real socket."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from notifications import clock
from notifications.delivery import deliver, rescue
from notifications.feedback import delivery_receipts
from notifications.intake.accept import Caller
from notifications.models import (
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    Notification,
    Preference,
    Template,
    TemplateText,
)
from notifications.operations import replay
from notifications.rules.dead_letter_filter import LetterFilter
from notifications.rules.states import Status
from notifications.scheduling import cancel
from notifications.store.redis import sent_ledger
from notifications.store.redis.sent_ledger import Entry
from notifications.store.templates import template_cache
from providers.contract import Accepted, Channel, Receipt, ReceiptKind
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]


def _status(delivery_id: UUID) -> tuple[Status, str]:
    row = Delivery.objects.get(id=delivery_id)
    return Status(row.status), row.reason


def test_a_delivery_is_sent_and_its_secrets_are_wiped(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take(priority="P0"))
    assert deliver.deliver([row.id]) == []
    assert _status(row.id) == (Status.SENT, "")
    [got] = outbox(row.id)
    assert got["body"] == "Ana: 4711"
    assert Notification.objects.get(id=row.notification_id).secrets is None


def test_two_tasks_with_one_id_send_once(reach: Reach, take: Accept, outbox: Outbox) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id, row.id])
    deliver.deliver([row.id])
    assert Attempt.objects.filter(delivery_id=row.id).count() == 1
    assert len(outbox(row.id)) == 1


def test_a_failure_that_passes_is_tried_again_with_the_same_key(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(email="maria+503x1@sandbox.example")
    [row] = deliveries_of(take())
    [group] = deliver.deliver([row.id])
    assert group.delivery_ids == [row.id]
    assert dt.timedelta(seconds=1) <= group.countdown <= dt.timedelta(seconds=2)
    assert _status(row.id) == (Status.RETRYING, "unavailable")
    Delivery.objects.filter(id=row.id).update(due_at=clock.now())
    deliver.deliver([row.id])
    assert _status(row.id)[0] is Status.SENT
    assert [each.outcome for each in Attempt.objects.filter(delivery_id=row.id)] == [
        "unavailable",
        "accepted",
    ]
    assert len({each["idempotency_key"] for each in outbox(row.id)}) == 1


@pytest.mark.usefixtures("outbox")
def test_the_providers_wait_is_honoured(reach: Reach, take: Accept) -> None:
    reach(email="maria+429+after-40s@sandbox.example")
    [row] = deliveries_of(take())
    [group] = deliver.deliver([row.id])
    assert group.countdown >= dt.timedelta(seconds=40)


@pytest.mark.usefixtures("outbox")
def test_a_wait_over_two_minutes_is_only_a_row(reach: Reach, take: Accept) -> None:
    reach(email="maria+429+after-500s@sandbox.example")
    [row] = deliveries_of(take())
    assert deliver.deliver([row.id]) == []
    due_at = Delivery.objects.get(id=row.id).due_at
    assert due_at is not None
    assert due_at > clock.now() + dt.timedelta(seconds=400)


@pytest.mark.usefixtures("outbox")
def test_a_wait_that_outlasts_the_time_to_live_is_not_begun(reach: Reach, take: Accept) -> None:
    reach(email="maria+429+after-500s@sandbox.example")
    [row] = deliveries_of(take(ttl_seconds=60))
    deliver.deliver([row.id])
    assert _status(row.id) == (Status.FAILED, "ttl_exceeded")
    assert DeadLetter.objects.get(delivery_id=row.id).reason == "ttl_exceeded"


@pytest.mark.usefixtures("outbox")
def test_a_dead_address_is_not_used_again(reach: Reach, take: Accept) -> None:
    reach(push=["token.410", "token-well"])
    dead, well = deliveries_of(take(channels=["push"]))
    queued, _ = deliveries_of(take(channels=["push"]))
    deliver.deliver([dead.id, well.id])
    assert [_status(each.id)[0] for each in (dead, well)] == [Status.FAILED, Status.SENT]
    contact = Contact.objects.get(address="token.410")
    assert contact.invalid_reason == "sandbox: 410"
    assert contact.invalidated_at is not None
    deliver.deliver([queued.id])
    assert _status(queued.id) == (Status.SUPPRESSED, "no_contact")
    [later] = deliveries_of(take(channels=["push"]))
    assert later.contact_id == well.contact_id


@pytest.mark.usefixtures("outbox")
def test_our_own_fault_holds_the_backlog_and_spends_nothing(reach: Reach, take: Accept) -> None:
    reach(email="maria+401@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    held = Delivery.objects.get(id=row.id)
    assert (held.status, held.reason) == (Status.SCHEDULED, "provider_misconfigured")
    assert held.attempts == held.attempts_before == 1
    assert not DeadLetter.objects.exists()


@pytest.mark.usefixtures("outbox")
def test_a_text_that_does_not_fit_harms_no_neighbour(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [broken] = deliveries_of(take())
    [whole] = deliveries_of(take())
    # Accepting checks that nothing is missing: this went missing afterwards.
    Notification.objects.filter(id=broken.notification_id).update(secrets=None)
    deliver.deliver([broken.id, whole.id])
    assert _status(broken.id) == (Status.FAILED, "render_error")
    assert _status(whole.id)[0] is Status.SENT


@pytest.mark.parametrize("change", ["opted_out", "expired", "cancelled", "no_contact"])
def test_what_changed_while_it_was_queued_counts(
    reach: Reach, take: Accept, caller: Caller, outbox: Outbox, change: str
) -> None:
    person = reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    notification = Notification.objects.filter(id=row.notification_id)
    match change:
        case "opted_out":
            Preference.objects.create(recipient=person, channels_off=[Channel.EMAIL])
        case "expired":
            notification.update(expires_at=clock.now() - dt.timedelta(minutes=1))
        case "cancelled":
            notification.update(cancelled_at=clock.now())
        case _:
            Contact.objects.filter(recipient=person).update(invalidated_at=clock.now())
    deliver.deliver([row.id])
    expected = {
        "opted_out": (Status.SUPPRESSED, "opted_out"),
        "expired": (Status.EXPIRED, "ttl_passed"),
        "cancelled": (Status.CANCELLED, "cancelled"),
        "no_contact": (Status.SUPPRESSED, "no_contact"),
    }
    assert _status(row.id) == expected[change]
    assert outbox(row.id) == []
    assert caller.producer_id == notification.get().producer_id


def test_an_accepted_template_is_pinned(reach: Reach, take: Accept, outbox: Outbox) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    newer = Template.objects.create(template_id="otp", version=2)
    TemplateText.objects.create(template=newer, channel=Channel.EMAIL, body="another text")
    Template.objects.filter(pk=newer.pk).update(published_at=clock.now())
    template_cache.forget()
    [later] = deliveries_of(take())
    deliver.deliver([row.id, later.id])
    assert outbox(row.id)[0]["body"] == "Ana: 4711"
    assert outbox(later.id)[0]["body"] == "another text"


def test_a_cancelled_notification_stops_what_waits_once(
    reach: Reach, take: Accept, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    mine = partial(cancel.cancel, producer_id=caller.producer_id, mode=caller.mode)
    assert mine(row.notification_id) == [row.id]
    assert mine(row.notification_id) == []
    stranger = cancel.cancel(row.notification_id, producer_id=0, mode=caller.mode)
    assert stranger is None


@pytest.mark.usefixtures("outbox")
def test_receipts_move_a_delivery_once_in_whatever_order(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    read = Receipt(kind=ReceiptKind.READ, delivery_id=row.id)
    delivered = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row.id)
    assert delivery_receipts.record("sandbox", [read]) == 1
    assert delivery_receipts.record("sandbox", [delivered, read]) == 0
    assert delivery_receipts.record("somebody-else", [read]) == 0
    assert _status(row.id)[0] is Status.READ


@pytest.mark.usefixtures("outbox")
def test_a_receipt_is_found_by_the_providers_own_id(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    known = Delivery.objects.get(id=row.id).provider_message_id
    bounced = Receipt(
        kind=ReceiptKind.BOUNCED, provider_message_id=known, contact_is_dead=True, code="5.1.1"
    )
    assert delivery_receipts.record("sandbox", [bounced]) == 1
    assert _status(row.id) == (Status.BOUNCED, "receipt_bounced")
    assert Contact.objects.get(address="maria@sandbox.example").invalidated_at is not None


@pytest.mark.usefixtures("outbox")
def test_a_receipt_that_moves_nothing_can_still_end_an_address(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    delivery_receipts.record("sandbox", [Receipt(kind=ReceiptKind.READ, delivery_id=row.id)])
    complaint = Receipt(
        kind=ReceiptKind.BOUNCED, delivery_id=row.id, contact_is_dead=True, code="complaint"
    )
    assert delivery_receipts.record("somebody-else", [complaint]) == 0
    assert Contact.objects.get().invalidated_at is None
    assert delivery_receipts.record("sandbox", [complaint]) == 0
    contact = Contact.objects.get()
    assert contact.invalid_reason == "sandbox: complaint"
    again = Receipt(kind=ReceiptKind.BOUNCED, delivery_id=row.id, contact_is_dead=True, code="late")
    delivery_receipts.record(
        "sandbox", [again, Receipt(kind=ReceiptKind.BOUNCED, delivery_id=UUID(int=1))]
    )
    assert Contact.objects.get().invalidated_at == contact.invalidated_at
    assert _status(row.id)[0] is Status.READ


def test_a_dead_letter_is_replayed_once_with_a_new_key(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(sms="+15550000")
    [row] = deliveries_of(take(channels=["sms"]))
    deliver.deliver([row.id])
    Contact.objects.filter(address="+15550000").update(address="+15551234567")
    everything = LetterFilter()
    job = replay.start(everything, requested_by="tests", forced=False, renews_ttl=False)
    other = replay.start(everything, requested_by="tests", forced=False, renews_ttl=False)
    assert (job.total, other.total) == (1, 0)
    assert replay.run(job, limit=10) == 1
    assert replay.run(job, limit=10) == 0
    deliver.deliver([row.id])
    assert _status(row.id)[0] is Status.SENT
    # The refused key must not come back: a provider may remember it as refused.
    assert [each["idempotency_key"] for each in outbox(row.id)] == [f"{row.id}-1"]
    job.refresh_from_db()
    assert (job.replayed, job.skipped, job.finished_at is not None) == (1, 0, True)


@pytest.mark.usefixtures("outbox")
def test_a_replay_without_its_secrets_is_refused(reach: Reach, take: Accept) -> None:
    reach(sms="+15550000")
    [row] = deliveries_of(take(channels=["sms"]))
    deliver.deliver([row.id])
    letter = DeadLetter.objects.get()
    assert Notification.objects.get(id=row.notification_id).secrets is not None
    Notification.objects.filter(id=row.notification_id).update(secrets=None)
    with pytest.raises(replay.ReplayRefused, match="wiped"):
        replay.start(
            LetterFilter(ids=(letter.pk,)), requested_by="tests", forced=False, renews_ttl=False
        )


@pytest.mark.parametrize(
    ("evidence", "priority", "begun", "expected"),
    [
        ("ledger", "P2", True, (Status.SENT, "ghost_healed")),
        ("", "P2", False, (Status.QUEUED, "worker_lost")),
        ("", "P2", True, (Status.QUEUED, "worker_lost")),
    ],
)
def test_a_lease_that_ran_out_is_settled_by_evidence(  # noqa: PLR0913 - a table's columns
    reach: Reach,
    take: Accept,
    outbox: Outbox,  # noqa: ARG001 - routes to the sandbox, which deduplicates
    *,
    evidence: str,
    priority: str,
    begun: bool,
    expected: tuple[Status, str],
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take(priority=priority))
    past = clock.now() - dt.timedelta(seconds=1)
    Delivery.objects.filter(id=row.id).update(
        status=Status.SENDING,
        due_at=past,
        claims=1,
        attempts=int(begun),
        call_started_at=past if begun else None,
        provider="sandbox" if begun else "",
    )
    if evidence:
        sent_ledger.write([Entry(row.id, int(begun), "sandbox", Accepted(message_id="sbx-1"))])
    [columns] = Delivery.objects.filter(id=row.id).values()
    assert rescue.rescue([{**columns, "retry_preset": ""}]) == 1
    assert _status(row.id) == expected
    assert Attempt.objects.filter(delivery_id=row.id).count() == int(begun)
