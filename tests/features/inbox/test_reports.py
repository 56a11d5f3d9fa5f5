"""Seen and read inbox items: their deliveries, the pushes of the same notification, and chains."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.feedback import client_receipts
from notifications.core.feedback.client_receipts import ClientReceipt
from notifications.core.models import (
    Delivery,
    Event,
    InboxItem,
    InboxReport,
    Recipient,
    Withdrawal,
)
from notifications.core.rules import ids
from notifications.core.rules.client_receipts import ClientReceiptKind, TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.features.inbox import reports as inbox_reports
from notifications.features.inbox import reports_sweep as sweep
from notifications.features.inbox.rows import reads, reports, writes
from notifications.features.inbox.rows.items import NewItem
from notifications.features.inbox.rules.words import InboxAction
from providers.contract import Channel
from tests.journey import AddVendor
from tests.store.stored_rows import MakeDelivery


@pytest.fixture(autouse=True)
def _push(add_vendor: AddVendor) -> Iterator[None]:
    """Configure a push provider that removes messages."""
    add_vendor("pusher", withdraws=True)
    yield
    routing.forget()


def in_app(make_delivery: MakeDelivery, **columns: object) -> UUID:
    """Store a notification with an in-app delivery that was sent, and its item."""
    made = make_delivery(
        Status.SENT,
        **{
            "attempts": 1,
            "channel": Channel.IN_APP,
            "provider": "inbox",
            "due_at": None,
            **columns,
        },
    )
    row = Delivery.objects.get(pk=made)
    writes.add([
        NewItem(
            id=made,
            recipient_id=row.recipient_id,
            notification_id=ids.notification_of(made),
            type="TEST",
            category="",
            title="T",
            body="B",
            actions=[{"id": "yes", "label": "Yes", "url": None}],
            created_at=clock.now(),
        )
    ])
    return made


def push_beside(delivery_id: UUID, number: int, **columns: object) -> UUID:
    """Store a push of the same notification."""
    row = Delivery.objects.get(pk=delivery_id)
    row.id = ids.delivery_id(ids.notification_of(delivery_id), number)
    for name, value in {"channel": Channel.PUSH, "provider": "pusher", **columns}.items():
        setattr(row, name, value)
    row.save(force_insert=True)
    return row.id


def mark(delivery_id: UUID, action: InboxAction) -> None:
    row = Delivery.objects.get(pk=delivery_id)
    writes.mark(row.recipient_id, action, ids=[delivery_id])


def status(delivery_id: UUID) -> Status:
    return Status(Delivery.objects.get(pk=delivery_id).status)


def run() -> int:
    return sweep.run_once(now=clock.now(), limit=100).moved


def reasons(delivery_id: UUID) -> list[str]:
    found = Event.objects.filter(delivery_id=delivery_id).order_by("seq")
    return [each.reason for each in found if each.reason.startswith(("inbox", "withdraw"))]


def test_a_seen_item_is_delivered_and_a_read_item_is_read(make_delivery: MakeDelivery) -> None:
    item, other = in_app(make_delivery), in_app(make_delivery)
    push = push_beside(item, 2, status=Status.SENT)
    mark(item, InboxAction.SEEN)
    assert run() == 1
    assert (status(item), status(push), status(other)) == (
        *(Status.DELIVERED, Status.SENT, Status.SENT),
    )
    mark(item, InboxAction.READ)
    assert run() == 1
    assert (status(item), status(push), status(other)) == (Status.READ, Status.READ, Status.SENT)
    assert reasons(item) == ["inbox_seen", "inbox_read"]
    assert reasons(push) == ["inbox_read", "withdrawing"]
    assert [each.pk for each in Withdrawal.objects.all()] == [push]
    assert run() == 0


@pytest.mark.parametrize("waiting", [Status.SCHEDULED, Status.QUEUED, Status.RETRYING])
def test_a_push_that_waits_is_not_sent_after_the_message_was_read(
    make_delivery: MakeDelivery, waiting: Status
) -> None:
    item = in_app(make_delivery)
    push = push_beside(item, 2, status=waiting, attempts=0)
    mark(item, InboxAction.SEEN)
    run()
    assert status(push) is waiting
    mark(item, InboxAction.READ)
    run()
    assert status(push) is Status.CANCELLED
    assert Delivery.objects.get(pk=push).reason == Reason.CONFIRMED_ELSEWHERE
    assert not Withdrawal.objects.exists()


def test_a_push_of_a_worker_and_a_push_that_failed_keep_their_state(
    make_delivery: MakeDelivery,
) -> None:
    item = in_app(make_delivery)
    claimed = push_beside(item, 2, status=Status.SENDING, attempts=0)
    bounced = push_beside(item, 3, status=Status.BOUNCED)
    opened = push_beside(item, 4, status=Status.READ)
    mark(item, InboxAction.READ)
    run()
    found = [status(each) for each in (claimed, bounced, opened)]
    assert found == [Status.SENDING, Status.BOUNCED, Status.READ]
    assert not Withdrawal.objects.exists()


def test_an_old_push_and_an_installation_without_removals_leave_the_screen_alone(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = in_app(make_delivery)
    push = push_beside(old, 2, status=Status.SENT)
    monkeypatch.setattr(inbox_reports, "REMOVES_WITHIN", dt.timedelta(0))
    mark(old, InboxAction.READ)
    run()
    monkeypatch.undo()
    assert status(push) is Status.READ
    off = dataclasses.replace(conf.current(), inbox_removes_read_pushes=False)
    monkeypatch.setattr(conf, "current", lambda: off)
    new = in_app(make_delivery)
    push = push_beside(new, 2, status=Status.SENT)
    mark(new, InboxAction.READ)
    run()
    assert status(push) is Status.READ
    assert not Withdrawal.objects.exists()


def test_a_killed_sweep_applies_its_reports_again(make_delivery: MakeDelivery) -> None:
    item = in_app(make_delivery)
    mark(item, InboxAction.SEEN)
    [report] = reports.claim(limit=10)  # and the process dies here
    assert run() == 0
    InboxReport.objects.update(due_at=TransactionNow())
    assert run() == 1
    assert status(report.item_id) is Status.DELIVERED


def test_an_erased_recipient_and_a_deleted_item_end_their_reports(
    make_delivery: MakeDelivery,
) -> None:
    item, gone = in_app(make_delivery), in_app(make_delivery)
    for each in (item, gone):
        mark(each, InboxAction.READ)
    InboxItem.objects.filter(pk=gone).delete()
    Recipient.objects.all().delete()
    assert run() == 2
    assert (status(item), status(gone)) == (Status.SENT, Status.SENT)
    assert run() == 0


def test_a_push_that_is_opened_on_a_phone_is_read_in_the_inbox(make_delivery: MakeDelivery) -> None:
    item = in_app(make_delivery)
    here = push_beside(item, 2, status=Status.SENT)
    there = push_beside(item, 3, status=Status.DELIVERED)
    row = Delivery.objects.get(pk=item)
    holder = TokenHolder(row.recipient_id, Mode.LIVE)
    received = ClientReceipt(kind=ClientReceiptKind.RECEIVED, subject=here)
    client_receipts.record(holder, [received])
    assert reads.counts(row.recipient_id).unread == 1
    opened = ClientReceipt(kind=ClientReceiptKind.OPENED, subject=here)
    stranger = Recipient.objects.create(user_id="stranger", mode=Mode.LIVE)
    client_receipts.record(TokenHolder(stranger.pk, Mode.LIVE), [opened])
    assert reads.counts(row.recipient_id).unread == 1
    client_receipts.record(holder, [opened])
    assert reads.counts(row.recipient_id).unread == 0
    run()
    assert [status(each) for each in (item, here, there)] == [Status.READ] * 3
    assert [each.pk for each in Withdrawal.objects.all()] == [there], (
        "the phone has removed its own"
    )
    client_receipts.record(holder, [opened])
    assert run() == 0


def test_a_seen_message_stops_the_next_channel_of_its_chain(make_delivery: MakeDelivery) -> None:
    due_at = clock.now() + dt.timedelta(seconds=30)
    item = in_app(make_delivery, falls_back=True, due_at=due_at)
    mark(item, InboxAction.SEEN)
    run()
    row = Delivery.objects.get(pk=item)
    assert (row.status, row.due_at) == (Status.DELIVERED, None)


def test_a_page_of_reports_ends_at_its_limit(make_delivery: MakeDelivery) -> None:
    items = [in_app(make_delivery) for _ in range(3)]
    for each in items:
        mark(each, InboxAction.READ)
    assert inbox_reports.apply_due(limit=2) == 2
    assert inbox_reports.apply_due(limit=2) == 1
    assert {status(each) for each in items} == {Status.READ}
