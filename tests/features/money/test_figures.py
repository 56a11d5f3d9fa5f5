"""The forecast of a month's cost, by its stated method."""

from __future__ import annotations

import datetime as dt

from notifications.features.money.figures import forecast

NOON = dt.datetime(2026, 6, 10, 12, tzinfo=dt.UTC)
"""A Wednesday; 20 further days follow."""
DAY = dt.timedelta(days=1)


def test_without_history_the_month_costs_what_it_has_cost() -> None:
    assert forecast({}, now=NOON) == 0
    assert forecast({NOON.date(): 500}, now=NOON) == 500


def test_a_week_of_history_gives_one_mean_for_all_days() -> None:
    costs = {NOON.date() - back * DAY: 700 for back in range(1, 8)}
    assert forecast(costs, now=NOON) == 7 * 700 + 350 + 20 * 700


def test_four_weeks_of_history_give_a_mean_for_each_weekday() -> None:
    costs = {}
    for back in range(1, 29):
        day = NOON.date() - back * DAY
        costs[day] = 1_000 if day.weekday() == 0 else 0
    mondays_so_far, mondays_to_come = 2, 3  # 1st and 8th; 15th, 22nd and 29th
    assert forecast(costs, now=NOON) == 1_000 * (mondays_so_far + mondays_to_come)


def test_the_last_day_of_a_month_counts_the_rest_of_the_day_alone() -> None:
    evening = dt.datetime(2026, 6, 30, 18, tzinfo=dt.UTC)
    costs = {evening.date() - back * DAY: 400 for back in range(1, 8)}
    assert forecast(costs, now=evening) == 7 * 400 + 100
