"""Nobody is woken: in any zone, over midnight, through the hours that a zone skips or repeats."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from notifications.core.rules.times import local_time, quiet_hours
from notifications.core.rules.times.quiet_hours import Weekday, Window
from providers.contract import Channel

BERLIN = "Europe/Berlin"
DAY = dt.timedelta(days=1)
NIGHT: dict[str, Any] = {"start": "22:00", "end": "07:00"}


def _windows(*given: dict[str, Any]) -> quiet_hours.Windows:
    return tuple(map(Window.model_validate, given))


def _until(
    now: str, *given: dict[str, Any], zone: str = BERLIN, channel: Channel = Channel.PUSH
) -> str | None:
    """When the quiet ends that a local time lies in, in local time."""
    place = local_time.zone(zone)
    at = dt.datetime.fromisoformat(now).replace(tzinfo=place)
    end = quiet_hours.quiet_until(_windows(*given), channel=channel, zone=zone, now=at)
    return end.astimezone(place).isoformat(timespec="minutes") if end else None


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-11-20T21:59", None),
        ("2026-11-20T22:00", "2026-11-21T07:00+01:00"),
        ("2026-11-21T03:00", "2026-11-21T07:00+01:00"),
        ("2026-11-21T07:00", None),
    ],
)
def test_a_night_is_quiet_from_its_first_instant_until_its_end(now: str, end: str | None) -> None:
    assert _until(now, NIGHT) == end


def test_a_window_belongs_to_the_day_on_which_it_begins() -> None:
    friday = {**NIGHT, "days": ["fri"]}
    assert _until("2026-11-20T23:00", friday) == "2026-11-21T07:00+01:00"
    assert _until("2026-11-21T02:00", friday) == "2026-11-21T07:00+01:00"
    assert _until("2026-11-21T23:00", friday) is None


def test_a_window_quietens_its_channels_alone() -> None:
    push = {**NIGHT, "channels": ["push"]}
    assert _until("2026-11-21T02:00", push) is not None
    assert _until("2026-11-21T02:00", push, channel=Channel.EMAIL) is None


def test_windows_that_touch_are_one_stretch() -> None:
    lie_in = {"start": "07:00", "end": "11:00", "days": ["sat"]}
    assert _until("2026-11-21T02:00", NIGHT, lie_in) == "2026-11-21T11:00+01:00"


def test_a_quiet_weekend_ends_with_its_last_day() -> None:
    weekend = {"start": "00:00", "end": "00:00", "days": ["sat", "sun"]}
    assert _until("2026-11-21T09:00", weekend) == "2026-11-23T00:00+01:00"


@pytest.mark.parametrize(
    ("now", "window", "end"),
    [
        # The clocks go forward from 02:00 to 03:00 ...
        ("2026-03-29T01:00", ("22:00", "02:30"), "2026-03-29T03:00+02:00"),
        ("2026-03-29T03:10", ("02:30", "04:00"), "2026-03-29T04:00+02:00"),
        # ... and back from 03:00 to 02:00: quiet both times.
        ("2026-10-25T01:00", ("22:00", "02:30"), "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:50", ("02:30", "04:00"), "2026-10-25T04:00+01:00"),
    ],
)
def test_an_hour_that_is_skipped_or_repeated(now: str, window: tuple[str, str], end: str) -> None:
    start, until = window
    assert _until(now, {"start": start, "end": until}) == end


def test_what_never_ends_is_asked_again_in_a_week() -> None:
    always = _windows({"start": "00:00", "end": "00:00"})
    now = dt.datetime(2026, 11, 21, 9, tzinfo=dt.UTC)
    end = quiet_hours.quiet_until(always, channel=Channel.SMS, zone="UTC", now=now)
    assert end is not None
    assert now + quiet_hours.LOOK_AHEAD <= end <= now + quiet_hours.LOOK_AHEAD + DAY


ZONES = st.sampled_from(sorted(zoneinfo.available_timezones()))
NOW = st.datetimes(
    dt.datetime(2020, 1, 1),  # noqa: DTZ001 - the zone is given beside
    dt.datetime(2035, 12, 31),  # noqa: DTZ001 - the zone is given beside
    timezones=st.just(dt.UTC),
)
TIMES = st.times().map(lambda time: time.replace(second=0, microsecond=0))
ANY_WINDOW = st.builds(
    Window, start=TIMES, end=TIMES, days=st.sets(st.sampled_from(Weekday)).map(tuple)
)
ANY_WINDOWS = st.lists(ANY_WINDOW, min_size=1, max_size=4).map(tuple)


def _shows_quiet(windows: quiet_hours.Windows, local: dt.datetime) -> bool:
    """Read off a clock on the wall, knowing nothing of instants."""
    wall = local.replace(tzinfo=None)
    for day in (wall.date() - DAY, wall.date()):
        for window in windows:
            begin, end = window.walls(day)
            if window.is_on(day, Channel.SMS) and begin <= wall < end:
                return True
    return False


def _release(windows: quiet_hours.Windows, zone: str, now: dt.datetime) -> dt.datetime:
    end = quiet_hours.quiet_until(windows, channel=Channel.SMS, zone=zone, now=now)
    return end or now


@given(ANY_WINDOWS, ZONES, NOW)
def test_a_release_is_never_inside_a_window(
    windows: quiet_hours.Windows, zone: str, now: dt.datetime
) -> None:
    released = _release(windows, zone, now)
    if released < now + quiet_hours.LOOK_AHEAD:
        assert not _shows_quiet(windows, released.astimezone(local_time.zone(zone)))
        assert _release(windows, zone, released) == released


@given(ANY_WINDOWS, ZONES, NOW, st.timedeltas(dt.timedelta(0), dt.timedelta(days=2)))
def test_what_is_held_later_is_never_released_earlier(
    windows: quiet_hours.Windows, zone: str, now: dt.datetime, later: dt.timedelta
) -> None:
    first, second = (_release(windows, zone, each) for each in (now, now + later))
    # What is quiet beyond the horizon is asked again there, so its end is not yet known.
    assert first <= second or first >= now + quiet_hours.LOOK_AHEAD


@given(ANY_WINDOWS, ZONES, NOW)
def test_all_that_lies_before_a_release_is_quiet(
    windows: quiet_hours.Windows, zone: str, now: dt.datetime
) -> None:
    released = _release(windows, zone, now)
    for part in range(1, 8):
        between = now + (released - now) * part / 8
        assert between >= released or _release(windows, zone, between) >= released


LONGEST = dt.timedelta(hours=20)
"""The rest of a day, for zones that turn back by up to three hours (Antarctica/Casey) and more."""


@given(TIMES, st.timedeltas(dt.timedelta(minutes=1), LONGEST), ZONES, NOW)
def test_a_window_of_less_than_a_day_holds_nothing_for_a_day(
    start: dt.time, length: dt.timedelta, zone: str, now: dt.datetime
) -> None:
    minutes = length // dt.timedelta(minutes=1)
    end = (dt.datetime.combine(dt.date(2024, 1, 1), start) + dt.timedelta(minutes=minutes)).time()
    daily = Window(start=start, end=end)
    assert _release((daily,), zone, now) - now < DAY


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"start": "25:00", "end": "07:00"}, "time of day like 22:00"),
        ({"start": "22:00"}, "Field required"),
        ({**NIGHT, "days": ["someday"]}, "must be one of mon, tue"),
        ({**NIGHT, "channels": ["pigeon"]}, "must be one of push, sms"),
        ({**NIGHT, "loud": True}, "not permitted"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        TypeAdapter(Window).validate_python(wrong)


def test_windows_that_leave_no_minute_are_a_channel_that_is_off() -> None:
    days = {"start": "07:00", "end": "22:00"}
    quiet_hours.check(_windows(NIGHT, {"start": "07:01", "end": "22:00"}))
    with pytest.raises(ValueError, match="no minute of the week for push"):
        quiet_hours.check(_windows(NIGHT, days))
    with pytest.raises(ValueError, match="for sms: switch it off"):
        quiet_hours.check(_windows({**NIGHT, "channels": ["sms"]}, {**days, "channels": ["sms"]}))


def test_windows_are_kept_as_they_were_read() -> None:
    windows = _windows({**NIGHT, "days": ["fri", "sat"], "channels": ["push"]})
    kept = TypeAdapter(list[dict[str, Any]]).dump_json(quiet_hours.to_json(windows)).decode()
    assert quiet_hours.parse_stored(kept) == windows
    assert quiet_hours.parse_stored('[{"start": "late"}]') == ()
