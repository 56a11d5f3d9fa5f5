"""The next channel of a fallback chain opens once, for each event that ends a channel."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import broker, clock
from notifications.core.delivery import deliver, routing, settle
from notifications.core.delivery.batch import load
from notifications.core.models import (
    Contact,
    DeadLetter,
    Delivery,
    Event,
    Notification,
    Preference,
    ProviderRoute,
)
from notifications.core.rules.states import Status
from notifications.core.scheduling import cancel, release
from notifications.core.store.postgres import claims
from providers.contract import Channel, Rejected, Result, Unanswered
from tests.journey import CHAIN, Accept, Reach, chain_of, chain_statuses, deliver_chain
from tests.vendors import Scripted

Outbox = Callable[[UUID], list[Any]]


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test needs the broker: each claims its rows itself."""
    monkeypatch.setattr(broker, "takes_messages", lambda: False)


def test_a_rejected_channel_opens_the_next_without_a_dead_letter(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token.400", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    assert chain_statuses(answer) == [
        ("push", "failed", "escalated"),
        ("sms", "queued", "fallback"),
    ]
    assert not DeadLetter.objects.exists()
    deliver_chain(answer)
    assert chain_statuses(answer)[1] == ("sms", "sent", "")
    [push, sms] = chain_of(answer)
    assert len(outbox(sms.id)) == 1
    told = Event.objects.filter(delivery_id=push.id).latest("seq")
    assert (told.reason, told.detail[:9]) == ("escalated", "permanent")


