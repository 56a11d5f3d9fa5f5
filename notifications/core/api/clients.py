"""The address of the client, also behind trusted proxies."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from notifications.core import conf

_NETWORK_BITS: Final = 64
"""Network bits of an IPv6 address: a client usually controls a whole /64 network."""


def address_of(environ: Mapping[str, Any]) -> str:
    """Return the address of the client from a WSGI environ.

    `X-Forwarded-For` is read from the end. Addresses in NOTIFY_TRUSTED_PROXIES are skipped; the
    first address outside NOTIFY_TRUSTED_PROXIES is the client.
    """
    peer = str(environ.get("REMOTE_ADDR", ""))
    web = conf.current().web
    if not web.trusts(peer):
        return peer
    for hop in reversed(str(environ.get("HTTP_X_FORWARDED_FOR", "")).split(",")):
        if not web.trusts(hop.strip()):
            return hop.strip() or peer
    return peer


def key_behind_proxies(peer: str, forwarded_for: str) -> str:
    """Return the key of a client for rate limits, from its peer address and `X-Forwarded-For`."""
    environ = {"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_FOR": forwarded_for}
    return rate_limit_key(address_of(environ))


def rate_limit_key(address: str) -> str:
    """Return the key of an address for rate limits: an IPv4 address or an IPv6 /64 network."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if not isinstance(ip, IPv6Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return f"{int(ip) >> _NETWORK_BITS:016x}"
