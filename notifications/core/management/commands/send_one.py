"""Send a message through a provider's adapter, without row, queue or retry.

The command tests credentials and an address. Dry run and allow-list apply as for all messages.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from notifications.core.management import arguments
from notifications.core.operations import single_call
from notifications.core.operations.single_call import CannotSend
from providers import dry_run
from providers.contract import Message, Provider


class Command(BaseCommand):
    """`manage.py send_one PROVIDER CHANNEL ADDRESS --title ... --body ...`."""

    help = "Send a message directly through a provider's adapter, and print the result."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("provider", help="name of the provider, as in NOTIFY_ROUTES")
        parser.add_argument("channel", type=arguments.channel, help="push, sms, email ...")
        text = arguments.text()
        parser.add_argument(
            "address",
            type=text,
            help="number, e-mail address, token or URL; after -- if the address begins with -",
        )
        parser.add_argument(
            "--kind", default="", help="kind of the address: fcm_token, apns_token ..."
        )
        parser.add_argument("--title", type=text, default="")
        parser.add_argument("--body", type=text, required=True)
        parser.add_argument("--yes", action="store_true", help="do not ask before sending")

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - argparse's
        """Ask for confirmation, send the message and print the outcome.

        Raises:
            CommandError: the message is not allowed, cannot be sent, or was not accepted (exit code
                1).
        """
        message = single_call.compose(
            channel=options["channel"],
            address=options["address"],
            kind=options["kind"],
            title=options["title"],
            body=options["body"],
        )
        try:
            provider = single_call.adapter(options["provider"], message)
        except CannotSend as error:
            raise CommandError(str(error)) from None
        if provider.name != dry_run.NAME and not options["yes"]:
            self._ask(provider, message)
        is_accepted, line = single_call.send(provider, message)
        if not is_accepted:
            raise CommandError(line)
        self.stdout.write(line)

    def _ask(self, provider: Provider, message: Message) -> None:
        self.stdout.write(
            f"This is live: {provider.name} will send {message.channel.label} to {message.address}."
        )
        try:
            answer = input("Type yes to send the message: ")
        except EOFError:
            answer = ""
        if answer.strip().lower() != "yes":
            raise CommandError("Nothing was sent.")
