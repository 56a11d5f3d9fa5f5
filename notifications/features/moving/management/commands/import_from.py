"""Import recipients, templates and suppressed addresses from files of another system."""

from __future__ import annotations

import functools
import math
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

from django.core.management.base import BaseCommand, CommandError

from notifications.core import clock
from notifications.core.management.actor import actor
from notifications.core.rules.lane import Mode
from notifications.features.moving import plans
from notifications.features.moving.export import ExportFile, WrongExport
from notifications.features.moving.plans import Import, ImportStep, Report
from notifications.features.moving.recipients import Author
from notifications.features.moving.vendors.registry import READERS

_TOLD_EVERY: Final = 2.0
"""Seconds between two lines of progress."""


class Command(BaseCommand):
    """`manage.py import_from VENDOR FILE... [--dry-run] [--partial] [--mode]`."""

    help = (
        "Import recipients, templates and suppressed addresses from export files of another system"
        " (docs/moving.md). All files are checked first; with a part that is not understood nothing"
        " is imported, unless --partial is given. Sends nothing; safe to repeat."
    )

    _told_at = -math.inf

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        names = sorted(READERS)
        parser.add_argument("vendor", choices=names, metavar="vendor", help=", ".join(names))
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="file", help="export files; of a folder, all"
        )
        parser.add_argument("--dry-run", action="store_true", help="report, and change nothing")
        parser.add_argument(
            "--partial",
            action="store_true",
            help="import what is understood, although other parts are not",
        )
        parser.add_argument(
            "--mode",
            choices=[mode.label for mode in Mode],
            default="live",
            help="of the recipients",
        )

    def handle(
        self,
        *,
        vendor: str,
        files: list[Path],
        dry_run: bool,
        partial: bool,
        mode: str,
        **_: object,
    ) -> None:
        """Import the files and print the report.

        Raises:
            CommandError: a part was not understood and --partial is missing, or a file is no export
                of the vendor (exit code 1).
        """
        wanted = Import(
            vendor=vendor,
            read=READERS[vendor],
            files=[file for path in files for file in _files(path)],
            mode=Mode[mode.upper()],
            author=Author(by=actor(f"import_from {vendor}"), is_for_person=True),
            is_dry=dry_run,
            is_partial=partial,
            progress=self._tell_progress,
        )
        try:
            report = plans.run(wanted)
        except WrongExport as error:
            raise CommandError(f"Nothing was imported. {error}") from error
        self._print(report, is_dry=dry_run)
        if report.fault_count and not partial:
            raise CommandError(
                f"{report.fault_count} parts were not understood. "
                + _outcome(report, is_dry=dry_run)
            )

    def _tell_progress(self, step: ImportStep, items: int, of: int) -> None:
        """Write a line to the standard error, at most one in two seconds."""
        if clock.monotonic() - self._told_at >= _TOLD_EVERY:
            self._told_at = clock.monotonic()
            whole = f" of {of:,}" if of else ""
            self.stderr.write(f"{items:,}{whole} items {step}", self.style.NOTICE)

    def _print(self, report: Report, *, is_dry: bool) -> None:
        verb = "would be imported" if is_dry else "imported"
        for kind in sorted({*report.imported, *report.unchanged}):
            imported, unchanged = report.imported[kind], report.unchanged[kind]
            self.stdout.write(f"{kind}: {imported} {verb}, {unchanged} unchanged")
        for name, count in sorted(report.left_out.items()):
            self.stdout.write(f"left out: {name} ({count})")
        for remark in report.remarks:
            self.stdout.write(f"{remark.place}: {remark.text}")
        for fault in report.not_understood:
            self.stdout.write(f"not understood: {fault.place}: {fault.why}")
        if report.fault_count > len(report.not_understood):
            rest = report.fault_count - len(report.not_understood)
            self.stdout.write(f"not understood: {rest} more")


def _outcome(report: Report, *, is_dry: bool) -> str:
    if report.is_written:
        return "The other parts were imported."
    if is_dry:
        return "A dry run changes nothing."
    return "Nothing was imported: correct the files, or add --partial to import the other parts."


def _files(path: Path) -> Iterator[ExportFile]:
    """Yield a file, or the files below a folder; hidden files are skipped.

    Raises:
        CommandError: the path does not exist, or the folder is empty.
    """
    if not path.exists():
        raise CommandError(f"{path} does not exist")
    paths: Sequence[Path] = [path]
    if path.is_dir():
        paths = sorted(
            each
            for each in path.rglob("*")
            if each.is_file() and not any(part.startswith(".") for part in each.parts)
        )
        if not paths:
            raise CommandError(f"{path} has no files")
    for each in paths:
        yield ExportFile(name=each.as_posix(), open=functools.partial(_open, each))


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")
