"""A hold by a recipient's settings ends when the settings change, within one run of the sweep."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import pytest
from django.db import connection, transaction

from notifications.core import clock, conf
from notifications.core.delivery import deliver
from notifications.core.feedback import preference_changes
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.models import Delivery, HoldCheck, Preference, Producer, Recipient
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SETTLED_AFTER
from notifications.core.store.cached import producer_windows
from notifications.core.store.postgres import partitions
from notifications.core.store.postgres.hold_checks import HoldCheckDue, Row
from notifications.core.sweeps import hold_checks, release, rounds
from providers.contract import Channel
from tests.journey import Accept, Reach, caller, deliveries_of, outbox, reach, take

__all__ = ["caller", "outbox", "reach", "take"]
HOUR: Final = dt.timedelta(hours=1)
DAY: Final = dt.timedelta(days=1)
QUIET: Final = (Status.SCHEDULED, "quiet_hours")
SENT: Final = (Status.SENT, "")

pytestmark = pytest.mark.usefixtures("outbox")


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings = replace(conf.current(), caps={})
    monkeypatch.setattr(conf, "current", lambda: settings)
    producer_windows.forget()
    yield
    producer_windows.forget()


@pytest.fixture
def maria(reach: Reach) -> Recipient:
    """Somebody with a mailbox and a phone, in UTC."""
    return reach(email="maria@sandbox.example", push="maria-phone")


def _window(*, until: dt.timedelta, channels: tuple[str, ...] = ()) -> dict[str, object]:
    """Quiet hours that began an hour ago."""
    now = clock.now()
    return {
        "start": f"{now - HOUR:%H:%M}",
        "end": f"{now + until:%H:%M}",
        "channels": list(channels),
        "days": [],
    }


def _change(person: Recipient, *, profile: dict[str, str] | None = None, **columns: object) -> None:
    change = PreferenceChange(columns=columns, profile=profile or {})
    preference_changes.change(person, change, by="test", by_recipient=True)


def _held(take: Accept, **fields: object) -> UUID:
    """Accept and deliver a message that the settings hold."""
    [row] = deliveries_of(take(**{"priority": "P2", "ttl_seconds": 86_400, **fields}))
    deliver.deliver([row.id])
    assert _status(row.id)[0] is Status.SCHEDULED
    return row.id


def _status(delivery_id: UUID) -> tuple[Status, str]:
    row = Delivery.objects.get(id=delivery_id)
    return Status(row.status), row.reason


def _sweep_and_deliver() -> None:
    release.run_once(now=clock.now(), limit=500)
    queued = Delivery.objects.filter(status=Status.QUEUED).order_by("id")
    deliver.deliver(list(queued.values_list("id", flat=True)))


@pytest.mark.parametrize("priority", ["P1", "P2", "P3"])
def test_a_message_leaves_when_quiet_hours_are_switched_off(
    maria: Recipient, take: Accept, priority: str
) -> None:
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take, priority=priority)
    assert _status(held) == QUIET
    _sweep_and_deliver()
    assert _status(held) == QUIET
    _change(maria, quiet_hours=[])
    _sweep_and_deliver()
    assert _status(held) == SENT


def test_a_message_leaves_when_do_not_disturb_ends_early(maria: Recipient, take: Accept) -> None:
    _change(maria, do_not_disturb_until=clock.now() + 5 * HOUR)
    held = _held(take)
    assert _status(held) == (Status.SCHEDULED, "do_not_disturb")
    _change(maria, do_not_disturb_until=None)
    _sweep_and_deliver()
    assert _status(held) == SENT


def test_quiet_hours_hold_what_do_not_disturb_lets_go(maria: Recipient, take: Accept) -> None:
    later = clock.now() + 5 * HOUR
    _change(maria, do_not_disturb_until=later, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take, priority="P1")
    _change(maria, do_not_disturb_until=None)
    _sweep_and_deliver()
    assert _status(held) == QUIET
    due_at = Delivery.objects.get(id=held).due_at
    assert due_at is not None
    assert due_at < clock.now() + 2 * HOUR


def test_an_earlier_end_of_the_quiet_hours_counts(maria: Recipient, take: Accept) -> None:
    _change(maria, quiet_hours=[_window(until=6 * HOUR)])
    held = _held(take, priority="P1")
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    _sweep_and_deliver()
    assert _status(held) == QUIET
    due_at = Delivery.objects.get(id=held).due_at
    assert due_at is not None
    assert due_at < clock.now() + 2 * HOUR


@pytest.mark.parametrize("column", ["timezone", "phone_timezone"])
def test_a_message_leaves_when_it_is_day_in_the_new_timezone(
    maria: Recipient, take: Accept, column: str
) -> None:
    Recipient.objects.filter(pk=maria.pk).update(timezone="", phone_timezone="UTC")
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take)
    Recipient.objects.filter(pk=maria.pk).update(**{column: "Etc/GMT-8"})  # through any door
    _sweep_and_deliver()
    assert _status(held) == SENT


def test_a_known_timezone_ends_the_producers_night(maria: Recipient, take: Accept) -> None:
    Recipient.objects.filter(pk=maria.pk).update(timezone="")
    now = clock.now()
    begins = (now + 2 * HOUR).time().replace(second=0, microsecond=0)
    ends = (now - HOUR).time().replace(second=0, microsecond=0)
    Producer.objects.update(day_begins=begins, day_ends=ends)
    producer_windows.forget()
    held = _held(take, priority="P3")
    assert _status(held) == (Status.SCHEDULED, "producers_night")
    Recipient.objects.filter(pk=maria.pk).update(timezone="UTC")
    _sweep_and_deliver()
    assert _status(held) == SENT


def test_a_raised_cap_lets_as_many_go_as_it_has_room_for(maria: Recipient, take: Accept) -> None:
    _change(maria, caps={"email": "1/day"})
    [first] = deliveries_of(take(priority="P2"))
    deliver.deliver([first.id])
    held = [_held(take) for _ in range(4)]
    assert {_status(each) for each in held} == {(Status.SCHEDULED, "cap")}
    _change(maria, caps={"email": "3/day"})
    assert hold_checks.end_holds(ends_at=rounds.deadline()).moved == 2
    due = Delivery.objects.filter(id__in=held, due_at__lte=clock.now())
    deliver.deliver(list(due.values_list("id", flat=True)))
    assert sorted(_status(each)[0] for each in held) == [1, 1, Status.SENT, Status.SENT]
    _change(maria, caps={})
    assert hold_checks.end_holds(ends_at=rounds.deadline()).moved == 2


def test_the_first_preference_with_a_cap_counts_too(
    maria: Recipient, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = replace(conf.current(), caps={Channel.EMAIL: Cap(1, DAY)})
    monkeypatch.setattr(conf, "current", lambda: usual)
    deliver.deliver([deliveries_of(take(priority="P2"))[0].id])
    held = _held(take)
    Preference.objects.create(recipient=maria, caps={"email": "9/day"})
    assert hold_checks.end_holds(ends_at=rounds.deadline()).moved == 1
    assert _status(held) == (Status.SCHEDULED, "cap")


def test_a_hold_that_is_right_stays_as_it_is(maria: Recipient, take: Accept) -> None:
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take)
    before = Delivery.objects.get(id=held).due_at
    _change(maria, quiet_hours=[_window(until=2 * HOUR), _window(until=HOUR, channels=("sms",))])
    assert hold_checks.end_holds(ends_at=rounds.deadline()).moved == 0
    assert Delivery.objects.get(id=held).due_at == before


def test_a_hold_that_a_worker_stores_after_the_change_ends_at_the_second_check(
    maria: Recipient, take: Accept
) -> None:
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    late = _held(take)
    left = Delivery.objects.filter(id=late)
    stored = left.values("status", "reason", "due_at").get()
    _change(maria, quiet_hours=[])
    left.update(reason="", due_at=clock.now() + HOUR)  # a worker has it during the first check
    hold_checks.end_holds(ends_at=rounds.deadline())
    left.update(**stored)
    assert hold_checks.end_holds(ends_at=rounds.deadline()).moved == 0
    passed = clock.now() - SETTLED_AFTER
    HoldCheck.objects.update(changed_at=passed, due_at=passed)
    _sweep_and_deliver()
    assert _status(late) == SENT
    assert not HoldCheck.objects.exists()


def test_a_check_costs_nothing_without_a_change_that_can_end_a_hold(
    maria: Recipient,
) -> None:
    _change(maria, channels_off=[Channel.PUSH])
    _change(maria, profile={"locale": "de"})
    _change(maria, profile={"timezone": "UTC"})
    maria.save()
    assert not HoldCheck.objects.exists()


def test_many_held_messages_are_released_page_by_page(
    maria: Recipient, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = [_held(take) for _ in range(5)]
    monkeypatch.setattr(hold_checks, "_PAGE", 2)
    _change(maria, quiet_hours=[])
    ended = rounds.deadline() - 1_000
    assert [hold_checks.end_holds(ends_at=ended).moved for _ in range(4)] == [2, 2, 1, 0]
    assert Delivery.objects.filter(id__in=held, due_at__lte=clock.now()).count() == 5


def test_a_row_of_an_older_day_is_released(maria: Recipient, take: Accept) -> None:
    partitions.ensure(clock.now().date() - 5 * DAY, days=6)
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take)
    older = UUID(int=held.int - (5 * 86_400_000 << 80))
    with connection.cursor() as cursor:
        notification = [str(UUID(int=each.int & ~0xFFF)) for each in (older, held)]
        cursor.execute("UPDATE notification SET id = %s WHERE id = %s", notification)
    Delivery.objects.filter(id=held).update(id=older)
    _change(maria, quiet_hours=[])
    _sweep_and_deliver()
    assert _status(older) == SENT


@pytest.mark.django_db(transaction=True)
def test_a_change_during_the_check_is_checked_anew(
    maria: Recipient, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take)
    _change(maria, quiet_hours=[_window(until=3 * HOUR)])
    checked, changed = threading.Event(), threading.Event()

    def look(check: HoldCheckDue, rows: Sequence[Row], now: dt.datetime) -> list[UUID]:
        checked.set()
        assert changed.wait(30)
        return over(check, rows, now)

    over = hold_checks._over
    monkeypatch.setattr(hold_checks, "_over", look)
    sweep = threading.Thread(target=_check_once)
    sweep.start()
    assert checked.wait(30)
    monkeypatch.setattr(hold_checks, "_over", over)
    _change(maria, quiet_hours=[])
    changed.set()
    sweep.join()
    assert HoldCheck.objects.filter(due_at__lte=clock.now()).exists()
    _sweep_and_deliver()
    assert _status(held) == SENT


def _check_once() -> None:
    try:
        hold_checks.end_holds(ends_at=rounds.deadline() - 1_000)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_change_does_not_wait_for_locked_deliveries(maria: Recipient, take: Accept) -> None:
    _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    held = _held(take)
    locked, changed = threading.Event(), threading.Event()

    def lock() -> None:
        try:
            with transaction.atomic():
                Delivery.objects.select_for_update().get(id=held)
                locked.set()
                assert changed.wait(30)
        finally:
            connection.close()

    other = threading.Thread(target=lock)
    other.start()
    assert locked.wait(30)
    _change(maria, quiet_hours=[])
    changed.set()
    other.join()
    _sweep_and_deliver()
    assert _status(held) == SENT


@pytest.mark.parametrize("is_quiet", [True, False])
def test_a_message_leaves_when_the_preferences_are_deleted(
    maria: Recipient, take: Accept, *, is_quiet: bool
) -> None:
    if is_quiet:
        _change(maria, quiet_hours=[_window(until=2 * HOUR)])
    else:
        _change(maria, do_not_disturb_until=clock.now() + 5 * HOUR)
    held = _held(take)
    _sweep_and_deliver()
    HoldCheck.objects.all().delete()
    Preference.objects.all().delete()
    _sweep_and_deliver()
    assert _status(held) == SENT
