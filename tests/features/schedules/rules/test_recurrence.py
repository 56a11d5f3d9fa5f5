"""Rules that are taken, rules that are not, and when they occur."""

from __future__ import annotations

import datetime as dt
import time
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from notifications.features.schedules.rules.recurrence import BadRule, occurrences, parse

BERLIN = ZoneInfo("Europe/Berlin")


def _utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def _times(rule: str, *, begins: str, after: str = "", count: int = 3) -> list[str]:
    every = occurrences(parse(rule), begins=_utc(begins), zone=BERLIN, after=_utc(after or begins))
    return [f"{at:%Y-%m-%dT%H:%M}" for _, at in islice(every, count)]


def test_nine_stays_nine_when_the_clocks_change() -> None:
    assert _times("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;WKST=MO", begins="2026-03-28T00:00") == [
        *("2026-03-28T08:00", "2026-03-29T07:00", "2026-03-30T07:00")
    ]


def test_what_the_clocks_skip_comes_after_and_what_they_show_twice_comes_once() -> None:
    skipped = _times("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", begins="2026-03-28T12:00", count=2)
    assert skipped == ["2026-03-29T01:00", "2026-03-30T00:30"]
    twice = _times("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", begins="2026-10-24T12:00", count=2)
    assert twice == ["2026-10-25T00:30", "2026-10-26T01:30"]


@pytest.mark.parametrize(
    ("rule", "times"),
    [
        ("FREQ=MINUTELY;INTERVAL=7", ["2026-01-05T08:01", "2026-01-05T08:08"]),
        ("FREQ=WEEKLY;INTERVAL=2", ["2026-01-15T08:00", "2026-01-29T08:00"]),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["2026-01-30T08:00", "2026-02-27T08:00"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", ["2028-02-29T08:00", "2032-02-29T08:00"]),
        ("RRULE:FREQ=DAILY;COUNT=735", ["2026-01-06T08:00"]),
    ],
)
def test_counting_starts_near_the_asked_instant(rule: str, times: list[str]) -> None:
    begins = "2024-01-04T08:00" if "COUNT" not in rule else "2024-01-03T08:00"
    assert _times(rule, begins=begins, after="2026-01-05T08:00", count=2) == times


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("FREQ=SECONDLY", "each minute"),
        ("FREQ=DAILY;BYSECOND=1", "not taken"),
        ("FREQ=DAILY;UNTIL=20300101T000000Z", "not taken"),
        ("FREQ=DAILY;COUNT=9999", "COUNT"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL"),
        ("FREQ=DAILY;FREQ=DAILY", "twice"),
        ("FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30", "surely"),
        ("FREQ=DAILY;INTERVAL=7;BYDAY=MO", "never meet"),
        ("FREQ=MONTHLY;INTERVAL=12;BYMONTH=2", "never meet"),
        ("FREQ=DAILY;BYHOUR=24", "between"),
        ("FREQ=DAILY;BYDAY=1MO", "MONTHLY"),
        ("FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1", "never meet"),
        ("FREQ=YEARLY;BYDAY=1MO;BYMONTHDAY=31", "never meet"),
        ("FREQ=MONTHLY;BYDAY=-1MO;BYMONTHDAY=1,2,3,4,5,6,7,8,9", "never meet"),
        ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS"),
        ("BYDAY=MO", "FREQ is missing"),
        ("", "not taken"),
        ("FREQ=DAILY\nDTSTART:19970902T090000", "FREQ"),
        ("FREQ=DAILY;BYHOUR=" + ",".join(["1"] * 500), "characters"),
    ],
)
def test_what_is_refused(rule: str, why: str) -> None:
    with pytest.raises(BadRule, match=why):
        parse(rule)


PARTS = {
    "INTERVAL": ["1", "2", "7", "12", "1000"],
    "BYMONTH": ["2", "4,9", "12"],
    "BYMONTHDAY": ["29", "31", "-1", "30,31"],
    "BYDAY": ["MO", "SA,SU", "5FR"],
    "BYHOUR": ["0", "2", "9,17"],
    "BYMINUTE": ["0", "30"],
    "BYSETPOS": ["1", "-1"],
    "COUNT": ["1", "1000"],
}


@given(
    frequency=st.sampled_from(["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
    parts=st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in PARTS.items()}
    ),
    begins=st.sampled_from(["2024-02-29T01:30", "2025-12-31T23:00", "2026-06-15T07:00"]),
)
def test_of_what_is_taken_the_next_times_are_soon_found(
    frequency: str, parts: dict[str, str], begins: str
) -> None:
    text = ";".join([f"FREQ={frequency}", *(f"{name}={value}" for name, value in parts.items())])
    try:
        rule = parse(text)
        found = list(
            islice(occurrences(rule, begins=_utc(begins), zone=BERLIN, after=_utc("2026-08-01")), 5)
        )
    except ValueError:
        return
    instants = [at for _, at in found]
    assert instants == sorted(set(instants))
    assert all(at > _utc("2026-08-01") for at in instants)


@pytest.mark.parametrize(
    ("rule", "begins"),
    [
        ("FREQ=MONTHLY;BYDAY=MO,SA,SU", "1970-01-31T09:00+00:00"),
        ("FREQ=MONTHLY", "1971-10-31T09:00+00:00"),
        ("FREQ=MONTHLY;INTERVAL=5", "1999-08-31T09:00+00:00"),
        ("FREQ=YEARLY;BYDAY=2TU", "1970-12-31T09:00+00:00"),
        ("FREQ=YEARLY;INTERVAL=3", "1972-02-29T09:00+00:00"),
        ("FREQ=YEARLY;BYMONTH=1,11;BYMONTHDAY=-1,19", "1970-11-21T09:00+00:00"),
    ],
)
def test_months_and_years_are_counted_from_a_near_beginning_too(rule: str, begins: str) -> None:
    after = _utc("2026-11-18T00:00+00:00")
    whole = rrulestr(rule, dtstart=_utc(begins)).xafter(after, count=6)
    near = islice(
        occurrences(parse(rule), begins=_utc(begins), zone=ZoneInfo("UTC"), after=after), 6
    )
    assert [at for _, at in near] == list(whole)


@pytest.mark.parametrize("frequency", ["MONTHLY", "YEARLY"])
def test_each_minute_of_decades_is_not_counted_again(frequency: str) -> None:
    hours, minutes = ",".join(map(str, range(24))), ",".join(map(str, range(60)))
    rule = f"FREQ={frequency};BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={hours};BYMINUTE={minutes}"
    began = time.process_time()
    [found] = _times(rule, begins="1970-01-01T00:00+00:00", after="2026-11-21T00:00+00:00", count=1)
    assert found.startswith("2026-11-2")
    assert (
        time.process_time() - began < 5.0
    )  # a slow processor needs one; it took six seconds on a fast one
