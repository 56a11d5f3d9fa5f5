"""Start times of a job on the recipients' wall clocks, at midnight and at clock changes."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.times import local_time
from notifications.features.bulk_jobs.rules import zones

_ALL = sorted(local_time.names())


def _at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def _starts(local: str, names: list[str], after: str) -> dict[str, list[str]]:
    found = zones.starts(local, names, after=_at(after), unknown="America/Sao_Paulo")
    return {f"{at:%Y-%m-%dT%H:%M}": each for at, each in found.items()}


def test_zones_with_the_same_time_share_a_start_and_a_passed_time_is_on_the_next_day() -> None:
    names = ["Europe/Berlin", "Europe/Madrid", "Asia/Tokyo", "America/New_York"]
    assert _starts("09:00", names, "2026-11-23T05:00") == {
        "2026-11-23T08:00": ["Europe/Berlin", "Europe/Madrid"],
        "2026-11-23T14:00": ["America/New_York"],
        "2026-11-24T00:00": ["Asia/Tokyo"],
    }


def test_recipients_without_a_timezone_get_the_producers() -> None:
    assert _starts("09:00", [""], "2026-11-23T05:00") == {"2026-11-23T12:00": [""]}


def test_the_time_of_a_date_that_has_passed_in_a_zone_is_on_the_next_day() -> None:
    names = ["Asia/Tokyo", "Europe/Berlin"]
    assert _starts("2026-11-23T09:00", names, "2026-11-23T05:00") == {
        "2026-11-23T08:00": ["Europe/Berlin"],
        "2026-11-24T00:00": ["Asia/Tokyo"],
    }


@pytest.mark.parametrize(
    ("local", "after", "start"),
    [
        ("02:30", "2026-03-28T23:59", "2026-03-29T01:00"),  # the clock skips 02:00 to 03:00
        ("02:30", "2026-10-24T23:59", "2026-10-25T00:30"),  # the clock shows 02:30 twice
        ("02:30", "2026-10-25T00:30", "2026-10-26T01:30"),  # not again at the second 02:30
        ("00:00", "2026-12-31T22:59", "2026-12-31T23:00"),
        ("00:00", "2026-12-31T23:00", "2027-01-01T23:00"),
    ],
)
def test_clock_changes_and_midnight_in_berlin(local: str, after: str, start: str) -> None:
    assert _starts(local, ["Europe/Berlin"], after) == {start: ["Europe/Berlin"]}


@given(
    local=st.times().map(lambda time: f"{time:%H:%M}"),
    after=st.datetimes(
        min_value=dt.datetime(2026, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
        max_value=dt.datetime(2027, 1, 1),  # noqa: DTZ001 - as above
        timezones=st.just(dt.UTC),
    ),
    names=st.lists(st.sampled_from(_ALL), min_size=1, max_size=20, unique=True),
)
def test_each_zone_has_a_single_start_within_two_days(
    local: str, after: dt.datetime, names: list[str]
) -> None:
    found = zones.starts(local, names, after=after, unknown="UTC")
    assert sorted(name for each in found.values() for name in each) == sorted(names)
    assert list(found) == sorted(found)
    assert all(after < at <= after + dt.timedelta(days=2) for at in found)


def test_a_date_has_passed_behind_the_last_clock_of_the_world() -> None:
    now = _at("2026-11-23T09:59")  # on Baker Island 21:59 of the day before
    times = ["2026-11-23T09:00", "2026-11-22T22:00", "2026-11-22T21:59", "00:00"]
    assert [each for each in times if zones.has_passed(each, now=now)] == ["2026-11-22T21:59"]
