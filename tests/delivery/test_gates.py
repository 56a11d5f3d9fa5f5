"""What a person wishes holds for what is already under way; nothing that waits for it is lost."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock, conf
from notifications.core.delivery import batch, deliver, gates
from notifications.core.models import (
    Attempt,
    Delivery,
    Event,
    Notification,
    NotificationType,
    Preference,
    Producer,
)
from notifications.core.models import Recipient as Person
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types, producer_windows
from notifications.core.store.postgres import claims
from notifications.core.sweeps import release as sweep
from notifications.core.sweeps import rounds
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of
from tests.moments import transaction_now

Outbox = Callable[[UUID], list[Any]]
HOUR = dt.timedelta(hours=1)
SECOND = dt.timedelta(seconds=1)

pytestmark = pytest.mark.usefixtures("outbox")


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep gets as far on a slow machine as on a fast one."""
    monkeypatch.setattr(rounds, "SECONDS", 60.0)


@pytest.fixture
def maria(reach: Reach) -> Person:
    """Somebody with a mailbox and a phone, in UTC."""
    return reach(email="maria@sandbox.example", push="maria-phone")


def _around(now: dt.datetime, *, hours: int = 2, **more: object) -> dict[str, object]:
    """A window that began an hour ago and ends in `hours`."""
    start, end = now - HOUR, now + hours * HOUR
    return {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}", **more}


def _wish(person: Person, **wishes: object) -> None:
    Preference.objects.update_or_create(recipient=person, defaults=wishes)


def _now(delivery_id: UUID) -> Delivery:
    return Delivery.objects.get(id=delivery_id)


def _status(delivery_id: UUID) -> tuple[Status, str]:
    row = _now(delivery_id)
    return Status(row.status), row.reason


def _make_due(delivery_id: UUID) -> None:
    """As if the time it waits for had come, and the grace of its own message had passed."""
    Delivery.objects.filter(id=delivery_id).update(due_at=TransactionNow() - 10 * SECOND)


def test_a_quiet_hour_holds_and_spends_no_attempt(maria: Person, take: Accept) -> None:
    now = clock.now()
    _wish(maria, quiet_hours=[_around(now)])
    [row] = deliveries_of(take(priority="P2"))
    assert deliver.deliver([row.id]) == []
    assert _status(row.id) == (Status.SCHEDULED, "quiet_hours")
    due_at = _now(row.id).due_at
    assert due_at is not None
    end = (now + 2 * HOUR).replace(second=0, microsecond=0)
    assert end - SECOND <= due_at <= end + conf.current().release_ramp + SECOND
    assert not Attempt.objects.filter(delivery_id=row.id).exists()


def test_a_transactional_message_leaves_at_the_very_end(maria: Person, take: Accept) -> None:
    now = clock.now()
    _wish(maria, quiet_hours=[_around(now)])
    [row] = deliveries_of(take(priority="P1", ttl_seconds=6 * 3600))
    deliver.deliver([row.id])
    due_at = _now(row.id).due_at
    assert due_at is not None
    assert abs(due_at - (now + 2 * HOUR).replace(second=0, microsecond=0)) < SECOND


def test_a_window_of_another_channel_holds_nothing(maria: Person, take: Accept) -> None:
    _wish(maria, quiet_hours=[_around(clock.now(), channels=["push"])])
    mail, push = deliveries_of(take(channels=["email", "push"], delivery="all"))
    deliver.deliver([mail.id])
    deliver.deliver([push.id])
    assert _status(mail.id)[0] is Status.SENT
    assert _status(push.id) == (Status.SCHEDULED, "quiet_hours")


def test_security_passes_everything_but_a_channel_that_is_off(maria: Person, take: Accept) -> None:
    later = clock.now() + HOUR
    _wish(
        maria,
        quiet_hours=[_around(clock.now())],
        do_not_disturb_until=later,
        categories_off=["social"],
    )
    passes, stops = (deliveries_of(take(priority="P0"))[0] for _ in range(2))
    deliver.deliver([passes.id])
    assert _status(passes.id)[0] is Status.SENT
    _wish(maria, channels_off=[Channel.EMAIL])
    deliver.deliver([stops.id])
    assert _status(stops.id) == (Status.SUPPRESSED, "opted_out")


