"""Load prices from a CSV file: `manage.py load_prices prices.csv`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from notifications.core.operations import price_csv
from notifications.core.operations.price_csv import InvalidPrices
from notifications.core.rules.csv_reader import InvalidFile


class Command(BaseCommand):
    """`manage.py load_prices FILE`."""

    help = "Load prices from a CSV file: channel,country,provider,price_usd,valid_from."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("file", type=Path)

    def handle(self, *, file: Path, **_: object) -> None:
        """Load the file, all lines or none.

        Raises:
            CommandError: the file cannot be read, or has a wrong line.
        """
        try:
            with file.open("rb") as stream:
                count = price_csv.import_file(stream)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error}") from error
        except (InvalidFile, InvalidPrices) as error:
            raise CommandError(f"No price was loaded: {error}.") from error
        self.stdout.write(f"{count} prices loaded.")
