"""`manage.py merge_recipients --dry-run`: merge recipients registered twice."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand

from notifications.core.store.postgres import merged_recipients

_PAGE: Final = 500
"""Recipients of a query; each merge is a transaction of its own."""
_MOST_LINES: Final = 100
"""Printed pairs that stay apart; all are counted."""
_BY: Final = "merge_recipients"


class Command(BaseCommand):
    """Merges recipients registered by address, if the addresses differ in the spelling alone."""

    help = (
        "Merge recipients that the field `to` registered twice for one address in two spellings."
        " What any of them switched off stays off. Recipients with ids of producers stay apart and"
        " are listed. Safe to run twice; --dry-run changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `--dry-run`."""
        parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")

    def handle(self, *, dry_run: bool, **_options: Any) -> None:  # noqa: ANN401 - Django's own options
        """Merge page by page, and print the counts."""
        merged = waiting = apart = after = 0
        while True:
            found = merged_recipients.find(after=after, limit=_PAGE)
            if found.last is None:
                break
            after = found.last
            for one, other in found.apart:
                apart += 1
                if apart <= _MOST_LINES:
                    self.stdout.write(f"recipients {one} and {other} share an address, stay apart")
            for group in found.groups:
                done = len(group) - 1 if dry_run else merged_recipients.merge(group, by=_BY)
                merged += done or 0
                waiting += done is None
        verb = "would be merged" if dry_run else "merged"
        self.stdout.write(f"{merged} recipients {verb}")
        if waiting:
            self.stdout.write(
                f"{waiting} groups have deliveries under way; run the command again later"
            )
        if apart:
            self.stdout.write(
                f"{apart} pairs share an address in two spellings and stay apart: a producer gave"
                " an id, or the other addresses differ"
            )
