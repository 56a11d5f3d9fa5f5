"""The settings of a first start: `.env`, from four questions and random secrets.

With DATABASE_URL, REDIS_URL and CELERY_BROKER_URL in the environment, .env is for processes beside
these servers. Without them, .env is for docker-compose.yml, which brings the servers along.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from notifications.core import clock
from notifications.core.rules import in_app
from notifyproj import service_urls
from notifyproj.first_start import answers, certificate, env_file
from notifyproj.first_start.terminal import Question, Refused, Terminal
from providers.contract import Channel
from providers.email import smtp

TEMPLATE: Final = Path(__file__).resolve().parents[2] / ".env.example"
SERVERS: Final = ("DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL")
"""Variables with the URLs of the three servers."""
_PUBLIC_URL: Final = "NOTIFY_PUBLIC_URL"
_OF_MAIL: Final = ("NOTIFY_SMTP_URL", "NOTIFY_SMTP_FROM")
_PROFILES: Final = "COMPOSE_PROFILES"
_SMALL: Final = "small"
_MAIL_FILE: Final = "--mail-password-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Answers by flags; None: not given."""

    folder: Path
    public_url: str | None = None
    mail_url: str | None = None
    mail_from: str | None = None
    mail_password: str | None = None
    tls_folder: str | None = None
    skip_mail_check: bool = False

    @property
    def names(self) -> list[str]:
        """The flags of settings that are given."""
        values = {
            "--public-url": self.public_url,
            "--mail-url": self.mail_url,
            "--mail-from": self.mail_from,
            _MAIL_FILE: self.mail_password,
            "--tls-folder": self.tls_folder,
        }
        return [flag for flag, value in values.items() if value is not None]


def prepare(given: Given, terminal: Terminal) -> dict[str, str]:
    """Return the variables of `.env`, which the first run writes and no run changes.

    Raises:
        Refused: an answer is wrong or missing, the folder takes no file, or `.env` is incomplete.
    """
    path = given.folder / ".env"
    if not os.path.lexists(path):
        env_file.check_folder(given.folder)
        text = _text(given, terminal)
        if env_file.write(path, text):
            terminal.say("Wrote .env, readable by its owner only. It has the secrets: keep a copy.")
            return env_file.read(path)
        terminal.say("Another run of init was first.")
    return _read_existing(path, given, terminal)


def _read_existing(path: Path, given: Given, terminal: Terminal) -> dict[str, str]:
    values = env_file.read(path)
    found = _mistakes(values)
    if found:
        lines = "\n".join(f"  {each}" for each in found)
        raise Refused(
            f".env exists, is incomplete and was not changed:\n{lines}\nCorrect these lines. To"
            " begin anew, move .env away; servers that have started keep the passwords of the old"
            " .env."
        )
    terminal.say(".env exists, is complete and was not changed.")
    if given.names:
        terminal.say(f"Not used, because .env has the settings: {', '.join(given.names)}.")
    if env_file.is_open_to_others(path):
        terminal.say("Other users can read .env, which has secrets: chmod 600 .env")
    if not has_servers(values) and not is_small(values):
        _say_certificate(values, given, terminal)
    for name in SERVERS:
        if name in values and os.environ.get(name, values[name]) != values[name]:
            terminal.say(f"{name} of the environment differs from .env, and init uses the former.")
    return values


def _say_certificate(values: Mapping[str, str], given: Given, terminal: Terminal) -> None:
    try:
        for line in _of_certificate(values["TLS_FOLDER"], given=given, url=values[_PUBLIC_URL]):
            terminal.say(line)
    except certificate.Unusable as error:
        terminal.say(str(error))


def _mistakes(values: Mapping[str, str]) -> list[str]:
    """Return the reasons for which the product does not start with these values."""
    if has_servers(values):
        return answers.faults(values)
    template = env_file.template_values(TEMPLATE.read_text(encoding="utf-8"))
    needed = ["TLS_FOLDER", *(name for name, value in template.items() if not value)]
    empty = [f"{name} is missing or empty." for name in needed if not values.get(name, "").strip()]
    if values.get(_PUBLIC_URL) == answers.EXAMPLE_URL:
        empty.append(f"{_PUBLIC_URL} has the value of .env.example.")
    others = answers.faults({**answers.COMPOSE_SERVERS, **values})
    return [*empty, *(each for each in others if each.split()[0] not in needed)]


def has_servers(values: Mapping[str, str]) -> bool:
    """Return True if the values name the servers, False if docker-compose.yml brings them."""
    return bool(values.get(SERVERS[0]))


def is_small(values: Mapping[str, str]) -> bool:
    """Return True if Compose runs the small installation; its Caddy gets the certificate."""
    return _SMALL in values.get(_PROFILES, "").split(",")


def _text(given: Given, terminal: Terminal) -> str:
    """Ask, and return the contents of `.env`.

    Raises:
        Refused: an answer or a URL of a server is wrong or missing.
    """
    servers = _servers()
    found = {_PUBLIC_URL: _public_url(given, terminal)}
    found |= _mail(given, terminal, host=answers.host_of(found[_PUBLIC_URL]))
    if not servers:
        found |= _certificate(given, terminal, url=found[_PUBLIC_URL])
        template = TEMPLATE.read_text(encoding="utf-8")
        return env_file.filled(template, found, without=set(_OF_MAIL) - set(found))
    if given.tls_folder is not None:
        raise Refused("--tls-folder is for docker-compose.yml: a proxy of yours has TLS.")
    values = {
        **found,
        **servers,
        "NOTIFY_SECRET_KEY": env_file.secret(),
        "NOTIFY_ENCRYPTION_KEYS": env_file.secret(),
        "NOTIFY_FLOWER_PASSWORD": env_file.secret(),
    }
    if mistakes := answers.faults(values):
        raise Refused("\n".join(mistakes))
    head = "# Written by `manage.py init`. docs/settings.md has every setting."
    return "\n".join([head, *(env_file.line(name, each) for name, each in values.items()), ""])


