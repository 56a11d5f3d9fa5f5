"""Find deliveries by address, user id, provider's message id, or id."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from notifications.management import arguments
from notifications.store.postgres import search


class Command(BaseCommand):
    """`manage.py find_message TERM`."""

    help = "Find deliveries by address, user id, or any id of the message."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "term", type=arguments.text(), help="the exact value; partial values do not match"
        )

    def handle(self, *, term: str, **_: object) -> None:
        """Print a line per delivery, newest first.

        Raises:
            CommandError: no delivery matches (exit code 1).
        """
        hits = search.find_any(term)
        if not hits:
            raise CommandError("Nothing found.")
        for hit in hits:
            self.stdout.write(
                f"{hit.created_at:%Y-%m-%d %H:%M:%S}  {hit.delivery_id}  {hit.mode.label:4}"
                f"  {hit.priority.name} {hit.channel.label:7}  {hit.status.label:11}"
                f"  {hit.user_id}  {hit.type}"
                f"  {' '.join(filter(None, (hit.reason, hit.provider, hit.provider_message_id)))}"
            )
