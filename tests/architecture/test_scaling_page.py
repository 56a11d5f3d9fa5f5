"""The simulated day of docs/scaling.md is computed from the code."""

from __future__ import annotations

from notifications.core.rules.lane import Priority
from tests.benchmarks import day, day_plot


def test_the_table_and_the_plot_are_of_the_present_model() -> None:
    hint = "run: python -m tests.benchmarks.day"
    hours = day.simulate()
    page = day.PAGE.read_text()
    assert page == day.text(page, hours), hint
    assert day_plot.svg(hours) == day.PLOT.read_text(), hint
    assert hours[12].ages[Priority.P3] > hours[11].ages[Priority.P3]  # the sale is in it
