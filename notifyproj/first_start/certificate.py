"""The certificate and the key that the proxy of Compose reads."""

from __future__ import annotations

import datetime as dt
import stat
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

CHAIN: Final = "fullchain.pem"
KEY: Final = "privkey.pem"
_SOON: Final = dt.timedelta(days=14)
"""A certificate that ends earlier is named."""
_PROXY: Final = 101
"""User and group of nginx in the image of the proxy."""


class Unusable(Exception):
    """The proxy cannot use the files, or browsers refuse them; the message says which and why."""


def check(folder: Path, *, name: str, host: str, now: dt.datetime) -> Iterator[str]:
    """Yield a sentence for each point that needs attention before or soon after the start.

    Args:
        folder: the folder as this process sees it.
        name: the folder as TLS_FOLDER names it.
        host: the host of NOTIFY_PUBLIC_URL.
        now: the time of this host.

    Raises:
        Unusable: a file is there and wrong.
    """
    missing = [each for each in (CHAIN, KEY) if not (folder / each).is_file()]
    if missing:
        yield (
            f"{' and '.join(missing)} not found in {name} (a container sees the checkout alone):"
            " put both files there before the start."
        )
    chain = _bytes(folder / CHAIN)
    key = _bytes(folder / KEY)
    if chain is not None:
        yield from _dates(_first(chain), now=now)
        _names(_first(chain), host=host)
    if chain is not None and key is not None and _public(key) != _spki(_first(chain)):
        raise Unusable(f"{KEY} is not the key of the certificate in {CHAIN}.")
    for each in (CHAIN, KEY):
        if each not in missing and not _is_readable(folder / each):
            place = f"{name}/{each}"
            yield f"User {_PROXY}, of the proxy, cannot read {place}: sudo chown {_PROXY} {place}"


def _bytes(path: Path) -> bytes | None:
    """Return the contents; None for a missing or unreadable file."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def _first(chain: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(chain)[0]
    except (ValueError, IndexError):
        raise Unusable(f"{CHAIN} has no certificate in PEM form.") from None


def _dates(certificate: x509.Certificate, *, now: dt.datetime) -> Iterator[str]:
    begins = certificate.not_valid_before_utc
    ends = certificate.not_valid_after_utc
    if now < begins:
        raise Unusable(
            f"The certificate in {CHAIN} is valid from {begins:%Y-%m-%d %H:%M} UTC, and the clock"
            f" of this host says {now:%Y-%m-%d %H:%M}: set the clock (NTP) or renew it."
        )
    if now >= ends:
        raise Unusable(
            f"The certificate in {CHAIN} ended on {ends:%Y-%m-%d %H:%M} UTC, and the clock of this"
            f" host says {now:%Y-%m-%d %H:%M}: renew it."
        )
    if ends - now < _SOON:
        hours = (ends - now) // dt.timedelta(hours=1)
        yield f"The certificate ends in {hours} hours, on {ends:%Y-%m-%d %H:%M} UTC: renew it."


def _names(certificate: x509.Certificate, *, host: str) -> None:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise Unusable(f"The certificate in {CHAIN} names no host.") from None
    hosts = names.get_values_for_type(x509.DNSName)
    addresses = names.get_values_for_type(x509.IPAddress)
    _, _, parent = host.partition(".")
    if host in {name.lower() for name in hosts} or f"*.{parent}" in hosts:
        return
    if any(str(each) == host for each in addresses if each == _address(host)):
        return
    known = ", ".join([*hosts, *map(str, addresses)])
    raise Unusable(f"The certificate in {CHAIN} is for {known}, not for {host}.")


def _address(host: str) -> object:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _spki(certificate: x509.Certificate) -> bytes:
    return certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _public(key: bytes) -> bytes:
    try:
        private = load_pem_private_key(key, password=None)
    except TypeError:
        raise Unusable(f"{KEY} has a password: the proxy needs a key without one.") from None
    except ValueError:
        raise Unusable(f"{KEY} has no private key in PEM form.") from None
    return private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _is_readable(path: Path) -> bool:
    """Return True if the mode of a file lets the user of the proxy read the file."""
    found = path.stat()
    rights = (
        stat.S_IRUSR
        if found.st_uid == _PROXY
        else stat.S_IRGRP
        if found.st_gid == _PROXY
        else stat.S_IROTH
    )
    return bool(found.st_mode & rights)
