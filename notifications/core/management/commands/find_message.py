"""Find deliveries by address, user id, any id, idempotency key, variable or metadata."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Final

from django.core.management.base import BaseCommand, CommandError

from notifications.core import clock
from notifications.core.management import arguments
from notifications.core.store.postgres import activity, search
from notifications.core.store.postgres.activity import ActivityLine, ActivityQuery
from notifications.core.store.postgres.search import Hit

_MOST: Final = 200
"""Printed deliveries."""
_FURTHEST: Final = dt.timedelta(days=3_650)


class Command(BaseCommand):
    """`manage.py find_message TERM`."""

    help = (
        "Find deliveries by address, user id, or any id of the message, of all days; then by the"
        " notification type, or the whole value of a variable or of metadata, of the last days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "term", type=arguments.text(), help="the exact value; partial values do not match"
        )
        parser.add_argument(
            "--days",
            type=arguments.days,
            default=dt.timedelta(days=1),
            help="days in which types, variables and metadata are searched; default 1",
        )

    def handle(self, *, term: str, days: dt.timedelta, **_: object) -> None:
        """Print a line per delivery, newest first.

        Raises:
            CommandError: no delivery matches (exit code 1).
        """
        found: Sequence[Hit | ActivityLine] = search.find_any(term, limit=_MOST)
        found = found or list(_scan(term.strip(), min(days, _FURTHEST)))
        if not found:
            raise CommandError(
                "Nothing found. Types, variables and metadata were searched in the last"
                f" {days / dt.timedelta(days=1):g} days; --days N goes further back."
            )
        for each in found:
            message_id = each.provider_message_id if isinstance(each, Hit) else ""
            self.stdout.write(
                f"{each.created_at:%Y-%m-%d %H:%M:%S}  {each.delivery_id}  {each.mode.label:4}"
                f"  {each.priority.name} {each.channel.label:7}  {each.status.label:11}"
                f"  {each.user_id}  {each.type}"
                f"  {' '.join(filter(None, (each.reason, each.provider, message_id)))}"
            )


def _scan(term: str, days: dt.timedelta) -> Iterator[ActivityLine]:
    """Yield the deliveries that the page Activity finds, newest first."""
    wanted = ActivityQuery(since=clock.now() - days, word=term)
    count, before = 0, None
    while count < _MOST and term:
        found = activity.page(wanted, limit=_MOST - count, before=before)
        yield from found.lines
        count, before = count + len(found.lines), found.before
        if before is None:
            return
