"""A recipient registered by an address is shown with the masked address, wherever the id is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from notifications.core.models import Contact, DeadLetter, Notification, Recipient
from notifications.core.rules.recipient import To, is_made_of_address
from providers.contract import Channel
from tests.admin.conftest import MakeDelivery

MADE: Final = f"to_{'1422c6763c77b407' * 2}"
NAME: Final = f"{MADE} (m***@sandbox.example)"
"""The user id, with the masked address of the fixture's recipient."""


@pytest.fixture
def stranger(maria: Recipient, make_delivery: MakeDelivery) -> Recipient:
    """The recipient of a message, registered by the address alone."""
    Recipient.objects.filter(pk=maria.pk).update(user_id=MADE)
    make_delivery()
    Notification.objects.update(user_id=MADE)
    return Recipient.objects.get(pk=maria.pk)


@pytest.fixture
def letter(make_letters: Callable[[list[str]], list[DeadLetter]]) -> DeadLetter:
    [letter] = make_letters(["permanent"])
    DeadLetter.objects.update(snapshot={"user_id": MADE})
    return letter


def test_the_activity_shows_the_masked_address(door: Client, stranger: Recipient) -> None:
    del stranger
    assert NAME in door.get(reverse("admin:notifications_activity")).content.decode()


def test_the_page_of_a_message_shows_the_masked_address(door: Client, stranger: Recipient) -> None:
    [message] = Notification.objects.filter(recipient_id=stranger.pk)
    page = door.get(reverse("admin:notifications_notification_change", args=[message.pk]))
    assert page.content.decode().count(NAME) >= 2  # the title and the result


def test_the_list_of_recipients_and_the_inbox_show_the_masked_address(
    door: Client, stranger: Recipient
) -> None:
    inbox = reverse("admin:notifications_recipient_show_inbox", args=[stranger.pk])
    for path in (reverse("admin:notifications_recipient_changelist"), inbox):
        assert NAME in door.get(path).content.decode(), path


def test_dead_letters_show_the_masked_address(
    door: Client, stranger: Recipient, letter: DeadLetter
) -> None:
    del stranger
    change = reverse("admin:notifications_deadletter_change", args=[letter.pk])
    for path in (reverse("admin:notifications_deadletter_changelist"), change):
        assert NAME in door.get(path).content.decode(), path


def test_a_user_id_of_a_producer_stands_alone(
    door: Client, maria: Recipient, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    for name in ("notifications_activity", "notifications_recipient_changelist"):
        page = door.get(reverse(f"admin:{name}")).content.decode()
        assert maria.user_id in page
        assert "m***@" not in page, name


def test_a_list_of_strangers_reads_the_addresses_in_one_query(
    door: Client, stranger: Recipient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        user_id = f"to_{number:032x}"
        person = Recipient.objects.create(user_id=user_id)
        Contact.objects.create(recipient=person, channel=Channel.SMS, address=f"+49151{number:08}")
    del stranger
    page = reverse("admin:notifications_recipient_changelist")
    with django_assert_max_num_queries(12):
        door.get(page)


def test_the_service_knows_the_user_ids_that_it_made() -> None:
    made = To(phone="+4915112345678").user_id(key=b"k")
    assert is_made_of_address(made)
    assert not any(map(is_made_of_address, ("to_anna", "u_1001", f"{made}x", made.upper())))
