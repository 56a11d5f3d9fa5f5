"""A device that the vendor calls gone, and the app on it that registers again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.models import Contact, Recipient
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import LISTED
from notifications.core.store.postgres import dead_contacts, recipients
from notifications.core.store.postgres.contact_book import Address, ContactChange
from notifications.core.store.postgres.dead_contacts import DeadReport
from providers.contract import Channel, Rejected
from tests.journey import Accept, Reach, deliveries_of, routed_to_scripted
from tests.vendors import Scripted

HOUR = dt.timedelta(hours=1)
TOKEN = "Token-With-Capitals"


@pytest.fixture
def scripted(outbox: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """Route push to the scripted provider."""
    assert outbox  # its settings come first
    with routed_to_scripted(monkeypatch, Channel.PUSH) as provider:
        yield provider


def refuse(scripted: Scripted, gone_since: dt.datetime | None) -> None:
    gone = Rejected(code="Unregistered", contact_is_dead=True, gone_since=gone_since)
    scripted.answer = lambda batch: ((each, gone) for each in batch)


def push(take: Accept) -> Contact:
    [row] = deliveries_of(take(channels=["push"]))
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert row.status == Status.FAILED
    return Contact.objects.get()


def register(person: Recipient) -> Contact:
    device = Address(channel=Channel.PUSH, address=TOKEN)
    return recipients.add_contact(person, device, ContactChange(by="app"))


def test_a_refusal_that_is_older_than_the_first_registration_says_nothing(
    reach: Reach, take: Accept, scripted: Scripted
) -> None:
    reach(push=TOKEN)
    refuse(scripted, clock.now() - HOUR)
    assert push(take).invalidated_at is None


def test_a_refusal_that_is_older_than_a_repeated_registration_says_nothing(
    reach: Reach, take: Accept, scripted: Scripted
) -> None:
    person = reach(push=TOKEN)
    now = clock.now()
    Contact.objects.update(created_at=now - 3 * HOUR)
    register(person)
    refuse(scripted, now - HOUR)
    assert push(take).invalidated_at is None


@pytest.mark.parametrize("since", [HOUR, None])
def test_a_refusal_that_is_younger_than_the_registration_ends_the_contact(
    reach: Reach, take: Accept, scripted: Scripted, since: dt.timedelta | None
) -> None:
    reach(push=TOKEN)
    Contact.objects.update(created_at=clock.now() - 3 * HOUR)
    refuse(scripted, clock.now() - since if since else None)
    assert push(take).invalid_reason == "scripted: Unregistered"


def test_a_time_of_the_vendor_in_the_future_counts_as_the_time_of_the_call(
    reach: Reach, take: Accept, scripted: Scripted
) -> None:
    person = reach(push=TOKEN)
    refuse(scripted, clock.now() + HOUR)
    assert push(take).invalidated_at is not None
    assert register(person).invalidated_at is None


def test_an_app_that_registers_again_ends_the_vendors_verdict(
    reach: Reach, take: Accept, scripted: Scripted
) -> None:
    person = reach(push=TOKEN)
    refuse(scripted, None)
    dead = push(take)
    assert not dead.is_primary
    again = register(person)
    assert (again.pk, again.invalidated_at, again.invalid_reason) == (dead.pk, None, "")
    assert again.is_primary


@pytest.mark.parametrize("channel", [Channel.CHAT, Channel.WEBHOOK, Channel.EMAIL, Channel.SMS])
def test_only_the_suppression_list_keeps_an_address_that_is_added_again(
    reach: Reach, channel: Channel
) -> None:
    person = reach()
    names = {Channel.SMS: "+4915112345678", Channel.EMAIL: "Maria@Example.com"}
    address = Address(channel=channel, address=names.get(channel, "https://shop.example/hook"))
    change = ContactChange(by="orders")
    known = recipients.add_contact(person, address, change)
    dead_contacts.invalidate({known.pk: DeadReport("vendor: gone")}, provider="vendor")
    again = recipients.add_contact(person, address, change)
    assert (again.invalid_reason == "") is (channel not in LISTED)


def test_a_producer_that_sends_its_whole_list_again_ends_no_verdict(
    reach: Reach, take: Accept, scripted: Scripted
) -> None:
    person = reach(push=TOKEN)
    refuse(scripted, None)
    push(take)
    known = [Address(channel=Channel.PUSH, address=TOKEN)]
    change = ContactChange(by="orders")
    recipients.merge(person, profile={}, addresses=known, change=change)
    assert Contact.objects.get().invalid_reason == "scripted: Unregistered"
