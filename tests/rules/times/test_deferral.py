"""Who waits, for what, and how those who wait for one instant are spread."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.times import deferral
from notifications.core.rules.times.deferral import Deferral, ProducerDay, Wishes
from notifications.core.rules.times.quiet_hours import Window
from providers.contract import Channel

NIGHT = Window(start=dt.time(22), end=dt.time(7))
SAO_PAULO = ProducerDay(timezone="America/Sao_Paulo")
RAMP = dt.timedelta(minutes=5)


def _utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def _wait(
    now: str, wishes: Wishes, *, priority: Priority = Priority.P3, day: ProducerDay = SAO_PAULO
) -> Deferral | None:
    return deferral.deferral(wishes, priority=priority, day=day, now=_utc(now))


@pytest.mark.parametrize("priority", [Priority.P1, Priority.P2, Priority.P3])
def test_quiet_hours_hold_all_but_the_most_urgent(priority: Priority) -> None:
    wishes = Wishes(channel=Channel.PUSH, timezone="Europe/Berlin", windows=(NIGHT,))
    found = _wait("2026-11-20T23:00", wishes, priority=priority)
    assert found == Deferral(_utc("2026-11-21T06:00"), Reason.QUIET_HOURS)
    assert _wait("2026-11-20T23:00", wishes, priority=Priority.P0) is None


def test_who_does_not_want_to_be_disturbed_is_not_woken_at_its_end_either() -> None:
    wishes = Wishes(
        channel=Channel.PUSH,
        timezone="Europe/Berlin",
        windows=(NIGHT,),
        do_not_disturb_until=_utc("2026-11-20T22:30"),
    )
    found = _wait("2026-11-20T15:00", wishes, priority=Priority.P1)
    assert found == Deferral(_utc("2026-11-21T06:00"), Reason.DO_NOT_DISTURB)
    later = _wait("2026-11-20T22:30", wishes, priority=Priority.P1)
    assert later == Deferral(_utc("2026-11-21T06:00"), Reason.QUIET_HOURS)


def test_marketing_to_an_unknown_timezone_goes_by_the_producers_day() -> None:
    unknown = Wishes(channel=Channel.EMAIL, timezone="")
    morning = Deferral(_utc("2026-11-21T11:00"), Reason.PRODUCERS_NIGHT)
    assert _wait("2026-11-21T03:00", unknown) == morning
    assert _wait("2026-11-21T12:00", unknown) is None
    assert _wait("2026-11-21T03:00", unknown, priority=Priority.P2) is None
    around_the_clock = ProducerDay(begins=dt.time(8), ends=dt.time(8))
    assert _wait("2026-11-21T03:00", unknown, day=around_the_clock) is None
    known = Wishes(channel=Channel.EMAIL, timezone="Asia/Tokyo")
    assert _wait("2026-11-21T03:00", known) is None


def test_quiet_hours_of_an_unknown_timezone_are_read_by_the_producers_clock() -> None:
    unknown = Wishes(channel=Channel.EMAIL, timezone="", windows=(NIGHT,))
    found = _wait("2026-11-21T03:00", unknown, priority=Priority.P2)
    assert found == Deferral(_utc("2026-11-21T10:00"), Reason.QUIET_HOURS)


@given(st.integers(0, 2**62 - 1), st.timedeltas(dt.timedelta(0), dt.timedelta(hours=1)))
def test_a_place_lies_on_the_ramp_and_is_the_same_for_all_devices(
    entropy: int, ramp: dt.timedelta
) -> None:
    one = ids.notification_id(at_ms=1_800_000_000_000, entropy=entropy)
    place = deferral.place_on(ramp, priority=Priority.P2, notification_id=one)
    assert dt.timedelta(0) <= place <= ramp
    device = ids.delivery_id(one, 3)
    assert deferral.place_on(ramp, priority=Priority.P2, notification_id=device) == place
    urgent = deferral.place_on(ramp, priority=Priority.P1, notification_id=one)
    assert urgent == dt.timedelta(0)


def test_a_ramp_is_used_evenly() -> None:
    minutes = [0] * 5
    for number in range(5_000):
        one = ids.notification_id(at_ms=1_800_000_000_000 + number, entropy=number * 0x9E3779B97F4A)
        place = deferral.place_on(RAMP, priority=Priority.P3, notification_id=one)
        minutes[place // dt.timedelta(minutes=1)] += 1
    assert all(900 <= count <= 1_100 for count in minutes)
