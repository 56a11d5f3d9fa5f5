"""Allowed addresses for URLs from untrusted sources.

A webhook URL makes the servers send a request to an address of the recipient's choice: without a
guard, `http://169.254.169.254/` reads a cloud's credentials. Two checks are needed:

- `check_url` runs at the entry of the URL: the shape, for a clear error message. `check_url` cannot
  see the address behind a name.
- `AddressPolicy` runs after libcurl resolved the name and before the connection: the address, so a
  name with another address at the second lookup (DNS rebinding) is refused as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from providers.errors import ForbiddenAddress

PORTS = frozenset({443, 8443})
"""Ports of webhooks; another port more likely belongs to a database."""

URL_LIMIT = 2048
"""Characters; browsers and proxies share the limit."""

NEVER_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "100.64.0.0/10",  # carrier-grade NAT, and some clouds' metadata
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",  # benchmarks
        "64:ff9b:1::/48",  # NAT64 of a local network, unless NOTIFY_NAT64_PREFIXES names it
        "2001::/32",  # Teredo: the same
        "2002::/16",  # 6to4: the same
        "5f00::/16",  # segment routing
        "::/96",  # IPv4-compatible: an IPv4 address in disguise
        "::ffff:0:0:0/96",  # IPv4-translated (RFC 7915): the same
        "fec0::/10",  # site-local, until RFC 3879 took them back
        "3fff::/20",  # documentation (RFC 9637)
    )
)
"""Ranges that Python 3.11's `is_global` lets through, or judges by the outer address instead of the
embedded address."""


NAT64 = IPv6Network("64:ff9b::/96")
"""The well-known prefix (RFC 6052): an IPv4 address follows, and the IPv4 address is judged."""
_NAT64_LENGTHS = frozenset({32, 40, 48, 56, 64, 96})
_IPV4_BITS = 32
_U_OCTET = slice(64, 72)
"""Bits that hold no part of the IPv4 address (RFC 6052, section 2.2)."""


def nat64_prefixes(text: str) -> tuple[IPv6Network, ...]:
    """Read NAT64 prefixes of a network, separated by commas.

    Raises:
        ValueError: an entry is no prefix, or has a length outside RFC 6052.
    """
    problem = "write NAT64 prefixes such as 2001:db8:64::/96, of 32, 40, 48, 56, 64 or 96 bits"
    try:
        found = tuple(IPv6Network(part.strip()) for part in text.split(","))
    except ValueError:
        raise ValueError(problem) from None
    if any(each.prefixlen not in _NAT64_LENGTHS for each in found):
        raise ValueError(problem)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """The allowed addresses of connections. Make one policy; requests share the policy."""

    allow_private: bool = False
    """True if the whole installation uses one private network, and in tests."""
    nat64: tuple[IPv6Network, ...] = ()
    """NAT64 prefixes of the network beside the well-known prefix: the embedded IPv4 address
    counts."""

    def permits(self, address: str) -> bool:
        """Return True if connections to a resolved IP address are allowed."""
        if self.allow_private:
            return True
        ip = _unwrap(address, (NAT64, *self.nat64))
        return ip.is_global and not ip.is_multicast and not any(ip in net for net in NEVER_PUBLIC)

    def check_url(self, url: str) -> None:
        """Check the shape of a URL at its entry.

        Raises:
            ForbiddenAddress: with the error, for display to the user. The URL is not
            repeated.
        """
        parts = _split(url)
        schemes = {"https", "http"} if self.allow_private else {"https"}
        if parts.scheme not in schemes:
            raise ForbiddenAddress("the URL must start with https://")
        if not parts.hostname:
            raise ForbiddenAddress("the URL names no host")
        if parts.username is not None or parts.password is not None:
            raise ForbiddenAddress("the URL must not carry a user name or password")
        if not self.allow_private and (parts.port or 443) not in PORTS:
            raise ForbiddenAddress("the URL's port must be 443 or 8443")
        if _is_literal(parts.hostname) and not self.permits(parts.hostname):
            raise ForbiddenAddress("the URL points at a private address")


def is_private_url(url: str) -> bool:
    """Return True if the host of a URL is `localhost` or the address of a private network."""
    try:
        host = _split(url).hostname or ""
    except ForbiddenAddress:
        return False
    if _is_literal(host):
        return not AddressPolicy().permits(host)
    return host == "localhost" or host.endswith(".localhost")


def _split(url: str) -> SplitResult:
    """Split a URL; refuse forms on which parsers disagree.

    Raises:
        ForbiddenAddress: the URL has such a form.
    """
    if len(url) > URL_LIMIT:
        raise ForbiddenAddress(f"the URL is longer than {URL_LIMIT} characters")
    if not url.isascii() or any(char <= " " or char in '\\"<>\x7f' for char in url):
        raise ForbiddenAddress("the URL has characters that must be percent-encoded")
    try:
        parts = urlsplit(url)
        _ = parts.port  # the port is only checked when it is read
    except ValueError as error:
        raise ForbiddenAddress("the URL is malformed") from error
    return parts


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _unwrap(address: str, nat64: Sequence[IPv6Network]) -> IPv4Address | IPv6Address:
    """Read an address; `::ffff:10.0.0.1` and `64:ff9b::10.0.0.1` count as 10.0.0.1."""
    ip = ip_address(address.partition("%")[0])
    if not isinstance(ip, IPv6Address):
        return ip
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    prefix = next((each for each in nat64 if ip in each), None)
    return ip if prefix is None else _behind(ip, prefix)


def _behind(ip: IPv6Address, prefix: IPv6Network) -> IPv4Address:
    """Return the IPv4 address in a NAT64 address."""
    bits = f"{int(ip):0128b}"
    if prefix.prefixlen < _U_OCTET.stop:
        bits = bits[: _U_OCTET.start] + bits[_U_OCTET.stop :]
    return IPv4Address(int(bits[prefix.prefixlen :][:_IPV4_BITS], 2))
