"""Opt-outs that a provider reports: once, late, again, and after the person came back."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import Attempt, Contact, Delivery, Suppression
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import opted_out_contacts, suppressions
from notifications.core.store.postgres.opted_out_contacts import OptOut
from providers.contract import Channel
from tests.store.stored_rows import MakeDelivery

ADDRESS = "maria@sandbox.example"
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture
def came_back(make_delivery: MakeDelivery) -> dt.datetime:
    """Undo an opt-out of the address; returns the time of the undo, some minutes ago."""
    sent = make_delivery(Status.SENT)
    report(sent, at=clock.now() - 20 * MINUTE)
    assert is_listed()
    rows = suppressions.of_address(Channel.EMAIL, ADDRESS)
    suppressions.undo(rows, by="maria", note="")
    undone_at = clock.now() - 10 * MINUTE
    Suppression.objects.update(undone_at=undone_at)
    return undone_at


def report(delivery: UUID, *, at: dt.datetime | None) -> int:
    Delivery.objects.filter(pk=delivery).update(provider="sandbox")
    found = {delivery: OptOut("unsubscribed", at)}
    return opted_out_contacts.record_of_deliveries(found, provider="sandbox")


def is_listed() -> bool:
    rows = suppressions.of_address(Channel.EMAIL, ADDRESS)
    return rows.filter(reason=Cause.UNSUBSCRIBE_ALL, undone_at=None).exists()


def call(delivery: UUID, *, at: dt.datetime) -> None:
    Attempt.objects.create(
        delivery_id=delivery,
        number=1 + Attempt.objects.count(),
        provider="sandbox",
        outcome="accepted",
        started_at=at,
        latency_ms=1,
    )


def test_a_report_from_before_the_return_stops_nothing(
    came_back: dt.datetime, make_delivery: MakeDelivery
) -> None:
    old = make_delivery(Status.SENT)
    assert report(old, at=came_back - MINUTE) == 0
    call(old, at=came_back - MINUTE)
    assert report(old, at=None) == 0
    contact = Contact.objects.get()
    late_settle = {contact.pk: OptOut("21610", came_back - MINUTE)}
    assert opted_out_contacts.record(late_settle, provider="sandbox") == 0
    assert not is_listed()


def test_a_further_opt_out_by_a_mail_from_before_the_return_counts(
    came_back: dt.datetime, make_delivery: MakeDelivery
) -> None:
    old = make_delivery(Status.SENT)
    Delivery.objects.filter(pk=old).update(sent_at=came_back - MINUTE)
    assert report(old, at=came_back + MINUTE) == 1
    assert is_listed()


def test_a_call_that_was_repeated_after_the_return_counts(
    came_back: dt.datetime, make_delivery: MakeDelivery
) -> None:
    repeated = make_delivery(Status.SENT)
    for minutes in (-1, 1):
        call(repeated, at=came_back + minutes * MINUTE)
    assert report(repeated, at=None) == 1
    assert is_listed()


def test_of_two_reports_about_a_contact_the_newer_decides(
    came_back: dt.datetime, make_delivery: MakeDelivery
) -> None:
    both = [make_delivery(Status.SENT) for _ in range(2)]
    Delivery.objects.filter(pk__in=both).update(provider="sandbox")
    for order in (both, both[::-1]):
        times = (came_back - MINUTE, came_back + MINUTE)
        found = {each: OptOut("", at) for each, at in zip(order, times, strict=True)}
        assert opted_out_contacts.record_of_deliveries(found, provider="sandbox") == 1
        Suppression.objects.filter(undone_at=None).delete()
