"""Compare the messages that an earlier system logged with the messages of this service."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from django.core.management.base import BaseCommand, CommandError

from notifications.core.rules.lane import Mode
from notifications.features.moving import comparison
from notifications.features.moving.export import ExportFile, WrongExport

_MOST_MINUTES: Final = 1_440


class Command(BaseCommand):
    """`manage.py compare_sent FILE [--minutes] [--mode]`."""

    help = (
        "Compare a CSV log of an earlier system (recipient,type,time,channel) with the messages of"
        " this service: docs/moving.md. Changes nothing; exit code 1 for a difference."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--minutes",
            type=int,
            default=10,
            choices=range(1, _MOST_MINUTES + 1),
            metavar="MINUTES",
            help="greatest difference of the times of one message (default: 10)",
        )
        parser.add_argument(
            "--mode",
            choices=[mode.label for mode in Mode],
            default="test",
            help="mode of the messages of this service (default: test)",
        )

    def handle(self, *, file: Path, minutes: int, mode: str, **_: object) -> None:
        """Print the differences and the counts.

        Raises:
            CommandError: the log cannot be compared, or there is a difference (exit code 1).
        """
        log = ExportFile(name=file.as_posix(), open=lambda: file.open("rb"))
        try:
            found = comparison.compare(
                log, mode=Mode[mode.upper()], within=dt.timedelta(minutes=minutes)
            )
        except WrongExport as error:
            raise CommandError(str(error)) from error
        for line in found.told:
            self.stdout.write(line)
        for fault in found.faults[: comparison.MAX_TOLD]:
            self.stdout.write(f"not understood: {fault.place}: {fault.why}")
        self.stdout.write(f"sent by both: {found.pairs}")
        for kind, count in sorted(found.differences.items()):
            self.stdout.write(f"{kind}: {count}")
        wrong = found.differences.total() + len(found.faults)
        if wrong:
            raise CommandError(f"{wrong} differences and faults.")
