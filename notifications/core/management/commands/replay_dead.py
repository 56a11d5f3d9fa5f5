"""Replay dead letters from a shell, also while the admin is unavailable."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from collections import Counter
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count

from notifications.core import clock
from notifications.core.management import arguments
from notifications.core.models import Producer
from notifications.core.operations import replay
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import dead_letters

_STEP: Final = 500
"""Dead letters per transaction and line of progress."""


class Command(BaseCommand):
    """`manage.py replay_dead`."""

    help = "Replay the open dead letters which match all given filters."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        text, hours = arguments.text(), arguments.hours
        parser.add_argument(
            "ids",
            nargs="*",
            type=arguments.row_id,
            help="ids of dead letters; without ids the filters apply",
        )
        parser.add_argument("--reason", type=text, default="")
        parser.add_argument("--channel", type=arguments.channel, help="push, sms, email ...")
        parser.add_argument("--provider", type=text, default="")
        parser.add_argument("--newer-than", type=hours, metavar="HOURS")
        parser.add_argument("--older-than", type=hours, metavar="HOURS")
        parser.add_argument("--producer", type=text, default="", help="name of the producer")
        parser.add_argument("--mode", choices=[mode.label for mode in Mode], default="live")
        parser.add_argument(
            "--all", action="store_true", help="replay without a filter other than the mode"
        )
        parser.add_argument("--dry-run", action="store_true", help="only count")
        parser.add_argument(
            "--force",
            action="store_true",
            help="also notifications which reached the person by another delivery",
        )
        parser.add_argument(
            "--renew-ttl", action="store_true", help="restart the time to live (never for P0)"
        )

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - argparse's
        """Print counts by reason, and start the replay unless --dry-run is given.

        Raises:
            CommandError: no filter, an unknown producer, or nothing to replay.
        """
        wanted = _filter_of(options)
        if wanted == LetterFilter(mode=wanted.mode) and not options["all"]:
            raise CommandError("Give a filter, or --all.")
        letters = dead_letters.matching(wanted).order_by().values_list("reason")
        reasons = Counter(dict(letters.annotate(Count("pk"))))
        for reason, count in reasons.most_common():
            self.stdout.write(f"{count:8}  {reason}")
        self.stdout.write(f"{reasons.total():8}  in all")
        if not options["dry_run"] and reasons:
            self._replay(wanted, forced=options["force"], renews_ttl=options["renew_ttl"])

    def _replay(self, wanted: LetterFilter, *, forced: bool, renews_ttl: bool) -> None:
        try:
            job = replay.start(
                wanted, requested_by="replay_dead", forced=forced, renews_ttl=renews_ttl
            )
        except replay.ReplayRefused as error:
            raise CommandError(str(error)) from error
        # The sweep also processes the job. Processing here needs no beat, and both at once is safe.
        while (ran := replay.run(job, limit=_STEP)).letters or ran.has_rest:
            job.refresh_from_db()
            self.stdout.write(f"{job.replayed + job.skipped} of {job.total}")
        job.refresh_from_db()
        self.stdout.write(f"{job}: {job.replayed} replayed, {job.skipped} skipped")


def _filter_of(options: dict[str, Any]) -> LetterFilter:
    producer = options["producer"]
    producer_id = Producer.objects.filter(name=producer).values_list("pk", flat=True).first()
    if producer and producer_id is None:
        raise CommandError(f"Unknown producer {producer!r}; use the name of a producer.")
    return LetterFilter(
        ids=tuple(options["ids"]) or None,
        reason=options["reason"],
        channel=options["channel"],
        provider=options["provider"],
        since=_ago(options["newer_than"]),
        until=_ago(options["older_than"]),
        producer_id=producer_id,
        mode=Mode[options["mode"].upper()],
    )


def _ago(age: dt.timedelta | None) -> dt.datetime | None:
    return None if age is None else clock.now() - age
