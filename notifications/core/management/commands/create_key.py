"""`manage.py create_key PRODUCER`: create an API key and print the key to standard output."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from notifications.core import clock
from notifications.core.management import arguments
from notifications.core.models import Producer
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import GRANTABLE
from notifications.core.store.postgres import api_keys


class Command(BaseCommand):
    """`manage.py create_key`."""

    help = "Create an API key for a producer. The key is printed once, to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        name, note = arguments.text(least=1, most=64), arguments.text(most=200)
        parser.add_argument("producer", type=name, help="the producer's name")
        parser.add_argument("--new", action="store_true", help="create the producer first")
        parser.add_argument("--mode", choices=[mode.label for mode in Mode], default="test")
        parser.add_argument(
            "--scopes",
            nargs="+",
            choices=sorted(GRANTABLE),
            default=["notifications:*"],
            metavar="SCOPE",
            help=f"permissions of the key: {', '.join(sorted(GRANTABLE))}",
        )
        parser.add_argument(
            "--days", type=arguments.days, help="days until expiry (default: never)"
        )
        parser.add_argument("--note", type=note, default="", help="owner and purpose of the key")

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - argparse's own
        """Create the key.

        Raises:
            CommandError: the producer does not exist.
        """
        lasts: dt.timedelta | None = options["days"]
        key, secret = api_keys.issue(
            self._producer(options["producer"], options["new"]),
            mode=Mode[options["mode"].upper()],
            scopes=options["scopes"],
            note=options["note"],
            by="manage.py create_key",
            expires_at=None if lasts is None else clock.now() + lasts,
        )
        self.stderr.write(f"{key.prefix}: {', '.join(key.scopes)}. The key is shown only now:")
        self.stdout.write(secret)

    def _producer(self, name: str, new: object) -> Producer:
        found = Producer.objects.filter(name=name).first()
        if found is not None:
            return found
        if not new:
            msg = f"unknown producer {name!r}; add --new to create the producer"
            raise CommandError(msg)
        return Producer.objects.create(name=name)
