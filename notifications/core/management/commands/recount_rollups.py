"""`manage.py recount_rollups --from 2026-03-01 --to 2026-03-07`: count stored events again."""

from __future__ import annotations

import argparse
import datetime as dt
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from notifications.core import clock
from notifications.core.store.postgres import rollups


class Command(BaseCommand):
    """Replaces the roll-ups of whole UTC days by the counts of the stored events.

    Each day is one transaction. Safe to run twice, and while the sweep `rollups` runs: the sweep
    waits, and its events wait with it.
    """

    help = (
        "Replaces the roll-ups of whole UTC days by the counts of the stored events. Events of"
        " erased recipients are gone and count no longer."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare `--from` and `--to`."""
        parser.add_argument(
            "--from", dest="first", type=dt.date.fromisoformat, required=True, help="First UTC day."
        )
        parser.add_argument(
            "--to", dest="last", type=dt.date.fromisoformat, help="Last UTC day; without it, today."
        )

    def handle(self, *, first: dt.date, last: dt.date | None, **_options: Any) -> None:  # noqa: ANN401 - Django's own options
        """Count each day again and report the number of events.

        Raises:
            CommandError: a day without all stored rows, or a sweep that never ran.
        """
        today = clock.now().date()
        last = last or today
        if not first <= last <= today:
            msg = f"--from {first} must be at or before --to {last}, and --to at or before {today}"
            raise CommandError(msg)
        oldest = rollups.oldest_day()
        if oldest is None or first < oldest:
            msg = f"the rows of {first} are deleted; the oldest day with rows is {oldest}"
            raise CommandError(msg)
        wanted = [first + dt.timedelta(days=each) for each in range((last - first).days + 1)]
        incomplete = [day for day in wanted if not rollups.is_complete(day)]
        if incomplete:
            raise CommandError(_incomplete(f"{incomplete[0]} to {incomplete[-1]} have"))
        for day in wanted:
            self.stdout.write(f"{day}: {_recount(day)} events counted")


def _recount(day: dt.date) -> int:
    try:
        return rollups.recount(day)
    except rollups.PositionMissingError as error:
        msg = "the sweep `rollups` has not run yet; its first run begins the count"
        raise CommandError(msg) from error
    except rollups.DayIncompleteError as error:  # a day was dropped since the command began
        raise CommandError(_incomplete(f"{day} has")) from error


def _incomplete(days: str) -> str:
    return (
        f"{days} roll-ups and can have events of dropped notifications, whose counts would be"
        " lost; begin at a later day"
    )
