"""Who calls, as an address: the client's own, also behind our proxies."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from notifications import conf

_NETWORK_BITS: Final = 64
"""Of an IPv6 address: whoever has one address has a network of them."""


def address_of(environ: Mapping[str, Any]) -> str:
    """The address of the client, from a WSGI environ.

    `X-Forwarded-For` is believed as far as proxies in NOTIFY_TRUSTED_PROXIES wrote it: from its
    end, up to the first address that is none of them.
    """
    peer = str(environ.get("REMOTE_ADDR", ""))
    web = conf.current().web
    if not web.trusts(peer):
        return peer
    for hop in reversed(str(environ.get("HTTP_X_FORWARDED_FOR", "")).split(",")):
        if not web.trusts(hop.strip()):
            return hop.strip() or peer
    return peer


def counted_as(address: str) -> str:
    """What limits count: an IPv4 address, or the 64 bits of an IPv6 network."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if not isinstance(ip, IPv6Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return f"{int(ip) >> _NETWORK_BITS:016x}"
