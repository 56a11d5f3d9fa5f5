"""Print a report: `manage.py report daily`."""

from __future__ import annotations

import datetime as dt
import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Final

from django.core.management.base import BaseCommand, CommandError

from notifications.core import clock
from notifications.core.figures.questions import QuestionError
from notifications.features.analytics import daily_report

_FIRST: Final = dt.date(2000, 1, 1)


def _day(text: str) -> dt.date:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no day; write a day such as 2026-05-01") from None
    if not _FIRST <= day <= clock.now().date():
        raise ArgumentTypeError(f"{text} is not a day from {_FIRST} to today")
    return day


class Command(BaseCommand):
    """`manage.py report daily [--day DAY] [--json | --csv]`."""

    help = "Print the traffic, failures, cost, latency, dead letters and alerts of a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("report", choices=["daily"])
        parser.add_argument("--day", type=_day, help="a day of UTC; default: yesterday")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_const", const="json", dest="form")
        form.add_argument("--csv", action="store_const", const="csv", dest="form")

    def handle(self, *, day: dt.date | None, form: str | None, **_: object) -> None:
        """Print the report.

        Raises:
            CommandError: the roll-ups of the day are no longer kept.
        """
        now = clock.now()
        chosen = day or now.date() - dt.timedelta(days=1)
        try:
            report = daily_report.build(chosen, now=now)
        except QuestionError as error:
            raise CommandError(f"There is no report of {chosen}: {error}.") from error
        match form:
            case "json":
                self.stdout.write(json.dumps(daily_report.as_json(report), indent=2))
            case "csv":
                self.stdout.write("".join(daily_report.as_csv(report)), ending="")
            case _:
                self.stdout.write(daily_report.as_text(report), ending="")
