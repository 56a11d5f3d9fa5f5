"""`manage.py archive`: list, export and verify the days of the archive, and find messages."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Sum

from notifications.core import clock
from notifications.core.management import arguments
from notifications.core.models import ArchiveDay, ArchiveFile, ArchiveState
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import audit
from notifications.core.sweeps import SWEEPS
from notifications.features.archive import find, targets
from notifications.features.archive.find import Period
from notifications.features.archive.keys import UnreadableKey
from notifications.features.archive.personal import Unreadable
from notifications.features.archive.targets import ArchiveUnavailable
from notifications.features.archive.verify import Damaged, verify


class Command(BaseCommand):
    """`manage.py archive list`, `run` and `verify`."""

    help = "Days past retention in Parquet files: list the days, archive them, verify the files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the subcommands."""
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="print state, rows and bytes of each day")
        actions.add_parser("run", help="archive the days past retention now, as the sweep does")
        verifying = actions.add_parser("verify", help="read files back and compare them")
        verifying.add_argument("--day", type=dt.date.fromisoformat, help="only this day")
        finding = actions.add_parser(
            "find", help="print archived notifications, a line of JSON each"
        )
        what = finding.add_mutually_exclusive_group(required=True)
        what.add_argument("--notification", type=UUID, help="id of a notification or delivery")
        what.add_argument("--user", type=arguments.text(), help="user id of a recipient")
        what.add_argument("--key", type=arguments.text(), help="idempotency key")
        finding.add_argument("--mode", choices=[mode.label for mode in Mode], default="live")
        finding.add_argument("--producer", type=arguments.text(), default="", help="with --key")
        finding.add_argument("--since", type=dt.date.fromisoformat, help="first day")
        finding.add_argument("--until", type=dt.date.fromisoformat, help="last day")

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - argparse's
        """Run the subcommand.

        Raises:
            CommandError: a day was not archived, a file is damaged, or nothing was found.
        """
        match options["action"]:
            case "list":
                self._list()
            case "run":
                self._run()
            case "find":
                self._find(options)
            case _:
                self._verify(options["day"])

    def _list(self) -> None:
        days = ArchiveDay.objects.annotate(rows=Sum("files__rows"), size=Sum("files__bytes"))
        for day in days.order_by("day"):
            self.stdout.write(
                f"{day.day}  {day.state:12}  {day.rows or 0:12,} rows  {day.size or 0:14,} bytes"
                f"  {day.problem}"
            )

    def _run(self) -> None:
        sweep = SWEEPS["archive"]
        swept = sweep.run_once(now=clock.now(), limit=sweep.limit)
        self.stdout.write(f"{swept.moved} days archived or expired, {swept.failed} failed")
        if swept.failed:
            raise CommandError("A day was not archived; see `manage.py archive list`.")

    def _find(self, options: dict[str, Any]) -> None:
        period = Period(since=options["since"], until=options["until"])
        try:
            if options["notification"]:
                found = iter(find.by_notification(options["notification"]))
            elif options["user"]:
                mode = Mode[options["mode"].upper()]
                found = find.by_user(options["user"], mode=mode, period=period)
            else:
                found = find.by_key(options["key"], producer=options["producer"], period=period)
            count = 0
            for count, each in enumerate(found, start=1):  # noqa: B007 - counts
                self.stdout.write(orjson.dumps(each.to_json()).decode())
        except (ArchiveUnavailable, UnreadableKey, Unreadable) as error:
            raise CommandError(str(error)) from error
        if not count:
            raise CommandError(
                "Nothing found. Newer days are in PostgreSQL: `manage.py find_message`."
            )
        audit.record_about(
            "manage.py archive",
            "find",
            object_type="archive",
            name="",
            after={"notifications": count},
        )

    def _verify(self, day: dt.date | None) -> None:
        target = targets.current()
        if target is None:
            raise CommandError("There is no archive: NOTIFY_ARCHIVE_URL is off.")
        if day is not None:
            _require_archived(day)
        files = ArchiveFile.objects.filter(day__state=ArchiveState.ARCHIVED).order_by("name")
        if not files.exists():
            self.stdout.write("No day is archived: there is no file to verify.")
        bad = 0
        for file in files.filter(day_id=day) if day else files:
            try:
                verify(file, target)
            except (Damaged, ArchiveUnavailable, UnreadableKey) as error:
                bad += 1
                self.stderr.write(str(error))
            else:
                self.stdout.write(f"{file.name}: {file.rows:,} rows are intact")
        if bad:
            raise CommandError(f"{bad} files are damaged or missing; restore them from a backup.")


def _require_archived(day: dt.date) -> None:
    """Refuse a day without files in the archive.

    Raises:
        CommandError: the archive does not have the day, or its files are not there yet or deleted.
    """
    known = ArchiveDay.objects.filter(day=day).first()
    if known is None:
        raise CommandError(
            f"The archive has no day {day}; `manage.py archive list` prints the days."
        )
    if known.state != ArchiveState.ARCHIVED:
        meaning = ArchiveState(known.state).label
        raise CommandError(f"{day} has no files to verify; its state is {known.state}: {meaning}.")
    if not known.files.exists():
        raise CommandError(f"{day} has no row in archive_file: restore the table from a backup.")
