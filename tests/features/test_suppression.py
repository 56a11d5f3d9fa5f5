"""The suppression list on the way of a delivery: at accept, at send, and after bad news."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from notifications.core.delivery import deliver
from notifications.core.feedback import delivery_receipts
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller
from notifications.core.models import Suppression
from notifications.core.rules import request
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel, Receipt, ReceiptKind
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
NUMBER = "+4915112345678"


def suppress(address: str, channel: Channel = Channel.EMAIL) -> None:
    suppressions.add(
        [SuppressionEntry(channel=channel, address=address, cause=Cause.MANUAL)], by="operator"
    )


@pytest.mark.parametrize("priority", ["P0", "P2"])
def test_an_address_suppressed_meanwhile_is_not_used_whatever_the_priority(
    reach: Reach, take: Accept, outbox: Outbox, priority: str
) -> None:
    reach(email="Maria@example.com")
    [delivery] = deliveries_of(take(priority=priority))
    suppress("maria@example.com")
    deliver.deliver([delivery.pk])
    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason) == (Status.SUPPRESSED, "suppression_list")
    assert outbox(delivery.pk) == []


def test_at_accept_a_suppressed_contact_gives_way_to_the_next_one(
    reach: Reach, take: Accept
) -> None:
    person = reach(email=["dead@example.com", "well@example.com"])
    suppress("dead@example.com")
    [delivery] = deliveries_of(take())
    assert delivery.contact_id == person.contacts.get(address="well@example.com").pk


def test_at_accept_a_suppressed_channel_gives_way_to_the_next_one(
    reach: Reach, take: Accept
) -> None:
    reach(email="dead@example.com", sms=NUMBER)
    suppress("dead@example.com")
    [delivery] = deliveries_of(take(channels=["email", "sms"]))
    assert delivery.channel == Channel.SMS


def test_at_accept_nowhere_to_go_is_named_as_it_is(reach: Reach, take: Accept) -> None:
    reach(email="dead@example.com")
    suppress("dead@example.com")
    [delivery] = deliveries_of(take())
    assert (delivery.status, delivery.reason) == (Status.SUPPRESSED, "suppression_list")


def test_an_undone_entry_and_another_channels_entry_stop_nothing(
    reach: Reach, take: Accept
) -> None:
    reach(email="well@example.com")
    suppress("well@example.com")
    suppressions.undo(Suppression.objects.all(), by="operator", note="")
    suppress("well@example.com", Channel.CHAT)
    [delivery] = deliveries_of(take())
    assert delivery.status == Status.QUEUED


@pytest.mark.usefixtures("outbox")
def test_test_mode_is_not_stopped_by_the_list_and_does_not_touch_it(
    caller: Caller, reach: Reach
) -> None:
    caller = replace(caller, mode=Mode.TEST)
    person = reach(email="gone-410@sandbox.example")
    person.mode = Mode.TEST
    person.save()
    suppress("gone-410@sandbox.example")
    body = {"user_id": "maria", "type": "LIKE", "template_id": "otp", "channels": ["email"]}
    wanted = request.parse(body | {"variables": {"name": "Ana", "code": "4711"}})
    assert not isinstance(wanted, Problem)
    [delivery] = deliveries_of(accept.accept(caller, [wanted])[0])
    deliver.deliver([delivery.pk])
    delivery.refresh_from_db()
    assert delivery.reason != "suppression_list"
    assert Suppression.objects.count() == 1


@pytest.mark.usefixtures("outbox")
def test_a_complaint_keeps_the_address_from_everybody_who_has_it(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@example.com")
    [delivery] = deliveries_of(take())
    deliver.deliver([delivery.pk])
    complaint = Receipt(
        kind=ReceiptKind.BOUNCED,
        delivery_id=delivery.pk,
        code="suppress-complaint",
        contact_is_dead=True,
        has_complained=True,
    )
    delivery_receipts.record("sandbox", [complaint])
    assert Suppression.objects.get().reason == Cause.COMPLAINT
    reach("bernd", email="maria@example.com")
    [again] = deliveries_of(take(user_id="bernd"))
    assert (again.status, again.reason) == (Status.SUPPRESSED, "suppression_list")


@pytest.mark.usefixtures("outbox")
def test_an_opt_out_at_the_provider_suppresses_the_mailbox_and_keeps_the_contact(
    reach: Reach, take: Accept
) -> None:
    person = reach(email="maria@example.com")
    [delivery] = deliveries_of(take())
    deliver.deliver([delivery.pk])
    left = Receipt(
        kind=ReceiptKind.READ, delivery_id=delivery.pk, code="unsubscribed", has_opted_out=True
    )
    for _ in range(2):
        delivery_receipts.record("sandbox", [left])
    delivery_receipts.record("another", [left])
    assert Suppression.objects.get().reason == Cause.UNSUBSCRIBE_ALL
    assert person.contacts.get().invalidated_at is None
    [again] = deliveries_of(take())
    assert (again.status, again.reason) == (Status.SUPPRESSED, "suppression_list")
