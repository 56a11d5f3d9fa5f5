"""Checks of the answers: those of each start of a process, and those of the first start alone.

A check returns the answer in its final form, or raises ValueError with the fault and the cure. No
message contains a password.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from notifyproj import environment
from notifyproj.first_start import env_file
from notifyproj.first_start.terminal import Refused
from providers import configuration, mailboxes, registry

COMPOSE_SERVERS: Final[Mapping[str, str]] = MappingProxyType({
    "DATABASE_URL": "postgresql://notify_app@postgres:5432/notify",
    "REDIS_URL": "redis://state:6379/0",
    "CELERY_BROKER_URL": "redis://broker:6379/0",
})
"""Addresses in docker-compose.yml, which .env does not repeat."""
EXAMPLE_URL: Final = "https://notify.example.com"
"""NOTIFY_PUBLIC_URL in .env.example."""
NO_MAIL: Final = "none"
"""The answer of an installation without SMTP: another provider, or no e-mail."""
AUTOMATIC: Final = "automatic"
"""The answer of an installation whose Caddy gets the certificate: the profile `small`."""
_ADDRESS: Final = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?", re.ASCII)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_LONGEST_NAME: Final = 150
_NAME: Final = re.compile(r"[\w.@+-]+", re.ASCII)
"""Of an account: Django's UnicodeUsernameValidator and the length of its column."""
_MAIL_FORM: Final = "smtp://user@host:587?starttls=1"
_HINT: Final = "leave the password out: init asks for it, and it may have any characters"
_ANY_SENDER: Final = "notify@example.com"
_MAIL_DEADLINE: Final = dt.timedelta(seconds=10)
_ANSWER: Final = re.compile(r"(?P<code>[^:]+): (?P<text>.+)")
"""An outcome of the mail server, as its finding shows it."""
_WORDS: Final = MappingProxyType({
    "ConnectionRefusedError": "no server listens at this host and port",
    "TimeoutError": "no answer; a firewall may be between",
    "gaierror": "the name of the host is unknown",
    "SSLCertVerificationError": "the certificate of the server is not trusted, or is for another"
    " name; SSL_CERT_FILE names a private authority",
    "SSLError": "the server does not speak TLS at this port; use smtp://host:587?starttls=1",
    "ConnectionResetError": "the server closed the connection",
    "SMTPServerDisconnected": "the server closed the connection",
})
"""Error of a connection -> the fault in words."""


def faults(values: Mapping[str, str]) -> list[str]:
    """Return a line for each mistake in the settings of a process."""
    try:
        environment.load(values)
    except environment.InvalidEnvironment as error:
        return str(error).splitlines()
    return []


def _check(name: str, **values: str) -> None:
    """Check a setting beside complete and valid settings.

    Raises:
        ValueError: the setting has a mistake.
    """
    others = {
        **COMPOSE_SERVERS,
        "NOTIFY_SECRET_KEY": env_file.secret(),
        "NOTIFY_ENCRYPTION_KEYS": env_file.secret(),
        "NOTIFY_PUBLIC_URL": "https://localhost",
        "NOTIFY_ROUTES": "in_app=inbox",
    }
    found = [each for each in faults({**others, **values}) if each.startswith(name)]
    if found:
        raise ValueError(" ".join(found))


def public_url(text: str) -> str:
    """Check NOTIFY_PUBLIC_URL: https, a host and perhaps a port; http for this machine alone.

    Raises:
        ValueError: the URL has another form.
    """
    _check("NOTIFY_PUBLIC_URL", NOTIFY_PUBLIC_URL=text)
    parts = urlsplit(text)
    host = parts.hostname or ""
    if text.rstrip("/") == EXAMPLE_URL:
        raise ValueError("This is the address of the example; give the address of your service.")
    if any(each.isspace() for each in text):
        raise ValueError("The URL has a space; remove it.")
    if parts.username or parts.query or parts.fragment or parts.path.strip("/"):
        raise ValueError("The URL has more than a host and a port; write https://host.")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise ValueError(
            "The URL must begin with https://: keys and passwords would cross the network readable."
            " http:// is for localhost only."
        )
    url = f"{parts.scheme}://{parts.netloc.lower()}"
    if not _ADDRESS.fullmatch(url):
        raise ValueError(
            "The host has a character that no name of a host has; write a name beyond ASCII as"
            " browsers send it, such as xn--bcher-kva.example."
        )
    return url


