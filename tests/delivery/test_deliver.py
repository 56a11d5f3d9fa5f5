"""From a queued row to a settled one, against a real provider over a real socket."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.delivery.batch import Batch
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    Notification,
    Preference,
    Template,
    TemplateText,
)
from notifications.core.rules.states import Status
from notifications.core.store.templates import template_cache
from providers.contract import Channel
from tests.journey import (
    Accept,
    Reach,
    deliveries_of,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.vendors import Scripted

Outbox = Callable[[UUID], list[Any]]


def test_a_delivery_is_sent_and_its_secrets_are_wiped(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take(priority="P0"))
    assert deliver.deliver([row.id]) == []
    assert status_and_reason(row.id) == (Status.SENT, "")
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
    assert status_and_reason(row.id) == (Status.RETRYING, "unavailable")
    Delivery.objects.filter(id=row.id).update(due_at=TransactionNow())
    deliver.deliver([row.id])
    assert status_and_reason(row.id)[0] is Status.SENT
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
    assert status_and_reason(row.id) == (Status.FAILED, "ttl_exceeded")
    assert DeadLetter.objects.get(delivery_id=row.id).reason == "ttl_exceeded"


@pytest.mark.usefixtures("outbox")
def test_a_dead_address_is_not_used_again(reach: Reach, take: Accept) -> None:
    reach(push=["token.410", "token-well"])
    dead, well = deliveries_of(take(channels=["push"]))
    queued, _ = deliveries_of(take(channels=["push"]))
    deliver.deliver([dead.id, well.id])
    assert [status_and_reason(each.id)[0] for each in (dead, well)] == [Status.FAILED, Status.SENT]
    contact = Contact.objects.get(address="token.410")
    assert contact.invalid_reason == "sandbox: 410"
    assert contact.invalidated_at is not None
    deliver.deliver([queued.id])
    assert status_and_reason(queued.id) == (Status.SUPPRESSED, "no_contact")
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
    assert status_and_reason(broken.id) == (Status.FAILED, "render_error")
    assert status_and_reason(whole.id)[0] is Status.SENT


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
    assert status_and_reason(row.id) == expected[change]
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


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
def test_a_locked_row_leaves_its_neighbours_and_is_published_again_in_a_second(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    rows = take_rows(take, 3)
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
        session.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", [rows[0]])
        [group] = deliver.deliver(rows)
    assert statuses(rows) == [Status.QUEUED, Status.SENT, Status.SENT]
    assert (group.delivery_ids, group.countdown) == ([rows[0]], dt.timedelta(seconds=1))
    assert deliver.deliver(group.delivery_ids) == []
    assert statuses(rows) == [Status.SENT] * 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [None, RuntimeError("a step")], ids=["decided", "raised"])
def test_a_row_that_is_locked_during_the_steps_holds_up_no_decision_about_its_neighbours(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    rows = take_rows(take, 3)
    if error is None:
        Notification.objects.update(cancelled_at=clock.now())
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:

        def lock(_batch: Batch) -> None:
            session.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", [rows[0]])
            if error is not None:
                raise error

        monkeypatch.setattr(deliver, "STEPS", (lock, *deliver.STEPS))
        with nullcontext() if error is None else pytest.raises(RuntimeError, match="a step"):
            deliver.deliver(rows)
    assert scripted.name
    ended = Status.QUEUED if error else Status.CANCELLED
    assert statuses(rows) == [Status.SENDING, ended, ended]