@pytest.mark.parametrize("off", ["social", "LIKE"])
def test_a_category_or_type_switched_off_while_queued_counts(
    maria: Person, take: Accept, off: str
) -> None:
    [row] = deliveries_of(take())
    _wish(maria, categories_off=[off])
    deliver.deliver([row.id])
    assert _status(row.id) == (Status.SUPPRESSED, "opted_out")


def test_a_topic_switched_off_on_a_channel_stops_that_channel_alone(
    maria: Person, take: Accept
) -> None:
    mail, push = deliveries_of(take(channels=["email", "push"], delivery="all"))
    _wish(maria, topics_off={"email": ["social"]})
    deliver.deliver([mail.id, push.id])
    assert _status(mail.id) == (Status.SUPPRESSED, "opted_out")
    assert _status(push.id)[0] is Status.SENT


def test_a_first_delivery_goes_to_the_next_channel_where_the_topic_is_on(
    maria: Person, take: Accept
) -> None:
    _wish(maria, topics_off={"push": ["LIKE"]})
    [row] = deliveries_of(take(channels=["push", "email"], delivery="first"))
    assert row.channel == Channel.EMAIL


def test_a_mandatory_type_passes_topics_that_are_off_and_no_channel_that_is_off(
    maria: Person, take: Accept
) -> None:
    NotificationType.objects.update(is_mandatory=True)
    notification_types.forget()
    _wish(maria, categories_off=["social"], topics_off={"email": ["LIKE"]})
    [passes], [stops] = (deliveries_of(take()) for _ in range(2))
    deliver.deliver([passes.id])
    assert _status(passes.id)[0] is Status.SENT
    _wish(maria, channels_off=[Channel.EMAIL])
    deliver.deliver([stops.id])
    assert _status(stops.id) == (Status.SUPPRESSED, "opted_out")


def test_a_channel_switched_off_while_queued_does_not_fall_back_unasked(
    maria: Person, take: Accept, outbox: Outbox
) -> None:
    mail, *others = deliveries_of(take(channels=["email", "push"], delivery="first"))
    _wish(maria, channels_off=[Channel.EMAIL])
    deliver.deliver([mail.id])
    assert _status(mail.id) == (Status.SUPPRESSED, "opted_out")
    assert (others, outbox(mail.id)) == ([], [])
    notification = ids.notification_of(mail.id)
    assert Delivery.objects.filter(id__gt=notification).count() == 1


def test_what_waited_is_released_by_the_sweep_and_sent_once(
    maria: Person, take: Accept, outbox: Outbox
) -> None:
    _wish(maria, do_not_disturb_until=clock.now() + HOUR)
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    assert _status(row.id) == (Status.SCHEDULED, "do_not_disturb")
    _wish(maria, do_not_disturb_until=transaction_now() - SECOND)
    _make_due(row.id)
    for _ in range(2):
        sweep.run_once(now=clock.now(), limit=10)
    assert _status(row.id) == (Status.QUEUED, "hold_over")
    deliver.deliver([row.id])
    assert _status(row.id)[0] is Status.SENT
    assert len(outbox(row.id)) == 1
    told = Event.objects.filter(delivery_id=row.id).order_by("seq").values_list("reason", flat=True)
    assert "do_not_disturb" in told


def test_a_timezone_that_changed_meanwhile_counts_at_the_release(
    maria: Person, take: Accept
) -> None:
    now = clock.now()
    _wish(maria, quiet_hours=[_around(now, hours=3)])
    [row] = deliveries_of(take(ttl_seconds=6 * 3600))
    deliver.deliver([row.id])
    Person.objects.filter(pk=maria.pk).update(timezone="Etc/GMT+2")  # it is two hours earlier there
    _wish(maria, quiet_hours=[_around(now - 2 * HOUR, hours=1)])
    _make_due(row.id)
    sweep.run_once(now=clock.now(), limit=10)
    deliver.deliver([row.id])
    assert _status(row.id) == (Status.SCHEDULED, "quiet_hours")
    due_at = _now(row.id).due_at
    assert due_at is not None
    assert due_at <= now + HOUR + conf.current().release_ramp + SECOND


