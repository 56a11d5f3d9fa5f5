"""The ends of the certificates that the settings name."""

from __future__ import annotations

import datetime as dt
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from django.db import connections

from notifications.core import conf, server_tls
from notifications.core.deploy_checks import DATABASES
from notifications.core.store.postgres.alerts import SUBJECT_LENGTH

SOON: Final = dt.timedelta(days=14)
"""A certificate that ends earlier is named."""
_CONNECT_SECONDS: Final = 0.9
"""Time for the server of NOTIFY_PUBLIC_URL; a run of a sweep ends within a second."""
_HTTPS: Final = 443
_MINUTE: Final = "%Y-%m-%d %H:%M UTC"
"""Form of an end in a sentence."""
_OF_SYSTEM: Final = "system"
"""The value of `sslrootcert` for the authorities of the system."""
_RENEW_FILE: Final = "replace the file and restart the processes"
_RENEW_PROXY: Final = "renew it where the proxy reads it, and reload the proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate that a setting names."""

    setting: str
    """Variable, and parameter of its URL: `REDIS_URL ssl_certfile`."""
    place: str
    """The file, or the server."""
    ends_at: dt.datetime | None
    """None: it could not be read."""
    cure: str

    @property
    def subject(self) -> str:
        """Return setting and place, as the subject of an alert."""
        return f"{self.setting} {self.place}"[:SUBJECT_LENGTH]

    def ends_within(self, time: dt.timedelta, *, now: dt.datetime) -> bool:
        """Return True if the certificate is known to end within a time from now."""
        return self.ends_at is not None and self.ends_at <= now + time

    def sentence(self, *, now: dt.datetime) -> str:
        """Return setting, place, end and cure of a certificate with a known end."""
        left = (self.ends_at or now) - now
        hours = left // dt.timedelta(hours=1)
        ends = "ended" if left <= dt.timedelta(0) else f"ends in {hours} hours,"
        at = f"{self.ends_at:{_MINUTE}}"
        return f"{self.setting}: the certificate of {self.place} {ends} at {at}: {self.cure}"


def end_in(sentence: str) -> dt.datetime | None:
    """Return the end that a sentence of a certificate names; None for a sentence without one."""
    found = re.search(r" at ([0-9: -]{16} UTC): ", sentence)
    try:
        return dt.datetime.strptime(found[1], _MINUTE).replace(tzinfo=dt.UTC) if found else None
    except ValueError:
        return None


def of_files() -> Iterator[Certificate]:
    """Yield the certificates in the files of the URLs of PostgreSQL, Redis and the broker."""
    for setting, file, is_authority in _files():
        yield Certificate(
            setting=setting,
            place=file,
            ends_at=_end_of_file(Path(file), is_authority=is_authority),
            cure=_RENEW_FILE,
        )


def of_public_url() -> Iterator[Certificate]:
    """Yield the certificate that the server of NOTIFY_PUBLIC_URL shows; connects to the server."""
    parts = urlsplit(conf.current().public_url)
    if parts.scheme == "https" and parts.hostname:
        yield Certificate(
            setting="NOTIFY_PUBLIC_URL",
            place=parts.hostname,
            ends_at=_end_of_server(parts.hostname, parts.port or _HTTPS),
            cure=_RENEW_PROXY,
        )


def _files() -> Iterator[tuple[str, str, bool]]:
    """Yield setting, path, and whether the file has authorities."""
    settings = conf.current()
    for variable, url in (
        ("REDIS_URL", settings.state_url),
        ("CELERY_BROKER_URL", settings.broker_url),
    ):
        given = dict(parse_qsl(urlsplit(url).query))
        for name in (server_tls.CA, server_tls.CERTIFICATE):
            if name in given:
                yield f"{variable} {name}", given[name], name == server_tls.CA
    for alias, variable in DATABASES.items():
        options = connections[alias].settings_dict["OPTIONS"] if alias in connections else {}
        for name in ("sslrootcert", "sslcert"):
            if options.get(name, _OF_SYSTEM) != _OF_SYSTEM:
                yield f"{variable} {name}", options[name], name == "sslrootcert"


def _end_of_file(path: Path, *, is_authority: bool) -> dt.datetime | None:
    from cryptography import x509  # noqa: PLC0415 - most installations name no file

    try:
        found = x509.load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError):
        return None
    ends = [each.not_valid_after_utc for each in found]
    return max(ends) if is_authority else ends[0]


def _end_of_server(host: str, port: int) -> dt.datetime | None:
    """Return the end of a server's certificate; None if the server or the DNS is slow."""
    found: list[dt.datetime | None] = []
    work = threading.Thread(
        target=lambda: found.append(_connect(host, port)), name="certificate", daemon=True
    )
    work.start()
    work.join(_CONNECT_SECONDS)
    return found[0] if found else None


def _connect(host: str, port: int) -> dt.datetime | None:
    """Read the certificate of a server; nothing is sent, so nothing is verified."""
    from cryptography import x509  # noqa: PLC0415 - as above

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS) as link,
            # Python limits the whole handshake by the timeout of the socket.
            context.wrap_socket(link, server_hostname=host) as tls,
        ):
            shown = tls.getpeercert(binary_form=True)
    except (OSError, ValueError):  # such as a host name that cannot be encoded
        return None
    return x509.load_der_x509_certificate(shown).not_valid_after_utc if shown else None
