"""Rows that are due, made directly, and a broker without messages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from functools import partial
from uuid import UUID

import pytest
import redis

from celeryconfig import KEY_PREFIX
from notifications.core import clock, conf
from notifications.core.models import DeadLetter, Delivery, Notification, ReplayJob
from notifications.core.rules import ids
from notifications.core.rules.lane import LANES, Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import id_ranges
from notifications.core.store.redis import state
from notifications.core.sweeps import rounds
from providers.contract import Channel
from tests.sweep_conditions import compared_conditions

__all__ = ["compared_conditions"]

MakeRow = Callable[..., UUID]


@pytest.fixture(autouse=True)
def _no_old_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rounds, "SECONDS", 60.0)  # a slow machine gets as far as a fast one
    id_ranges.forget()
    yield
    id_ranges.forget()


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    """A client of the broker, whose lanes are empty before and after."""
    with redis.Redis.from_url(conf.current().broker_url) as client:
        names = [f"{KEY_PREFIX}{lane.name}" for lane in LANES]
        client.delete(*names)
        state.client().flushdb()
        yield client
        client.delete(*names)


@pytest.fixture
def make_row(db: None) -> MakeRow:  # noqa: ARG001 - pytest-django asks for it by name
    """Store a notification with one delivery in this status; returns the delivery's id."""
    return store_row


def store_row(
    status: Status = Status.QUEUED, *, priority: Priority = Priority.P2, **columns: object
) -> UUID:
    """The same for tests that commit."""
    now = clock.now()
    notification_id = clock.new_notification_id()
    Notification.objects.create(
        id=notification_id,
        producer_id=1,
        mode=Mode.LIVE,
        priority=priority,
        type="TEST",
        recipient_id=1,
        user_id="maria",
        spread="first",
        expires_at=now + dt.timedelta(hours=1),
        created_at=now,
    )
    fields: dict[str, object] = {
        "channel": Channel.PUSH,
        "due_at": now - dt.timedelta(hours=1),
        "recipient_id": 1,
        "contact_id": 1,
        **columns,
    }
    row = partial(Delivery.objects.create, mode=Mode.LIVE, priority=priority, status=status)
    made: Delivery = row(id=ids.delivery_id(notification_id, 1), **fields)
    return made.id


PUSH_LANE = Lane(Mode.LIVE, Priority.P2, Channel.PUSH)


def replay_job(count: int, *, producer_id: int = 1) -> tuple[ReplayJob, list[UUID]]:
    """A job with so many letters."""
    job = ReplayJob.objects.create(requested_by="tests", total=count)
    rows = [store_row(Status.FAILED, due_at=None) for _ in range(count)]
    for row in rows:
        DeadLetter.objects.create(
            delivery_id=row,
            mode=PUSH_LANE.mode,
            priority=PUSH_LANE.priority,
            channel=PUSH_LANE.channel,
            producer_id=producer_id,
            recipient_id=1,
            contact_id=1,
            reason="exhausted",
            snapshot={},
            created_at=clock.now(),
            replay_job=job,
        )
    return job, rows
