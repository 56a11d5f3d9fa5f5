"""`manage.py token_secret create|list|rotate|revoke`: token secrets of producers."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.management import arguments
from notifications.core.models import Producer, TokenSecret
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.postgres import audit
from notifications.core.store.recipient_tokens import token_secrets

_BY: Final = "manage.py token_secret"
_OVERLAP_DAYS: Final = token_secrets.OVERLAP.days


class Command(BaseCommand):
    """`manage.py token_secret`."""

    help = (
        "Create, list, rotate and revoke the secrets with which a producer signs recipient tokens."
        " A new secret is printed once, to standard output."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        name, note = arguments.text(least=1, most=64), arguments.text(most=200)
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="create a secret")
        create.add_argument("producer", type=name, help="the producer's name")
        create.add_argument("--mode", choices=[mode.label for mode in Mode], default="test")
        create.add_argument(
            "--scopes",
            nargs="+",
            choices=sorted(TokenScope),
            default=sorted(TokenScope),
            metavar="SCOPE",
            help=f"scopes that a token may have (default: all): {', '.join(sorted(TokenScope))}",
        )
        create.add_argument("--note", type=note, default="", help="owner and purpose of the secret")
        listed = acts.add_parser("list", help="list the secrets of a producer")
        listed.add_argument("producer", type=name, help="the producer's name")
        rotate = acts.add_parser("rotate", help="replace a secret")
        rotate.add_argument("key_id", type=name, help="the kid, such as nts_live_4f9k2m7q")
        rotate.add_argument(
            "--days",
            type=arguments.days,
            default=token_secrets.OVERLAP,
            help=f"days for which the old secret still signs (default: {_OVERLAP_DAYS})",
        )
        revoke = acts.add_parser("revoke", help="end a secret and all tokens of the secret")
        revoke.add_argument("key_id", type=name, help="the kid, such as nts_live_4f9k2m7q")

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - argparse's own
        """Do the act.

        Raises:
            CommandError: the producer or the secret does not exist, or cannot be rotated.
        """
        match options["act"]:
            case "create":
                self._create(options)
            case "list":
                self._list(_producer(options["producer"]))
            case "rotate":
                self._rotate(_secret(options["key_id"]), options["days"])
            case _:
                rows = _secret(options["key_id"])
                with audit.changes(_BY, "revoke_token_secret", rows):
                    count = token_secrets.revoke(rows, by=_BY)
                self.stdout.write(f"{count} secrets revoked.")

    def _create(self, options: dict[str, Any]) -> None:
        producer = _producer(options["producer"])
        with audit.changes(_BY, "create_token_secret") as news:
            row, text = token_secrets.create(
                producer,
                mode=Mode[options["mode"].upper()],
                scopes=options["scopes"],
                note=options["note"],
                by=_BY,
            )
            news.append(row)
        self._show(row, text)

    def _list(self, producer: Producer) -> None:
        for row in producer.token_secrets.all():
            state = token_secrets.state_of(row, now=clock.now())
            self.stdout.write(f"{row.key_id} {state} {','.join(row.scopes)} {row.note}".rstrip())

    def _rotate(self, rows: QuerySet[TokenSecret], overlap: dt.timedelta) -> None:
        try:
            with audit.changes(_BY, "rotate_token_secret", rows) as news:
                row, text = token_secrets.rotate(rows.get(), overlap=overlap, by=_BY)
                news.append(row)
        except token_secrets.SecretNotRotatable as error:
            raise CommandError(str(error)) from error
        self._show(row, text)

    def _show(self, row: TokenSecret, text: str) -> None:
        said = f"{row.key_id}: {', '.join(row.scopes)}. The secret is shown only now:"
        self.stderr.write(said)
        self.stdout.write(text)


def _producer(name: str) -> Producer:
    row = Producer.objects.filter(name=name).first()
    if row is None:
        msg = f"unknown producer {name!r}"
        raise CommandError(msg)
    return row


def _secret(key_id: str) -> QuerySet[TokenSecret]:
    rows = TokenSecret.objects.filter(key_id=key_id)
    if not rows.exists():
        msg = f"unknown token secret {key_id!r}; list the secrets of a producer with `list`"
        raise CommandError(msg)
    return rows
