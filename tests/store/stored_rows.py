"""Rows as the pipeline would leave them, made directly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import Contact, Delivery, Notification, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import inserts
from notifications.core.store.postgres.inserts import NewDelivery
from providers.contract import Channel

MakeDelivery = Callable[..., UUID]


@pytest.fixture
def make_delivery(db: None) -> MakeDelivery:  # noqa: ARG001 - pytest-django asks for it by name
    """Store one notification with one delivery and return the delivery's id."""
    recipient, _ = Recipient.objects.get_or_create(mode=Mode.LIVE, user_id="maria")
    contact, _ = Contact.objects.get_or_create(
        recipient=recipient,
        channel=Channel.EMAIL,
        address="maria@sandbox.example",
        is_primary=True,
    )
    return functools.partial(_store, contact)


def _store(
    contact: Contact,
    status: Status = Status.QUEUED,
    *,
    priority: Priority = Priority.P2,
    **columns: object,
) -> UUID:
    now = clock.now()
    notification = Notification.objects.create(
        id=clock.new_notification_id(),
        producer_id=1,
        mode=Mode.LIVE,
        priority=priority,
        type="TEST",
        recipient_id=contact.recipient_id,
        user_id="maria",
        content={"title": "", "body": "hello", "html": ""},
        spread="first",
        expires_at=now + DEFAULT_TIME_TO_LIVE[priority],
        created_at=now,
    )
    born = NewDelivery(
        id=ids.delivery_id(notification.id, 1),
        mode=Mode.LIVE,
        priority=priority,
        channel=Channel.EMAIL,
        status=status,
        reason="",
        due_at=now,
        recipient_id=contact.recipient_id,
        contact_id=contact.pk,
        falls_back=False,
        is_published=False,
    )
    inserts.deliveries([born], notification_ids=[notification.id], now=now)
    if columns:
        Delivery.objects.filter(id=born.id).update(**columns)
    return born.id