def test_the_last_channel_leaves_a_dead_letter(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token.400", sms="+15554000000")
    answer = take(**CHAIN)
    deliver_chain(answer)
    deliver_chain(answer)
    assert chain_statuses(answer) == [
        ("push", "failed", "escalated"),
        ("sms", "failed", "permanent"),
    ]
    assert [row.delivery_id for row in DeadLetter.objects.all()] == [chain_of(answer)[1].id]
    assert len(chain_of(answer)) == 2, "the e-mail has no address"
    del outbox


def test_without_a_chain_nothing_changes(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token.400", sms="+15552020300")
    answer = take(**CHAIN | {"fallback_chain": False})
    deliver_chain(answer)
    assert chain_statuses(answer) == [("push", "failed", "permanent")]
    assert DeadLetter.objects.count() == 1
    del outbox


@pytest.mark.parametrize("priority", ["P0", "P1"])
def test_urgent_chains_go_on_at_the_third_failed_call(
    outbox: Outbox, reach: Reach, take: Accept, priority: str
) -> None:
    reach(push="token.503", sms="+15552020300")
    answer = take(**CHAIN | {"priority": priority})
    for _ in range(3):
        if chain_statuses(answer)[0][1] != "failed":  # a late retry may come before the third call
            deliver_chain(answer)
    assert chain_of(answer)[0].attempts <= 3
    assert chain_statuses(answer)[:2] == [
        ("push", "failed", "escalated"),
        ("sms", "queued", "fallback"),
    ]
    del outbox


def test_patient_chains_use_all_retries(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token.503", sms="+15552020300")
    answer = take(**CHAIN | {"priority": "P2"})
    for _ in range(4):
        deliver_chain(answer)
        assert chain_statuses(answer)[0][:2] == ("push", "retrying")
    deliver_chain(answer)
    deliver_chain(answer)
    assert chain_statuses(answer)[0] == ("push", "failed", "escalated")
    assert chain_statuses(answer)[1][:2] == ("sms", "queued")
    del outbox


def test_an_unanswered_urgent_call_opens_the_next_channel(
    scripted: Scripted, reach: Reach, take: Accept
) -> None:
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    answer = take(**CHAIN | {"user_id": "ana", "channels": ["email", "sms"]})
    deliver_chain(answer)
    assert chain_statuses(answer) == [
        ("email", "unconfirmed", "unconfirmed"),
        ("sms", "queued", "fallback"),
    ]


def test_every_device_must_fail(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push=["token.400", "tablet"], sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    assert chain_statuses(answer) == [("push", "failed", "permanent"), ("push", "sent", "")]
    del outbox


def test_all_devices_failing_open_one_channel(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push=["phone.400", "tablet.410", "watch.400"], sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    assert [line[:2] for line in chain_statuses(answer)] == [("push", "failed")] * 3 + [
        ("sms", "queued")
    ]
    assert not DeadLetter.objects.exists()
    del outbox


def test_devices_that_fail_one_after_another_open_one_channel(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push=["phone.400", "tablet.400"], sms="+15552020300")
    answer = take(**CHAIN)
    first, second = chain_of(answer)
    deliver.deliver([first.id])
    assert len(chain_of(answer)) == 2
    deliver.deliver([second.id])
    assert [line[0] for line in chain_statuses(answer)] == ["push", "push", "sms"]
    [letter] = DeadLetter.objects.all()
    assert (letter.delivery_id, letter.resolution) == (first.id, "the next channel follows")
    deliver.deliver([second.id])
    assert len(chain_of(answer)) == 3
    del outbox


def test_a_device_whose_lease_was_lost_keeps_the_channel_open(
    scripted: Scripted, reach: Reach, take: Accept
) -> None:
    ProviderRoute.objects.create(channel=Channel.PUSH, provider=scripted.name)
    routing.forget()
    reach(user_id="ana", push=["phone", "tablet"], sms="+15552020300")
    answer = take(**CHAIN | {"user_id": "ana"})
    phone, tablet = chain_of(answer)
    batch = load(claims.claim([phone.id, tablet.id], now=clock.now()))
    claims.renew([phone.id, tablet.id], token=batch.token, provider=scripted.name)
    refused = Rejected(code="unregistered")
    pairs = [
        (each, Result(delivery_id=each.delivery.id, outcome=refused, latency=dt.timedelta(0)))
        for each in batch.deliveries
    ]
    for claimed in batch.deliveries:
        claimed.call = 1
    Delivery.objects.filter(id=tablet.id).update(status=Status.QUEUED, claim_token=None)
    settle.settle(batch, pairs, provider=scripted)
    assert [line[:2] for line in chain_statuses(answer)] == [("push", "failed"), ("push", "queued")]
    scripted.answer = lambda messages: ((each, refused) for each in messages)
    deliver.deliver([tablet.id])
    assert [line[0] for line in chain_statuses(answer)] == ["push", "push", "sms"]
    assert not DeadLetter.objects.exists()


def test_a_channel_switched_off_while_queued_goes_on(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    person = reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    Preference.objects.update_or_create(
        recipient=person, defaults={"channels_off": [Channel.PUSH.value]}
    )
    deliver_chain(answer)
    assert chain_statuses(answer) == [
        ("push", "suppressed", "opted_out"),
        ("sms", "queued", "fallback"),
    ]
    del outbox


def test_a_channel_that_the_recipient_switched_off_is_left_out(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    person = reach(push="token.400", sms="+15552020300", email="maria@example.com")
    answer = take(**CHAIN)
    Preference.objects.update_or_create(
        recipient=person, defaults={"channels_off": [Channel.SMS.value]}
    )
    deliver_chain(answer)
    assert [line[0] for line in chain_statuses(answer)] == ["push", "email"]
    del outbox


def test_a_channel_without_a_text_is_left_out(outbox: Outbox, reach: Reach, take: Accept) -> None:
    person = reach(push="token.400", in_app="maria", email="maria@example.com")
    order = [Channel.PUSH.value, Channel.IN_APP.value, Channel.EMAIL.value]
    Preference.objects.create(recipient=person, channel_order=order)
    answer = take(**CHAIN | {"channels": []})
    deliver_chain(answer)
    assert [line[0] for line in chain_statuses(answer)] == ["push", "email"]
    del outbox


def test_a_release_on_an_earlier_channel_leaves_the_later_channel_to_the_chain(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    person = reach(sms="+15552020300")
    tomorrow = clock.now() + dt.timedelta(days=1)
    answer = take(**CHAIN | {"scheduled_at": tomorrow.isoformat()})
    Contact.objects.create(
        recipient=person, channel=Channel.PUSH, address="token.400", is_primary=True
    )
    Delivery.objects.update(due_at=TransactionNow() - dt.timedelta(seconds=1))
    release.resolve([dict(row) for row in Delivery.objects.values()])
    deliver_chain(answer)
    assert chain_statuses(answer) == [
        ("sms", "suppressed", "opted_out"),
        ("push", "failed", "escalated"),
        ("sms", "queued", "fallback"),
    ]
    del outbox


def test_a_channel_of_a_newer_release_is_left_out(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token.400", sms="+15554000000", email="maria@example.com")
    answer = take(**CHAIN)
    newer = max(Channel) + 1
    Notification.objects.update(
        channels=[Channel.PUSH, newer, Channel.SMS, newer + 1, Channel.EMAIL]
    )
    deliver_chain(answer)
    deliver_chain(answer)
    assert [line[:2] for line in chain_statuses(answer)] == [
        ("push", "failed"),
        ("sms", "failed"),
        ("email", "queued"),
    ]
    del outbox


def test_a_failure_behind_a_channel_of_a_newer_release_leaves_no_dead_letter(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token.400", sms="+15552020300")
    answer = take(**CHAIN)
    [push] = chain_of(answer)
    Delivery.objects.create(
        id=UUID(int=push.id.int + 1),
        mode=push.mode,
        priority=push.priority,
        channel=max(Channel) + 1,
        status=Status.QUEUED,
        recipient_id=push.recipient_id,
        falls_back=True,
    )
    deliver.deliver([push.id])
    [push, _] = Delivery.objects.order_by("id")
    assert (push.status, push.reason) == (Status.FAILED, "escalated")
    del outbox


def test_a_cancelled_notification_opens_nothing(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token.503", sms="+15552020300")
    answer = take(**CHAIN | {"priority": "P2"})
    deliver_chain(answer)
    cancel.stop([chain_of(answer)[0].notification_id])
    deliver_chain(answer)
    assert chain_statuses(answer) == [("push", "cancelled", "cancelled")]
    del outbox


def test_an_expired_notification_opens_nothing(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token.400", sms="+15552020300")
    answer = take(**CHAIN)
    Notification.objects.update(expires_at=TransactionNow() - dt.timedelta(seconds=1))
    deliver_chain(answer)
    assert chain_statuses(answer) == [("push", "expired", "ttl_passed")]
    del outbox


def test_a_held_channel_is_not_sent_after_another_channel_reached_the_recipient(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token.400", sms="+15555030300")  # 503 at each call
    answer = take(**CHAIN | {"priority": "P2"})
    deliver_chain(answer)
    deliver_chain(answer)
    push, sms = chain_of(answer)
    assert chain_statuses(answer)[1][:2] == ("sms", "retrying")
    Delivery.objects.filter(id=push.id).update(status=Status.DELIVERED)
    deliver_chain(answer)
    assert chain_statuses(answer)[1] == ("sms", "cancelled", "confirmed_elsewhere")
    assert outbox(sms.id)[0]["shown"] == 0


def test_the_code_is_kept_for_the_next_channel(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token.400", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    deliver_chain(answer)
    [shown] = outbox(chain_of(answer)[1].id)
    assert shown["body"] == "Ana: 4711"
