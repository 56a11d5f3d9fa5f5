"""Names of the endpoints of addresses: keys of endpoint health, safe to log and to show.

    https://hooks.example:443            a webhook: the origin of its URL
    tgram:5e884898da280471               chat: the service, and a hash of the host or credential

See `providers.contract.Capabilities.endpoint_of`.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

MALFORMED: Final = "malformed"
"""The endpoint of unreadable addresses; no call is ever made for an unreadable address."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def origin(url: str) -> str:
    """Give scheme, host and port of a URL; user, password, path and query are left out."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return MALFORMED
    if not parts.hostname or port is None:
        return MALFORMED
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def audience(url: str) -> str:
    """Return the origin of a URL as RFC 6454, 6.2, writes it: without the scheme's default port.

    The `aud` of a Web Push signature (RFC 8292, 2).
    """
    parts = urlsplit(url)
    default = f":{_DEFAULT_PORTS.get(parts.scheme)}"
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(default)}"


def lower_host(url: str) -> str:
    """Return a URL with scheme and host in lower case; a malformed URL as it is."""
    try:
        netloc = urlsplit(url).netloc
    except ValueError:
        return url
    scheme, colon, rest = url.partition("://")
    if not colon or not netloc or not rest.startswith(netloc):
        return url
    user, at, host = netloc.rpartition("@")
    return f"{scheme.lower()}://{user}{at}{host.lower()}{rest[len(netloc) :]}"


def chat_account(address: str) -> str:
    """Return the service of an Apprise URL and a hash of the part that follows its scheme.

    The part is the host of a self-hosted service, or the token, workspace or webhook of another
    service: all addresses of one account share the part.
    """
    service, separator, rest = address.partition("://")
    if not separator:
        return MALFORMED
    account = rest.partition("?")[0].partition("/")[0].rpartition("@")[2]
    return f"{service.lower()}:{sha256(account.encode(errors='replace')).hexdigest()[:16]}"