def _servers() -> dict[str, str]:
    """Return the URLs of the servers with their passwords; empty if the environment has none.

    Raises:
        Refused: the environment has some of the three.
    """
    with_passwords = service_urls.with_passwords(os.environ)
    found = {name: with_passwords[name] for name in SERVERS if with_passwords.get(name)}
    if found and len(found) < len(SERVERS):
        lacking = ", ".join(name for name in SERVERS if name not in found)
        raise Refused(
            f"{', '.join(found)} set, but not {lacking}: set all three for servers of yours, or"
            " none for docker-compose.yml."
        )
    return {name: url.replace("'", "%27") for name, url in found.items()}


def _public_url(given: Given, terminal: Terminal) -> str:
    question = Question(
        flag="--public-url",
        text="Public address of the service, such as https://notify.example.com",
        check=answers.public_url,
    )
    return terminal.answer(question, given=_or_variable(given.public_url, _PUBLIC_URL))


def _or_variable(flag: str | None, name: str) -> str | None:
    return flag if flag is not None else os.environ.get(name) or None


def _mail(given: Given, terminal: Terminal, *, host: str) -> dict[str, str]:
    """Ask for the mail server and the sender; return the settings with the route."""
    url = _mail_server(given, terminal)
    if url == answers.NO_MAIL:
        return {"NOTIFY_ROUTES": f"{Channel.IN_APP.label}={in_app.PROVIDER}"}
    sender = _mail_sender(given, terminal, host=host)
    mail = dict(zip(_OF_MAIL, (url, sender), strict=True))
    return {**mail, "NOTIFY_ROUTES": f"{Channel.EMAIL.label}={smtp.NAME}"}


def _mail_server(given: Given, terminal: Terminal) -> str:
    """Ask for the mail server until a connection succeeds, or a person keeps the server.

    Raises:
        Refused: an answer is wrong or missing, or no connection succeeds and nobody can decide.
    """
    if given.mail_url is not None and answers.has_password(given.mail_url):
        raise Refused(
            "--mail-url: each user of this host can read a password in a command line. Leave the"
            f" password out; {_MAIL_FILE} names a file with it."
        )
    from_flag = _or_variable(given.mail_url, "NOTIFY_SMTP_URL")
    while True:
        url = _mail_url(from_flag, given, terminal)
        is_checked = url != answers.NO_MAIL and not given.skip_mail_check
        fault = answers.mail_fault(url) if is_checked else ""
        if not fault:
            return url
        terminal.say(f"  {fault}")
        if terminal.confirm("Use this mail server all the same?", flag="--skip-mail-check"):
            return url
        if not terminal.asks:
            raise Refused(
                "The mail server did not accept a connection. Correct --mail-url, or give"
                " --skip-mail-check if the server accepts the hosts of the workers alone."
            )
        from_flag = None


def _mail_url(from_flag: str | None, given: Given, terminal: Terminal) -> str:
    """Ask for the server and the password.

    Raises:
        Refused: an answer is wrong or missing, or there is a password without a user.
    """
    question = Question(
        flag="--mail-url",
        text="Mail server, such as smtp://user@smtp.example.com:587?starttls=1, or none",
        check=answers.mail_url,
    )
    url = terminal.answer(question, given=from_flag)
    user = answers.needs_password(url)
    if not user and given.mail_password is not None:
        raise Refused(f"{_MAIL_FILE}: --mail-url has no user, or has a password already.")
    if not user:
        return url
    if given.mail_password is not None:
        return answers.with_password(url, given.mail_password)
    return answers.with_password(url, terminal.password(f"Password of {user}", flag=_MAIL_FILE))


def _mail_sender(given: Given, terminal: Terminal, *, host: str) -> str:
    question = Question(
        flag="--mail-from",
        text="Sender of the mails",
        check=answers.mail_sender,
        default=f"notify@{host}" if "." in host and not host.replace(".", "").isdigit() else "",
    )
    return terminal.answer(question, given=_or_variable(given.mail_from, "NOTIFY_SMTP_FROM"))


def _certificate(given: Given, terminal: Terminal, *, url: str) -> dict[str, str]:
    """Ask for the certificate; return the setting of the folder or of the profile."""
    question = Question(
        flag="--tls-folder",
        text=f"Folder with {certificate.CHAIN} and {certificate.KEY}, or {answers.AUTOMATIC}"
        " for the small installation, which gets a certificate",
        check=partial(_check_folder, given=given, url=url, say=terminal.say),
        default="./tls",
    )
    folder = terminal.answer(question, given=_or_variable(given.tls_folder, "TLS_FOLDER"))
    return {_PROFILES: _SMALL} if folder == answers.AUTOMATIC else {"TLS_FOLDER": folder}


def _check_folder(text: str, *, given: Given, url: str, say: Callable[[str], None]) -> str:
    folder = answers.tls_folder(text)
    if folder == answers.AUTOMATIC:
        return folder
    try:
        for line in _of_certificate(folder, given=given, url=url):
            say(line)
    except certificate.Unusable as error:
        raise ValueError(str(error)) from None
    return folder


def _of_certificate(folder: str, *, given: Given, url: str) -> list[str]:
    found = certificate.check(
        given.folder / folder, name=folder, host=answers.host_of(url), now=clock.host()
    )
    return list(found)
