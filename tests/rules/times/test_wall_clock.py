"""The instant of a time on the wall."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.rules.times.wall_clock import instant_of, next_time

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = dt.timedelta(minutes=1)
ZONES = sorted(zoneinfo.available_timezones())


def _utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("zone", "local", "instant"),
    [
        ("Europe/Berlin", "2026-07-01T09:00", "2026-07-01T07:00"),
        ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00"),  # skipped: 03:00
        ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30"),  # twice: the first
        ("America/Santiago", "2026-09-06T00:30", "2026-09-06T04:00"),  # a gap at midnight
        ("Pacific/Apia", "2011-12-30T09:00", "2011-12-30T10:00"),  # a day that never was
    ],
)
def test_the_instant_of_a_local_time(zone: str, local: str, instant: str) -> None:
    assert instant_of(dt.datetime.fromisoformat(local), ZoneInfo(zone)) == _utc(instant)


def test_a_time_that_comes_twice_is_used_once() -> None:
    between = _utc("2026-10-25T00:45")  # after the first 02:30, before the second
    assert next_time(dt.time(2, 30), BERLIN, after=between).isoformat() == "2026-10-26T02:30:00"


@given(
    zone=st.sampled_from(ZONES),
    after=st.integers(0, 15 * 366 * 24 * 60).map(lambda each: _utc("2020-01-01") + each * MINUTE),
    time=st.times().map(lambda each: each.replace(second=0, microsecond=0)),
)
def test_the_next_time_is_ahead_and_what_the_wall_shows_or_just_after_a_gap(
    zone: str, after: dt.datetime, time: dt.time
) -> None:
    clocks = ZoneInfo(zone)
    local = next_time(time, clocks, after=after)
    instant = instant_of(local, clocks)
    assert dt.timedelta(0) < instant - after <= dt.timedelta(hours=26)
    shown = instant.astimezone(clocks).replace(tzinfo=None)
    before = (instant - dt.timedelta(seconds=1)).astimezone(clocks).replace(tzinfo=None)
    assert shown == local or before < local < shown
