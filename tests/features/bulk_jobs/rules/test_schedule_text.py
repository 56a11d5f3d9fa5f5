"""Schedules of bulk jobs in words."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from notifications.features.bulk_jobs.rules import schedule_text
from notifications.features.bulk_jobs.rules.schedule_text import Schedule

NOW = dt.datetime(2026, 11, 20, 12, 30, tzinfo=dt.UTC)  # a Friday
MONDAY = dt.datetime(2026, 11, 23, 9, 0)  # noqa: DTZ001 - a wall clock time
TEN_HOURS = 36_000


def said(count: int | None = 5_000_000, **given: object) -> str:
    return schedule_text.sentences(Schedule(**given), count=count, now=NOW)  # type: ignore[arg-type]  # the test's own fields


def test_the_schedule_on_each_clock_names_the_rate_and_the_end() -> None:
    text = said(send_at_local=MONDAY, spread_seconds=TEN_HOURS)
    assert text.startswith("Starts on Monday 09:00 on each recipient's clock; ")
    assert text.endswith(" About 500,000 an hour for 10 h, ends about 19:00 on the same clocks.")


def test_a_time_without_a_date_is_the_next_of_each_clock() -> None:
    text = said(3_600, send_at_local=dt.time(23, 30), rate_per_second=1)
    assert text.startswith("Starts at the next 23:30 on each recipient's clock. ")
    assert text.endswith("for 1 h, ends about 00:30 on the same clocks, 1 day later.")


def test_a_rate_gives_the_duration() -> None:
    text = said(36_000, starts_at=MONDAY.replace(tzinfo=dt.UTC), rate_per_second=10)
    assert text == "Starts on Monday 09:00 UTC. About 36,000 an hour for 1 h, ends about 10:00 UTC."


def test_a_start_in_the_past_is_a_start_now_and_the_end_follows_from_now() -> None:
    text = said(3_600, starts_at=NOW - dt.timedelta(days=9), rate_per_second=1)
    assert text == "Starts now. 60 a minute for 1 h, ends about 13:30 UTC."


def test_a_job_that_has_started_has_no_end_from_its_plan() -> None:
    began = {"started_at": NOW - dt.timedelta(hours=1)}
    assert said(3_600, rate_per_second=1, **began) == (
        "Started on Friday 20 November 2026 11:30 UTC. 60 a minute at most."
    )
    assert said(3_600, spread_seconds=3_600, **began).endswith(" 60 a minute for 1 h.")


def test_an_end_on_another_day_names_the_day() -> None:
    assert said(spread_seconds=TEN_HOURS * 2).endswith("ends about Saturday 08:30 UTC.")


def test_a_day_a_week_away_has_its_date() -> None:
    far = NOW + dt.timedelta(days=14)
    assert said(None, starts_at=far).startswith("Starts on Friday 4 December 2026 12:30 UTC.")


def test_an_unknown_size_has_no_invented_end() -> None:
    assert said(None, rate_per_second=10) == "Starts now. About 36,000 an hour at most."
    assert "ends about 22:30 UTC" in said(None, spread_seconds=TEN_HOURS)


def test_a_test_group_comes_first_and_delays_the_end() -> None:
    text = said(3_600, rate_per_second=1, test_group_size=100, test_group_seconds=1_800)
    assert "The first 100 recipients are a test group; the others follow 30 min later." in text
    assert text.endswith("ends about 14:00 UTC.")


@pytest.mark.parametrize(
    "given",
    [
        {"rate_per_second": 1e-12},
        {"rate_per_second": 5e-324},
        {"spread_seconds": 3_600_000_000_000},
        {
            "send_at_local": dt.datetime.max.replace(tzinfo=dt.UTC).replace(tzinfo=None),
            "spread_seconds": 3_600,
        },
        {"starts_at": dt.datetime.max.replace(tzinfo=dt.UTC), "rate_per_second": 1},
    ],
)
def test_an_end_after_the_last_year_is_said(given: dict[str, Any]) -> None:
    assert said(**given).endswith(", ends after the year 9999.")


def test_no_rate_is_said() -> None:
    assert said().endswith("as fast as the providers of the lane take messages.")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0 s"), (20, "20 s"), (60, "1 min"), (90, "1 min 30 s"), (3_599, "59 min 59 s")),
        *((3_600, "1 h"), (36_000, "10 h"), (86_399, "24 h"), (86_400, "1 day")),
        *((183_600, "2 days 3 h"), (172_800.4, "2 days")),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert schedule_text.duration(seconds) == text


@pytest.mark.parametrize(
    ("per_second", "text"),
    [
        *((0.001, "3.6 an hour"), (0.5, "30 a minute"), (1, "60 a minute")),
        *((138.9, "about 500,000 an hour"), (2_000, "about 7,200,000 an hour")),
    ],
)
def test_rates(per_second: float, text: str) -> None:
    assert schedule_text.rate(per_second) == text


def test_a_ceiling_of_the_installation_is_named_where_it_makes_a_job_slower() -> None:
    ceiling = 500_000 / 3_600
    for given in ({}, {"rate_per_second": 5_000}, {"spread_seconds": 3_600}):
        assert said(ceiling=ceiling, **given) == (
            "Starts now. About 500,000 an hour for 10 h, ends about 22:30 UTC."
            " No bulk job of this installation is faster than about 500,000 an hour."
        )
    assert "No bulk job" not in said(ceiling=ceiling, rate_per_second=10)
