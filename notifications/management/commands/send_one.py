"""Sends one message through one adapter alone: no row, no queue, no retry.

For the question whether credentials and an address work at all. What keeps an environment from
reaching people holds here too: the dry run, and the allow-list.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from notifications import clock, conf
from notifications.management import arguments
from notifications.pipeline import route
from notifications.rules import ids
from notifications.rules.lane import PACE, Priority
from providers import dry_run
from providers.contract import Accepted, Message, Outcome, Provider, Rejected, Result

_PACE: Final = PACE[Priority.P1]


class Command(BaseCommand):
    """`manage.py send_one PROVIDER CHANNEL ADDRESS --title ... --body ...`."""

    help = "Send one message through a provider's adapter alone, and print what it answered."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whom to ask, where to, what to say."""
        parser.add_argument("provider", help="its name, as in NOTIFY_ROUTES")
        parser.add_argument("channel", type=arguments.channel, help="push, sms, email ...")
        text = arguments.text()
        parser.add_argument(
            "address", type=text, help="number, mailbox, token, URL; after -- if it begins with -"
        )
        parser.add_argument("--kind", default="", help="of the address: fcm_token, apns_token ...")
        parser.add_argument("--title", type=text, default="")
        parser.add_argument("--body", type=text, required=True)
        parser.add_argument("--yes", action="store_true", help="do not ask before sending")

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - argparse's
        """Ask, send, and print the outcome.

        Raises:
            CommandError: it may not or cannot be sent, or was not accepted (exit code 1).
        """
        message = _message(options)
        provider = _provider(options["provider"], message)
        if provider.name != dry_run.NAME and not options["yes"]:
            self._ask(provider, message)
        [result] = provider.send([message], deadline=_PACE.deadline)
        line = _line(provider, result)
        if not isinstance(result.outcome, Accepted):
            raise CommandError(line)
        self.stdout.write(line)

    def _ask(self, provider: Provider, message: Message) -> None:
        self.stdout.write(
            f"This is live: {provider.name} will send {message.channel.label} to {message.address}."
        )
        try:
            answer = input("Type yes to send it: ")
        except EOFError:
            answer = ""
        if answer.strip().lower() != "yes":
            raise CommandError("Nothing was sent.")


def _message(options: dict[str, Any]) -> Message:
    notification_id = clock.new_notification_id()
    delivery_id = ids.delivery_id(notification_id, 1)
    return Message(
        delivery_id=delivery_id,
        notification_id=notification_id,
        idempotency_key=f"{delivery_id}-0",
        channel=options["channel"],
        address=options["address"],
        address_kind=options["kind"],
        title=options["title"],
        body=options["body"],
        urgent=True,
        data={"type": "SEND_ONE"},
    )


def _provider(name: str, message: Message) -> Provider:
    """The adapter that may send this, here.

    Raises:
        CommandError: there is none of that name, it cannot take this, or nobody may here.
    """
    settings = conf.current()
    found = route.provider_named(name)
    if found is None:
        raise CommandError(f"{name} is not configured. These are: {', '.join(route.configured())}.")
    if not route.takes(found, channel=message.channel, kind=message.address_kind):
        raise CommandError(f"{name} does not take {message.channel.label} to such an address.")
    if settings.allowed and not settings.allowed.allows(user_id="", address=message.address):
        raise CommandError("NOTIFY_ALLOWED_RECIPIENTS does not list this address.")
    return dry_run.DryRun() if settings.dry_run else found


def _line(provider: Provider, result: Result) -> str:
    milliseconds = round(result.latency.total_seconds() * 1000)
    said = f"{type(result.outcome).__name__} by {provider.name} in {milliseconds} ms"
    return " ".join(filter(None, (f"{said}.", _details(result.outcome))))


def _details(outcome: Outcome) -> str:
    if isinstance(outcome, Accepted):
        return f"Its id: {outcome.message_id}." if outcome.message_id else ""
    dead = (
        "The address is dead." if isinstance(outcome, Rejected) and outcome.contact_is_dead else ""
    )
    return " ".join(filter(None, (outcome.code, outcome.detail, dead)))
