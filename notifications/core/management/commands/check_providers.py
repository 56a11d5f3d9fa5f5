"""Check credentials, reachability and quota of configured providers without sending."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

from django.core.management.base import BaseCommand, CommandError

from notifications.core.delivery import routing
from notifications.core.rules import in_app

_PATIENCE: Final = dt.timedelta(seconds=10)
"""Deadline per provider, the same as for a message."""
_HEAD: Final = ("provider", "subject", "", "detail")


class Command(BaseCommand):
    """`manage.py check_providers`."""

    help = "Check each configured provider's credentials, reachability and quota. Sends nothing."

    def handle(self, **_: object) -> None:
        """Print a table with a row per finding.

        Raises:
            CommandError: at least one finding is bad (exit code 1).
        """
        rows = [_HEAD, *_findings()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())
        bad = sum(row[2] == "BAD" for row in rows)
        if bad:
            raise CommandError(f"Bad findings: {bad}.")


def _findings() -> Iterator[tuple[str, str, str, str]]:
    for name, provider in sorted(routing.providers_by_name().items()):
        if name == in_app.PROVIDER:
            continue  # no vendor and no setting; /readyz checks the database
        found = list(provider.check(deadline=_PATIENCE))
        for each in found:
            yield name, each.subject, "good" if each.is_good else "BAD", each.detail
        if not found:
            yield name, "-", "-", "the provider has no checks"
