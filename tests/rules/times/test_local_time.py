"""A wall time is one instant, also where the clock jumps."""

from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.times import local_time

ZONES = st.sampled_from(sorted(zoneinfo.available_timezones()))
WALLS = st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2035, 12, 31))  # noqa: DTZ001 - walls


def _first(wall: str, zone: str) -> str:
    found = local_time.first(dt.datetime.fromisoformat(wall), zone=local_time.zone(zone))
    return found.isoformat()


@pytest.mark.parametrize(
    ("wall", "zone", "instant"),
    [
        ("2026-01-15T07:00", "Europe/Berlin", "2026-01-15T06:00:00+00:00"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00:00+00:00"),  # skipped: 03:00
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00+00:00"),  # twice: the first
        ("2026-09-06T00:00", "America/Santiago", "2026-09-06T04:00:00+00:00"),  # no midnight
        ("2011-12-30T09:00", "Pacific/Apia", "2011-12-30T10:00:00+00:00"),  # a day that never was
        ("2026-10-04T02:10", "Australia/Lord_Howe", "2026-10-03T15:30:00+00:00"),  # half an hour
    ],
)
def test_what_a_clock_shows_is_one_instant(wall: str, zone: str, instant: str) -> None:
    assert _first(wall, zone) == instant


def test_the_last_of_two_is_an_hour_after_the_first() -> None:
    berlin, wall = local_time.zone("Europe/Berlin"), dt.datetime.fromisoformat("2026-10-25T02:30")
    first, last = local_time.first(wall, zone=berlin), local_time.last(wall, zone=berlin)
    assert last - first == dt.timedelta(hours=1)


@given(ZONES, WALLS)
def test_it_shows_that_time_or_the_first_one_after_a_gap(name: str, wall: dt.datetime) -> None:
    zone = local_time.zone(name)
    found = local_time.first(wall, zone=zone)
    shown = found.astimezone(zone).replace(tzinfo=None)
    assert shown >= wall
    if shown > wall:
        before = (found - dt.timedelta(seconds=1)).astimezone(zone).replace(tzinfo=None)
        assert before < wall


@given(ZONES, st.lists(WALLS, min_size=2, max_size=2))
def test_a_later_wall_time_is_no_earlier_instant(name: str, walls: list[dt.datetime]) -> None:
    zone = local_time.zone(name)
    earlier, later = sorted(walls)
    assert local_time.first(earlier, zone=zone) <= local_time.first(later, zone=zone)
    assert local_time.last(earlier, zone=zone) <= local_time.last(later, zone=zone)


def test_a_time_that_comes_twice_is_used_once() -> None:
    # After the first 02:30, before the second.
    between = dt.datetime(2026, 10, 25, 0, 45, tzinfo=dt.UTC)
    berlin = local_time.zone("Europe/Berlin")
    following = local_time.next_time(dt.time(2, 30), zone=berlin, after=between)
    assert following.isoformat() == "2026-10-26T02:30:00"


@given(ZONES, WALLS, st.times().map(lambda each: each.replace(second=0, microsecond=0)))
def test_the_next_time_is_ahead_and_what_the_wall_shows_or_just_after_a_gap(
    name: str, moment: dt.datetime, time: dt.time
) -> None:
    zone, after = local_time.zone(name), moment.replace(tzinfo=dt.UTC)
    wall = local_time.next_time(time, zone=zone, after=after)
    instant = local_time.first(wall, zone=zone)
    assert dt.timedelta(0) < instant - after <= dt.timedelta(hours=26)
    shown = instant.astimezone(zone).replace(tzinfo=None)
    before = (instant - dt.timedelta(seconds=1)).astimezone(zone).replace(tzinfo=None)
    assert shown == wall or before < wall < shown


def test_a_zone_that_is_not_known_any_more_is_utc() -> None:
    assert local_time.zone("Europe/Atlantis") is dt.UTC
    assert not local_time.is_zone("Europe/Atlantis")