def host_of(url: str) -> str:
    """Return the host of a URL in lower case."""
    return urlsplit(url).hostname or ""


def mail_url(text: str) -> str:
    """Check NOTIFY_SMTP_URL; returns `none`, or the URL with apostrophes encoded for .env.

    Raises:
        ValueError: the URL has another form.
    """
    if text == NO_MAIL:
        return text
    if not text.startswith(("smtp://", "smtps://")):
        raise ValueError(f"The URL must begin with smtp:// or smtps://, such as {_MAIL_FORM}.")
    try:
        parts = configuration.split_url(text)
    except ValueError:
        raise ValueError(f"The URL has the form {_MAIL_FORM}; {_HINT}.") from None
    if parts.path.strip("/") or parts.fragment or any(each.isspace() for each in text):
        raise ValueError(
            "The URL has a space, / or # in the user name or the password: write %20, %2F or %23"
            f" in the user name; {_HINT}."
        )
    url = text.replace("'", "%27")
    _check("NOTIFY_SMTP_URL", NOTIFY_SMTP_URL=url, NOTIFY_SMTP_FROM=_ANY_SENDER)
    return url


def needs_password(url: str) -> str:
    """Return the user name of a URL without a password; empty if no password is needed."""
    parts = urlsplit(url)
    return "" if parts.password else unquote(parts.username or "")


def has_password(url: str) -> bool:
    """Return True if the URL has a password."""
    try:
        return bool(configuration.split_url(url).password)
    except ValueError:
        return "@" in url


def with_password(url: str, password: str) -> str:
    """Return the URL with a password, percent-encoded."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    encoded = quote(password, safe="")
    return parts._replace(netloc=f"{user.removesuffix(':')}:{encoded}@{host}").geturl()


def mail_sender(text: str) -> str:
    """Check NOTIFY_SMTP_FROM.

    Raises:
        ValueError: the text is no mailbox.
    """
    _check("NOTIFY_SMTP_FROM", NOTIFY_SMTP_URL="smtp://mail.example.com", NOTIFY_SMTP_FROM=text)
    return _storable("NOTIFY_SMTP_FROM", text)


def _storable(name: str, value: str) -> str:
    """Return a value that .env can have.

    Raises:
        ValueError: no form of the line gives every reader the same value.
    """
    try:
        env_file.line(name, value)
    except Refused as error:
        raise ValueError(str(error)) from None
    return value


def mail_fault(url: str) -> str:
    """Connect and sign in as a worker does; returns the fault, empty for a server that works."""
    settings = {"NOTIFY_SMTP_URL": url, "NOTIFY_SMTP_FROM": _ANY_SENDER}
    provider = registry.build_all(settings)["smtp"]
    bad = [each for each in provider.check(deadline=_MAIL_DEADLINE) if not each.is_good]
    return "; ".join(f"{each.subject}: {_in_words(each.detail)}" for each in bad)


def _in_words(detail: str) -> str:
    """Return a finding of the provider as a sentence."""
    answer = _ANSWER.fullmatch(detail)
    if answer is not None:
        code = f"{answer['code']} " if answer["code"][:1].isdecimal() else ""
        return f"the sign-in failed: {code}{answer['text']}"
    return _WORDS.get(detail, detail)


def tls_folder(text: str) -> str:
    """Check TLS_FOLDER: Compose takes a path without / or ./ at the beginning for a volume.

    Returns `automatic`, or the path.

    Raises:
        ValueError: the path has another form.
    """
    if text == AUTOMATIC:
        return text
    if not text.startswith(("/", "./")) or ":" in text:
        raise ValueError("The folder must begin with / or ./ and have no colon, such as ./tls.")
    return _storable("TLS_FOLDER", f"./{PurePosixPath(text)}" if text.startswith("./") else text)


def owner(text: str) -> str:
    """Check the e-mail address of the first administrator, which is also the name of the account.

    Raises:
        ValueError: the text is no address, or is too long for a name.
    """
    try:
        address = mailboxes.check(text)
    except mailboxes.MalformedAddress as error:
        raise ValueError(f"The address {error}.") from None
    if len(address) > _LONGEST_NAME or not _NAME.fullmatch(address):
        raise ValueError(
            f"The address is the name of the account too: up to {_LONGEST_NAME} letters, digits and"
            " @.+-_ only. Give another address; an owner can change it in the admin."
        )
    return address
