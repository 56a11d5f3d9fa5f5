"""An operator types quiet hours as lines, and what they mean is what is kept."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core.models import Contact, Preference, Producer, Recipient
from providers.contract import Channel
from tests.admin.test_people import change, preferences

FIELD = "preference-0-quiet_hours"
TYPED = "mon-wed 22:00-07:00\nfri, sun 23:30-10:00 push, sms\n\n12:30-13:30\n"
SHOWN = "mon tue wed 22:00-07:00\nfri sun 23:30-10:00 push sms\n12:30-13:30"


def test_lines_are_kept_as_windows_and_shown_as_lines_again(door: Client, maria: Recipient) -> None:
    page = change("recipient", maria.pk)
    door.post(page, preferences(**{FIELD: TYPED}))
    kept = Preference.objects.get(recipient=maria).quiet_hours
    assert kept[1] == {
        "days": ["fri", "sun"],
        "channels": ["push", "sms"],
        "start": "23:30",
        "end": "10:00",
    }
    assert SHOWN in door.get(page).content.decode()


def test_a_range_of_days_may_pass_the_end_of_the_week(door: Client, maria: Recipient) -> None:
    door.post(change("recipient", maria.pk), preferences(**{FIELD: "sat-mon 22:00-07:00"}))
    [window] = Preference.objects.get(recipient=maria).quiet_hours
    assert window["days"] == ["sat", "sun", "mon"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("at night", "has no window like 22:00-07:00"),
        ("22:00-7", "must be a time of day like 22:00"),
        ("someday 22:00-07:00", "must be one of mon, tue"),
        ("mon-someday 22:00-07:00", "must be one of mon, tue"),
        ("22:00-07:00 pigeon", "must be one of push, sms"),
        ("00:00-00:00", "leave no minute of the week for push"),
        ("22:00-07:00\n" * 51, "More than 50 windows"),
    ],
)
def test_a_line_that_makes_no_sense_is_told(
    door: Client, maria: Recipient, typed: str, told: str
) -> None:
    answer = door.post(change("recipient", maria.pk), preferences(**{FIELD: typed}))
    assert told in answer.content.decode()
    assert not Preference.objects.exists()


def test_a_number_is_stored_in_its_spelling_and_tells_the_timezone(
    door: Client, maria: Recipient
) -> None:
    page = reverse("admin:notifications_contact_add")
    typed = {"recipient": maria.pk, "channel": 2, "address": "0151 12345678", "is_primary": "on"}
    assert "its country code" in door.post(page, typed).content.decode()
    door.post(page, {**typed, "address": "+49 151 12345678"})
    assert Contact.objects.get(channel=Channel.SMS).address == "+4915112345678"
    maria.refresh_from_db()
    assert maria.phone_timezone == "Europe/Berlin"
    assert "Europe/Berlin" in door.get(change("recipient", maria.pk)).content.decode()


def test_a_producers_day_is_edited(door: Client) -> None:
    producer = Producer.objects.create(name="shop")
    page = change("producer", producer.pk)
    typed = {
        "name": "shop",
        "is_active": "on",
        "priorities": ["2", "3"],
        "rate_per_second": 10,
        "rate_burst": 10,
        "timezone": "Mars/Base",
        "day_begins": "09:00",
        "day_ends": "18:00",
    }
    assert "Unknown IANA timezone" in door.post(page, typed).content.decode()
    door.post(page, {**typed, "timezone": "America/Sao_Paulo"})
    producer.refresh_from_db()
    assert (producer.timezone, producer.day_ends.hour) == ("America/Sao_Paulo", 18)
