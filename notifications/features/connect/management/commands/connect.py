"""Connect a provider's account: check, repair, import the suppression list, read the rate."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Final

from django.core.management.base import BaseCommand, CommandError

from notifications.core.management.actor import actor
from notifications.core.rules.connect_lines import LineState
from notifications.features.connect import runs
from notifications.features.connect.runs import NotConfigured
from providers import registry

_MISSING: Final = frozenset({LineState.BAD, LineState.PENDING})
_WIDTHS: Final = (len("configuration set"), len(LineState.PENDING))


class Command(BaseCommand):
    """`manage.py connect <provider> [--dry-run]`."""

    help = (
        "Check a provider's account, create or repair the parts that bring receipts, import the "
        "account's suppression list and read its rate. A second run changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        names = sorted(vendor.name for vendor in registry.VENDORS)
        parser.add_argument("provider", choices=names, metavar="provider", help=", ".join(names))
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="change nothing; exit 1 if something would change",
        )

    def handle(self, *, provider: str, dry_run: bool, **_: object) -> None:
        """Print a line for each finding and change.

        Raises:
            CommandError: the provider is not configured, or something is missing (exit code 1).
        """
        by = actor("connect")
        missing = 0
        try:
            for line in runs.run(provider, by=by, is_dry=dry_run):
                subject, state = line.subject.ljust(_WIDTHS[0]), line.state.ljust(_WIDTHS[1])
                self.stdout.write(f"{provider}  {subject}  {state}  {line.detail}")
                missing += line.state in _MISSING
        except NotConfigured as error:
            raise CommandError(f"{error}: see docs/providers.md for its settings") from None
        if missing:
            raise CommandError(f"Missing: {missing}.")
        self.stdout.write(f"{provider} is connected.")
