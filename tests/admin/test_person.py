"""Support is asked why something came, or did not: one page answers, by index."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from notifications.core import clock
from notifications.core.feedback import preference_changes
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.models import (
    Contact,
    Delivery,
    Notification,
    NotificationType,
    Preference,
    Recipient,
)
from notifications.core.rules.lane import Priority
from notifications.core.rules.preferences import Cell, CellChange
from notifications.core.rules.reasons import Reason, sentence
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.admin.conftest import ADDRESS, MakeDelivery

LIST = reverse("admin:notifications_recipient_changelist")
TOMORROW = dt.timedelta(days=1)


def page_of(person: Recipient) -> str:
    return reverse("admin:notifications_recipient_change", args=[person.pk])


def shown(door: Client, person: Recipient) -> str:
    return " ".join(door.get(page_of(person)).content.decode().split())


def hold(delivery: Delivery, *, reason: str, wait: dt.timedelta) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        status=Status.SCHEDULED, reason=reason, due_at=clock.now() + wait
    )


def test_what_waits_says_why_and_until_when_by_their_clock(
    door: Client, maria: Recipient, make_delivery: MakeDelivery
) -> None:
    Recipient.objects.update(timezone="Pacific/Kiritimati")
    delivery = make_delivery()
    hold(delivery, reason="quiet_hours", wait=dt.timedelta(hours=3))
    due = Delivery.objects.get().due_at
    assert due is not None
    there = due.astimezone(dt.timezone(dt.timedelta(hours=14)))
    page = shown(door, maria)
    assert "Waits until <span title=" in page
    utc = f"{due:%H:%M}" if due.date() == there.date() else f"{due:%a %-d %b %H:%M}"
    assert f"{there:%a %-d %b %H:%M} there ({utc} UTC)<" in page
    assert ": The recipient is in quiet hours." in page
    assert str(delivery.notification_id) in page
    assert "by their profile" in page


def test_a_timezone_that_is_unknown_here_is_named(door: Client, maria: Recipient) -> None:
    Recipient.objects.update(timezone="US/Pacific-New")
    assert "the timezone US/Pacific-New is unknown: times are in UTC" in shown(door, maria)


def test_what_waits_until_it_expires_says_so(
    door: Client, maria: Recipient, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery()
    hold(delivery, reason="cap", wait=dt.timedelta(days=1))
    expires = Delivery.objects.get().due_at
    Notification.objects.update(expires_at=expires)
    assert "Waits until it expires" in shown(door, maria)


def test_a_suppressed_address_says_who_listed_it_and_is_not_shown(
    door: Client, maria: Recipient
) -> None:
    entry = SuppressionEntry(
        channel=Channel.EMAIL, address=ADDRESS.upper(), cause=Cause.MANUAL, note="asked by phone"
    )
    suppressions.add([entry], by="lisa")
    page = shown(door, maria)
    assert ">manual</a>, by lisa" in page
    assert "asked by phone" in page
    assert ADDRESS not in page


def test_an_undone_suppression_keeps_nobody(door: Client, maria: Recipient) -> None:
    entry = SuppressionEntry(channel=Channel.EMAIL, address=ADDRESS, cause=Cause.MANUAL)
    suppressions.add([entry], by="lisa")
    suppressions.undo(suppressions.of_address(Channel.EMAIL, ADDRESS), by="tom", note="")
    assert "by lisa" not in shown(door, maria)


def test_a_dead_contact_says_why(door: Client, maria: Recipient) -> None:
    Contact.objects.update(invalidated_at=clock.now(), invalid_reason="hard bounce")
    assert "hard bounce, since" in shown(door, maria)


@pytest.mark.parametrize(
    ("wishes", "told"),
    [
        ({}, "sent<"),
        ({"channels_off": [Channel.EMAIL]}, "goes to another channel"),
        ({"do_not_disturb_until": TOMORROW}, "waits until"),
    ],
)
def test_each_contact_tells_what_would_become_of_a_message_now(
    door: Client, maria: Recipient, wishes: dict[str, object], told: str
) -> None:
    times = {
        name: clock.now() + each for name, each in wishes.items() if isinstance(each, dt.timedelta)
    }
    Preference.objects.create(recipient=maria, **wishes | times)
    assert f">{told}" in shown(door, maria)


def test_a_person_is_found_by_a_whole_address_only(door: Client, maria: Recipient) -> None:
    assert page_of(maria) in door.get(LIST, {"q": ADDRESS}).content.decode()
    assert page_of(maria) not in door.get(LIST, {"q": ADDRESS[:5]}).content.decode()


def of_messages(queries: CaptureQueriesContext) -> list[str]:
    """The queries of messages; others read what the process keeps for a second, such as routes."""
    tables = ('FROM "notification"', 'FROM "delivery"')
    return [each["sql"] for each in queries if any(table in each["sql"] for table in tables)]


def test_more_messages_cost_no_more_queries(
    door: Client, maria: Recipient, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    with CaptureQueriesContext(connection) as few:
        door.get(page_of(maria))
    for _ in range(5):
        make_delivery()
    with CaptureQueriesContext(connection) as many:
        assert door.get(page_of(maria)).content.decode().count("ORDER_SHIPPED") == 6
    assert [len(of_messages(few)), len(of_messages(few))] == [2, len(of_messages(many))]


def test_every_reason_has_a_sentence_and_an_unknown_one_is_shown_as_it_is() -> None:
    assert all(sentence(reason) == reason.sentence != reason for reason in Reason)
    assert sentence("of another release") == "of another release"


def test_the_page_shows_the_preference_matrix_and_who_chose(door: Client, maria: Recipient) -> None:
    NotificationType.objects.create(name="OTP", priority=Priority.P0, category="security")
    NotificationType.objects.create(name="SALE", priority=Priority.P3, category="marketing")
    notification_types.forget()
    channels = [CellChange(Cell("marketing", Channel.EMAIL), on=False)]
    wanted = PreferenceChange(choices=channels)
    preference_changes.change(maria, wanted, by="the recipient (page)", by_recipient=True)
    page = shown(door, maria)
    assert '<strong>off</strong> <span class="nc-quiet">by the recipient</span>' in page
    assert "mandatory: security" in page
    assert "by the recipient (page)" in page
