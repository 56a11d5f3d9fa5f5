"""Load prices from a CSV file: `manage.py load_prices prices.csv`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from notifications.core.operations import price_csv
from notifications.core.operations.price_csv import InvalidPrices


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
            count = price_csv.import_text(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from error
        except InvalidPrices as error:
            raise CommandError(f"No price was loaded: {error}.") from error
        self.stdout.write(f"{count} prices loaded.")
