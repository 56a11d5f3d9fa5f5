"""An operator who is signed in, somebody who may only look, and messages to look at."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client, override_settings

from notifications.core import clock
from notifications.core.models import (
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    Event,
    Notification,
    Producer,
    Recipient,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.cached import shared_answers
from notifications.core.store.postgres import partitions
from providers.contract import Channel
from tests.admin.chromium import browser, chromium

__all__ = ["browser", "chromium"]

ADDRESS = "maria@sandbox.example"


@pytest.fixture(autouse=True)
def _quick_passwords() -> Iterator[None]:
    """Hash passwords in microseconds: Django's own hasher takes half a second for each."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def _own_answers() -> None:
    """Forget the figures of the previous test."""
    shared_answers.forget()


@pytest.fixture
def operator(db: None) -> User:  # noqa: ARG001 - asked for by name
    return User.objects.create_superuser("operator", password="a-long-password")


@pytest.fixture
def viewer(db: None) -> User:  # noqa: ARG001 - asked for by name
    user = User.objects.create_user("viewer", password="a-long-password", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return user


@pytest.fixture
def door(operator: User) -> Client:
    """A browser without a screen, signed in as the operator."""
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def window(viewer: User) -> Client:
    """The same for the one who may only look."""
    client = Client()
    client.force_login(viewer)
    return client


@pytest.fixture
def maria(db: None) -> Recipient:  # noqa: ARG001 - asked for by name
    recipient = Recipient.objects.create(user_id="u_789012", locale="pt-BR")
    Contact.objects.create(
        recipient=recipient, channel=Channel.EMAIL, address=ADDRESS, is_primary=True
    )
    return recipient


MakeDelivery = Callable[..., Delivery]


@pytest.fixture
def make_delivery(maria: Recipient) -> MakeDelivery:
    """A notification with one delivery, as the pipeline would have left it."""
    producer = Producer.objects.create(name="order-service")
    return functools.partial(_delivery, maria, producer)


def _delivery(
    maria: Recipient,
    producer: Producer,
    *,
    status: Status = Status.DELIVERED,
    channel: Channel = Channel.EMAIL,
    reason: str = "",
    age: dt.timedelta = dt.timedelta(0),
    **columns: object,
) -> Delivery:
    """Store it; `columns` are the notification's (template, variables)."""
    now = clock.now() - age
    if age:
        partitions.ensure(now.date(), days=0)
    notification = _notification(maria, producer, now, **columns)
    delivery = Delivery.objects.create(
        id=ids.delivery_id(notification, 1),
        mode=Mode.LIVE,
        priority=Priority.P2,
        channel=channel,
        status=status,
        reason=reason,
        recipient_id=maria.pk,
        contact_id=maria.contacts.get().pk,
        provider="sandbox",
        provider_message_id=f"sbx-{notification.hex[:12]}",
        attempts=1,
        sent_at=now,
    )
    _history(delivery, notification, now)
    return delivery


def _notification(
    maria: Recipient, producer: Producer, now: dt.datetime, **columns: object
) -> UUID:
    notification = ids.notification_id(
        at_ms=int(now.timestamp() * 1000), entropy=clock.new_notification_id().int
    )
    said = {"variables": {"order_id": "ORD-91"}, **columns}
    Notification.objects.create(
        id=notification,
        producer_id=producer.pk,
        priority=Priority.P2,
        type="ORDER_SHIPPED",
        recipient_id=maria.pk,
        user_id=maria.user_id,
        spread="first",
        expires_at=now + dt.timedelta(days=1),
        created_at=now,
        **said,
    )
    return notification


def _history(delivery: Delivery, notification: UUID, now: dt.datetime) -> None:
    Attempt.objects.create(
        delivery_id=delivery.id,
        number=1,
        provider="sandbox",
        outcome="unavailable",
        code="503",
        detail="try again later",
        http_status=503,
        retry_after_s=30,
        started_at=now,
        latency_ms=12,
    )
    for seq, status in enumerate((Status.QUEUED, Status.SENDING, delivery.status), start=-3):
        Event.objects.create(
            notification_id=notification,
            seq=seq,
            delivery_id=delivery.id,
            status=status,
            reason=delivery.reason,
            at=now,
        )


@pytest.fixture
def make_letters(make_delivery: MakeDelivery) -> Callable[..., list[DeadLetter]]:
    """Return a function that makes a dead letter for each reason."""

    def make(reasons: Iterable[str]) -> list[DeadLetter]:
        letters = []
        for reason in reasons:
            delivery = make_delivery(status=Status.FAILED, reason=reason)
            letters.append(
                DeadLetter.objects.create(
                    delivery_id=delivery.id,
                    mode=Mode.LIVE,
                    priority=Priority.P2,
                    channel=delivery.channel,
                    producer_id=Notification.objects.get(pk=delivery.notification_id).producer_id,
                    recipient_id=delivery.recipient_id,
                    provider="sandbox",
                    reason=reason,
                    snapshot={"user_id": "u_789012", "variables": {"order_id": "ORD-91"}},
                    created_at=clock.now(),
                )
            )
        return letters

    return make
