"""The arguments of `manage.py init`, and the order of the steps."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import django

from notifyproj.first_start import first_settings
from notifyproj.first_start.terminal import Refused, Terminal

_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_STOPPED: Final = 130
"""Exit code after Ctrl-C."""
_OF_A_CONTAINER: Final = ("DATABASE_URL", "NOTIFY_SECRET_KEY")
"""Variables that the environment has where the settings do not come from .env."""

_ANSWERS: Final = MappingProxyType({
    "--public-url": "address of the service, such as https://notify.example.com",
    "--mail-url": "smtp://user@host:587?starttls=1 or smtps://user@host, without a password",
    "--mail-from": "sender of the mails (default: notify@ and the host of the address)",
    "--tls-folder": "folder of the certificate for Compose (default: ./tls), or automatic",
    "--owner": "e-mail address of the first administrator",
})
_FILES: Final = MappingProxyType({
    "--mail-password-file": "file with the password of the mail server",
    "--owner-password-file": "file with the administrator's password (default: a random one)",
    "--folder": "folder of .env (default: the checkout)",
})
_SWITCHES: Final = MappingProxyType({
    "--skip-mail-check": "do not connect to the mail server",
    "--migrate": "make the tables, without a question",
    "--no-input": "ask nothing; a missing flag is an error",
})


def main(arguments: Sequence[str]) -> int:
    """Run `manage.py init`; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except Refused as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. What is done stays done; run the command again.\n")
        return _STOPPED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="manage.py init",
        description="Write .env, check the servers, and create the first administrator, the"
        " notification types and the first live key. Safe to repeat; changes nothing that exists.",
        allow_abbrev=False,
    )
    for flag, meaning in _ANSWERS.items():
        parser.add_argument(flag, help=meaning)
    for flag, meaning in _FILES.items():
        parser.add_argument(flag, type=Path, help=meaning)
    for flag, meaning in _SWITCHES.items():
        parser.add_argument(flag, action="store_true", help=meaning)
    parser.set_defaults(folder=_CHECKOUT)
    return parser


def _run(options: argparse.Namespace) -> None:
    terminal = Terminal(asks=not options.no_input and sys.stdin is not None and sys.stdin.isatty())
    password = _from_file(options.owner_password_file, flag="--owner-password-file")
    loads = ""
    if all(os.environ.get(name) for name in _OF_A_CONTAINER):
        terminal.say("The settings come from the environment.")
    else:
        values = first_settings.prepare(_to_given(options), terminal)
        if not (first_settings.has_servers(values) or first_settings.has_servers(os.environ)):
            service = "all-in-one" if first_settings.is_small(values) else "web"
            _say_next_of_compose(terminal, service=service)
            return
        _set(values)
        loads = f"set -a; . {shlex.quote(str(options.folder.resolve() / '.env'))}; set +a"
    _use_servers(options, terminal, password=password or "", loads=loads)


def _to_given(options: argparse.Namespace) -> first_settings.Given:
    return first_settings.Given(
        folder=options.folder,
        public_url=options.public_url,
        mail_url=options.mail_url,
        mail_from=options.mail_from,
        mail_password=_from_file(options.mail_password_file, flag="--mail-password-file"),
        tls_folder=options.tls_folder,
        skip_mail_check=options.skip_mail_check,
    )


def _from_file(path: Path | None, *, flag: str) -> str | None:
    """Return a password from a file, without the line's end; None without a file.

    Raises:
        Refused: the file cannot be read, or has another number of lines than one.
    """
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Refused(f"{flag}: {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise Refused(f"{flag}: {path} is not a text in UTF-8.") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text or not text.isprintable():
        raise Refused(f"{flag}: {path} must have one line with a password.")
    return text


def _set(values: Mapping[str, str]) -> None:
    """Set the variables of .env that are empty or missing in the environment."""
    for name, value in values.items():
        if not os.environ.get(name):
            os.environ[name] = value


def _say_next_of_compose(terminal: Terminal, *, service: str) -> None:
    terminal.say("\nNext, where docker-compose.yml is:")
    terminal.say("  docker compose up --build -d")
    terminal.say(f"  docker compose exec {service} python manage.py init")


def _use_servers(
    options: argparse.Namespace, terminal: Terminal, *, password: str, loads: str
) -> None:
    """Load Django's settings, then check the servers and create the first rows."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    from notifyproj.first_start import with_servers  # noqa: PLC0415 - the settings are ready only now

    with_servers.run(
        terminal,
        migrates=options.migrate,
        owner=options.owner,
        owner_password=password,
        loads=loads,
    )
