"""The TLS parameters of the URLs of Redis, Valkey and RabbitMQ, in one form for every client.

    rediss://:password@state:6379/0
    amqps://user:password@broker//?ssl_ca_certs=/etc/notify/ca.pem

The clients differ without this module. redis-py verifies by default, and kombu accepts each
certificate. redis-py knows `required` alone, and Celery's documentation writes `CERT_REQUIRED`. Of
a repeated parameter redis-py takes the first value and kombu the last.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

_SCHEMES: Final = ("rediss", "amqps")
REQUIREMENT: Final = "ssl_cert_reqs"
CHECK_HOST: Final = "ssl_check_hostname"
CA: Final = "ssl_ca_certs"
CERTIFICATE: Final = "ssl_certfile"
KEY: Final = "ssl_keyfile"
_KNOWN: Final = (CA, CERTIFICATE, KEY, REQUIREMENT, CHECK_HOST)
_ABOUT_TLS: Final = re.compile(
    r"(ssl|tls|ca_?cert|cert|key_?file|verify|server_name)", re.IGNORECASE
)
"""Beginnings of parameters that other clients have for TLS, such as `cacertfile` of RabbitMQ's."""
_REQUIREMENTS: Final[Mapping[str, str]] = {
    "required": "required",
    "CERT_REQUIRED": "required",
    "optional": "required",  # Python's ssl treats both alike in a client
    "CERT_OPTIONAL": "required",
    "none": "none",
    "CERT_NONE": "none",
}
"""Spelling of redis-py or of Celery -> spelling that both clients read."""
_CHECKS: Final[Mapping[str, str]] = {"true": "true", "false": "false"}


def verify(url: str) -> str:
    """Return the URL with verification written out; a URL without TLS as it is.

    Raises:
        ValueError: an unknown, repeated or empty parameter of TLS, an unknown value, a file that is
            no PEM file, or a parameter of TLS in a URL without TLS.
    """
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    given = _parameters(pairs)
    if parts.scheme not in _SCHEMES:
        if given:
            tls = "rediss" if parts.scheme.startswith("redis") else "amqps"
            raise ValueError(f"has {min(given)} without TLS; begin with {tls}:// or remove it")
        return url
    if ";" in url and "://" in url.partition("://")[2]:
        raise ValueError("names several servers; name one")
    _check_files(given)
    given[REQUIREMENT] = _one_of(_REQUIREMENTS, REQUIREMENT, given.get(REQUIREMENT, "required"))
    given[CHECK_HOST] = _one_of(_CHECKS, CHECK_HOST, given.get(CHECK_HOST, "true").lower())
    others = [(name, value) for name, value in pairs if name not in given]
    query = urlencode([*others, *given.items()], safe="/", quote_via=quote)
    return parts._replace(query=query).geturl()


def weakness(url: str) -> str:
    """Return what a `checked` URL leaves unverified, after the server's name; empty: nothing."""
    given = dict(parse_qsl(urlsplit(url).query))
    if given.get(REQUIREMENT) == "none":
        return f"may have any certificate: {REQUIREMENT}=none switches the verification off"
    if given.get(CHECK_HOST) == "false":
        return f"may have the certificate of another host: {CHECK_HOST}=false"
    return ""


def _parameters(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters of TLS by name.

    Raises:
        ValueError: an unknown, repeated or empty parameter.
    """
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in _KNOWN and _ABOUT_TLS.match(name):
            raise ValueError(
                f"has the unknown TLS parameter {name}; the parameters are {', '.join(_KNOWN)}"
            )
        if name in _KNOWN:
            if name in given:
                raise ValueError(f"has {name} twice")
            if not value:
                raise ValueError(f"has an empty {name}")
            given[name] = value
    return given


def _one_of(values: Mapping[str, str], name: str, given: str) -> str:
    if given not in values:
        raise ValueError(
            f"has an unknown {name}; write {' or '.join(dict.fromkeys(values.values()))}"
        )
    return values[given]


def _check_files(given: Mapping[str, str]) -> None:
    """Read the files as the clients will, so that a missing one does not look like an away server.

    Raises:
        ValueError: a file is missing or no PEM file of its kind.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if CA in given:
        try:
            context.load_verify_locations(given[CA])
        except OSError:
            raise ValueError(f"has an {CA} that is no readable PEM file of certificates") from None
    if KEY in given and CERTIFICATE not in given:
        raise ValueError(f"has {KEY} without {CERTIFICATE}")
    if CERTIFICATE in given:
        try:
            # An encrypted key would ask for its password at the terminal.
            context.load_cert_chain(given[CERTIFICATE], given.get(KEY), password=lambda: "")
        except OSError:
            raise ValueError(
                f"has an {CERTIFICATE} or {KEY} that is no readable PEM file, or an encrypted key"
            ) from None
