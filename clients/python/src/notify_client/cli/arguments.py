"""The arguments of the command `notify`."""

from __future__ import annotations

from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
)
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from notify_client._version import __version__
from notify_client.cli import following, sending, templates

T = TypeVar("T")
if TYPE_CHECKING:
    from argparse import _SubParsersAction

    Commands = _SubParsersAction[ArgumentParser]

_SHELLS: Final = ("bash", "zsh", "tcsh")
_STATUS: Final = (
    "scheduled", "queued", "sending", "retrying", "sent", "unconfirmed", "delivered", "read",
    "bounced", "failed", "expired", "suppressed", "cancelled", "unknown",
)  # fmt: skip
_CHANNELS: Final = ("push", "sms", "email", "in_app", "webhook", "chat")
_WAIT_SECONDS: Final = 30.0


def parser() -> ArgumentParser:
    """Return the parser; `run` of its result is the function of the command."""
    root = ArgumentParser(
        prog="notify", description="The command line of the notification service."
    )
    root.add_argument("--version", action="version", version=__version__)
    commands = root.add_subparsers(metavar="COMMAND", required=True)
    _add_login(commands)
    _add_send(commands)
    _add_templates(commands)
    _add_following(commands)
    shells = commands.add_parser("completion", help="print the completion script of a shell")
    shells.add_argument("shell", choices=_SHELLS)
    shells.set_defaults(run=_completion)
    return root


def _completion(chosen: Namespace) -> int:
    import shtab  # noqa: PLC0415 - no other command needs the package

    print(shtab.complete(parser(), shell=chosen.shell))
    return 0


def _add_login(commands: Commands) -> None:
    login = _command(
        commands, "login", "store the URL and the key of an installation", sending.login
    )
    login.add_argument("url", metavar="URL", help="such as https://notify.example.com")


def _add_send(commands: Commands) -> None:
    send = _command(commands, "send", "send a notification", sending.send)
    send.add_argument("to", metavar="TO", help="a user id, a phone number with +, or a mailbox")
    send.add_argument("--type", required=True, help="notification type, such as ORDER_READY")
    send.add_argument("--template", help="template id; or give --body")
    send.add_argument("--title", help="title of a message without a template")
    send.add_argument("--body", help="text of a message without a template")
    send.add_argument(
        "--var",
        action="append",
        type=_typed(sending.variable),
        metavar="NAME=TEXT",
        help="variable of the template; NAME:=JSON for other types; repeatable",
    )
    send.add_argument("--priority", choices=("P0", "P1", "P2", "P3"))
    send.add_argument("--channel", action="append", choices=_CHANNELS, help="repeatable")
    send.add_argument("--idempotency-key", help="a repeat with the same key sends nothing again")
    send.add_argument(
        "--wait",
        nargs="?",
        const=_WAIT_SECONDS,
        type=float,
        metavar="SECONDS",
        help="wait for the final status; exit status 1 if the message was not sent",
    )


def _add_templates(commands: Commands) -> None:
    group = commands.add_parser("templates", help="templates as files").add_subparsers(
        metavar="COMMAND", required=True
    )
    _command(group, "list", "list templates and their versions", templates.names)
    for name, help_text, run in (
        ("pull", "write the service's templates to files", templates.pull),
        ("push", "draft templates from files", templates.push),
        ("diff", "compare files with the service", templates.diff),
    ):
        command = _command(group, name, help_text, run)
        _add_names(command)
        command.add_argument(
            "--dir", type=Path, default=Path("templates"), help="default: templates"
        )
        if name == "push":
            command.add_argument(
                "--publish", action="store_true", help="publish the drafts at once"
            )
            command.add_argument("--note", default="From files", help="note of the new versions")
    carry = group.add_parser("promote", help="draft published templates in another installation")
    _add_names(carry)
    carry.add_argument("--from", dest="source", required=True, metavar="PROFILE")
    carry.add_argument("--to", dest="target", required=True, metavar="PROFILE")
    carry.add_argument("--publish", action="store_true", help="publish without a review")
    carry.set_defaults(run=templates.promote)


def _add_names(command: ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="TEMPLATE", help="default: all")


def _add_following(commands: Commands) -> None:
    tail = _command(commands, "tail", "print status changes as they come", following.tail)
    tail.add_argument("--json", action="store_true", help="print each change as a line of JSON")
    listen = _command(
        commands,
        "listen",
        "call a local URL with status webhooks; NOTIFY_LISTEN_SECRET signs",
        following.listen,
    )
    listen.add_argument("url", metavar="URL", help="such as http://localhost:3000/webhooks")
    for command in (tail, listen):
        command.add_argument(
            "--since",
            type=_typed(following.since),
            default=timedelta(0),
            metavar="TIME",
            help="begin earlier: 30s, 10m, 2h",
        )
        command.add_argument("--user", dest="user_id", action="append", help="repeatable")
        command.add_argument("--type", action="append", help="repeatable")
        command.add_argument("--status", action="append", choices=_STATUS, help="repeatable")
        command.add_argument("--channel", action="append", choices=_CHANNELS, help="repeatable")


def _command(
    commands: Commands, name: str, help_text: str, run: Callable[[Namespace], int]
) -> ArgumentParser:
    command = commands.add_parser(name, help=help_text)
    command.add_argument("--profile", help="name of a stored installation; default: default")
    command.set_defaults(run=run)
    return command


def _typed(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Make argparse print the sentence of a ValueError."""

    def parsed(text: str) -> Any:  # noqa: ANN401 - T, for argparse
        try:
            return parse(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from error

    return parsed