def test_what_expires_in_the_quiet_says_so_when_it_does(maria: Person, take: Accept) -> None:
    _wish(maria, quiet_hours=[_around(clock.now())])
    [row] = deliveries_of(take(ttl_seconds=60))
    deliver.deliver([row.id])
    held = _now(row.id)
    expires_at = Notification.objects.get(id=row.notification_id).expires_at
    assert held.due_at is not None
    assert abs(held.due_at - expires_at) < SECOND
    past = transaction_now() - SECOND
    Notification.objects.filter(id=row.notification_id).update(expires_at=past)
    Delivery.objects.filter(id=row.id).update(due_at=past)
    deliver.deliver([row.id])
    assert _status(row.id) == (Status.EXPIRED, "ttl_passed_in_quiet_hours")


@pytest.mark.parametrize(
    ("priority", "known", "status"),
    [
        ("P3", {}, Status.SCHEDULED),
        ("P3", {"phone_timezone": "Asia/Tokyo"}, Status.SENT),
        ("P3", {"timezone": "Asia/Tokyo"}, Status.SENT),
        ("P2", {}, Status.SENT),
    ],
)
def test_marketing_waits_for_the_producers_day_where_nobody_knows_the_persons(
    reach: Reach, take: Accept, priority: str, known: dict[str, str], status: Status
) -> None:
    person = reach(email="maria@sandbox.example")
    Person.objects.filter(pk=person.pk).update(**{"timezone": "", **known})
    now = clock.now()
    Producer.objects.update(
        timezone="UTC",
        day_begins=(now + 2 * HOUR).time().replace(second=0, microsecond=0),
        day_ends=(now + 3 * HOUR).time().replace(second=0, microsecond=0),
    )
    producer_windows.forget()
    [row] = deliveries_of(take(priority=priority))
    deliver.deliver([row.id])
    assert _status(row.id) == (status, "producers_night" if status is Status.SCHEDULED else "")


def test_a_hundred_that_wait_for_one_instant_are_spread(maria: Person, take: Accept) -> None:
    _wish(maria, do_not_disturb_until=clock.now() + HOUR)
    rows = [deliveries_of(take())[0].id for _ in range(100)]
    deliver.deliver(rows)
    due_at = list(Delivery.objects.filter(id__in=rows).values_list("due_at", flat=True))
    moments = sorted(each for each in due_at if each is not None)
    ramp = conf.current().release_ramp
    assert ramp / 2 < moments[-1] - moments[0] < ramp
    assert len({moment.replace(microsecond=0) for moment in moments}) > 30


def test_the_sweep_releases_batch_after_batch_what_was_due_first(
    maria: Person, take: Accept
) -> None:
    _wish(maria, do_not_disturb_until=clock.now() + HOUR)
    rows = [deliveries_of(take())[0].id for _ in range(15)]
    deliver.deliver(rows)
    past = clock.now() - HOUR
    shuffled = [*rows[8:], *rows[:8]]
    for place, delivery_id in enumerate(shuffled):
        Delivery.objects.filter(id=delivery_id).update(due_at=past + place * SECOND)
    sweep.run_once(now=clock.now(), limit=2)
    assert not Delivery.objects.filter(id__in=rows, status=Status.SCHEDULED).exists()
    released = Event.objects.filter(delivery_id__in=rows, reason="hold_over").order_by("seq")
    order = [each.delivery_id for each in released[:8]]
    batches = [set(order[start : start + 2]) for start in range(0, 8, 2)]
    assert batches == [set(shuffled[start : start + 2]) for start in range(0, 8, 2)]


@pytest.mark.usefixtures("maria")
def test_the_first_gate_decides_about_a_delivery_and_no_later_gate_sees_it(take: Accept) -> None:
    rows = [row for _ in range(4) for row in deliveries_of(take(priority="P2"))]
    loaded = batch.load(claims.claim([row.id for row in rows], now=clock.now()))
    cancelled, expired, listed, free = loaded.deliveries
    past = loaded.now - SECOND
    for claimed in (cancelled, expired):
        claimed.notification = claimed.notification._replace(expires_at=past)
    cancelled.notification = cancelled.notification._replace(is_cancelled=True)
    for claimed in (cancelled, listed):
        claimed.destination = claimed.destination._replace(is_suppressed=True)
    found = gates.objections(loaded.deliveries, now=loaded.now)
    assert [(claimed, decision.reason) for claimed, decision in found] == [
        (cancelled, Reason.CANCELLED),
        (expired, Reason.TTL_PASSED),
        (listed, Reason.SUPPRESSION_LIST),
    ]
    assert gates.objections([free], now=loaded.now) == []
