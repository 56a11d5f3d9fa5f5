"""A device belongs to the recipient who registered it last; a mailbox can be shared."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from notifications.core.models import AuditEntry, Contact, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import erasure, recipients
from notifications.core.store.postgres.contact_book import Address, ContactChange
from notifications.core.store.postgres.device_owners import MOVED
from providers.contract import Channel

KEYS = '"keys":{"p256dh":"p","auth":"a"}'
BROWSER = '{"endpoint":"https://push.example/1",' + KEYS + "}"


def _put(
    user_id: str, *devices: str, mode: Mode = Mode.LIVE, channel: Channel = Channel.PUSH
) -> None:
    recipients.upsert(
        mode=mode,
        user_id=user_id,
        profile={},
        addresses=[Address(channel=channel, address=each) for each in devices],
        change=ContactChange(by="app"),
    )


def _owners(channel: Channel = Channel.PUSH) -> list[tuple[str, str]]:
    valid = Contact.objects.filter(channel=channel, invalidated_at=None)
    return sorted(valid.values_list("recipient__user_id", "address"))


@pytest.mark.django_db
@pytest.mark.parametrize("again", ["t-1", "web"])
def test_who_registers_a_device_last_has_it(again: str) -> None:
    device = BROWSER if again == "web" else again
    renewed = BROWSER.replace('"p"', '"other"') if again == "web" else again
    _put("maria", device, "t-2")
    _put("ana", renewed)
    assert _owners() == [("ana", renewed), ("maria", "t-2")]
    ended = Contact.objects.get(recipient__user_id="maria", address=device)
    assert (ended.invalid_reason, ended.is_primary, ended.changed_by) == (MOVED, False, "app")
    [entry] = AuditEntry.objects.filter(operation="move_device")
    assert (entry.object_id, entry.by) == (str(ended.pk), "app")
    _put("maria", device, "t-2")
    assert _owners() == sorted([("maria", "t-2"), ("maria", device)])


@pytest.mark.django_db
def test_a_patch_and_a_new_contact_move_a_device_too() -> None:
    for user_id in ("maria", "ana", "eva"):
        _put(user_id)
    eva, ana = (Recipient.objects.get(user_id=each) for each in ("eva", "ana"))
    _put("maria", "t-1")
    device, change = Address(channel=Channel.PUSH, address="t-1"), ContactChange(by="app")
    recipients.add_contact(ana, device, change)
    assert _owners() == [("ana", "t-1")]
    recipients.merge(eva, profile={}, addresses=[device], change=change)
    assert _owners() == [("eva", "t-1")]


@pytest.mark.django_db
def test_test_mode_takes_no_device_of_a_live_recipient() -> None:
    _put("maria", "t-1")
    _put("tester", "t-1", mode=Mode.TEST)
    assert _owners() == [("maria", "t-1"), ("tester", "t-1")]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("channel", "address"),
    [(Channel.EMAIL, "home@example.com"), (Channel.SMS, "+4915112345678")],
)
def test_a_household_shares_its_mailbox_and_its_phone(channel: Channel, address: str) -> None:
    for user_id in ("maria", "ana"):
        _put(user_id, address, channel=channel)
    assert _owners(channel) == [("ana", address), ("maria", address)]


@pytest.mark.django_db
def test_a_dead_device_that_is_registered_again_takes_nothing() -> None:
    _put("ana", "t-1")
    Contact.objects.update(invalid_reason="fcm: UNREGISTERED", invalidated_at="2026-01-01T00:00Z")
    _put("maria", "t-1")
    _put("ana", "t-1")
    assert _owners() == [("maria", "t-1")]


@pytest.mark.django_db
def test_an_operator_moves_a_device_by_a_new_contact_and_not_by_a_repair() -> None:
    door = Client()
    door.force_login(User.objects.create_superuser("operator"))
    _put("maria", "t-1")
    _put("ana")
    ana = Recipient.objects.get(user_id="ana")
    given = {"recipient": ana.pk, "channel": int(Channel.PUSH), "address": " t-1", "kind": ""}
    assert door.post(reverse("admin:notifications_contact_add"), given).status_code == 302
    assert _owners() == [("ana", "t-1")]
    ended = Contact.objects.exclude(invalidated_at=None).get()
    page = reverse("admin:notifications_contact_changelist")
    repair = {"action": "make_valid", "_selected_action": [ended.pk]}
    told = door.post(page, repair, follow=True).content.decode()
    assert "1 devices belong to another recipient now" in told
    assert _owners() == [("ana", "t-1")]


@pytest.mark.django_db(transaction=True)
def test_two_people_who_exchange_devices_at_once_end_with_one_owner_each() -> None:
    _put("maria", "t-1")
    _put("ana", "t-2")
    faults: list[Exception] = []

    def _swap(user_id: str, one: str, other: str) -> None:
        try:
            for _ in range(10):
                _put(user_id, other)
                _put(user_id, one)
        except Exception as error:  # noqa: BLE001 - each fault of a thread fails the test
            faults.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=_swap, args=("maria", "t-1", "t-2")),
        threading.Thread(target=_swap, args=("ana", "t-2", "t-1")),
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not faults
    devices = [device for _, device in _owners()]
    assert len(devices) == len(set(devices))


@pytest.mark.django_db(transaction=True)
def test_people_who_register_remove_and_erase_the_same_devices_at_once_wait_for_each_other() -> (
    None
):
    faults: list[Exception] = []

    def _live(user_id: str, *devices: str) -> None:
        try:
            for _ in range(6):
                _put(user_id, *devices)
                _put(user_id, *reversed(devices[1:]))
                person = Recipient.objects.get(user_id=user_id)
                for contact in person.contacts.filter(invalidated_at=None):
                    recipients.remove_contact(person, contact_id=contact.pk, change=ContactChange())
                _put(user_id, *devices)
                _put(user_id)
                _put(user_id, *reversed(devices))
                erasure.begin(mode=Mode.LIVE, user_id=user_id, requested_by="x", by="app")
                _put(user_id, *devices)
        except Exception as error:  # noqa: BLE001 - each fault of a thread fails the test
            faults.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=_live, args=each)
        for each in (
            ("maria", "t-1", "t-2", "t-3"),
            ("ana", "t-3", "t-1", "t-2"),
            ("eva", "t-2", "t-3", "t-1"),
            ("zoe", "t-1", "t-3", "t-2"),
        )
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not faults
    devices = [device for _, device in _owners()]
    assert sorted(devices) == ["t-1", "t-2", "t-3"]
