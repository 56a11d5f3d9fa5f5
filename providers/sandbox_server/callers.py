"""Protection of the sandbox from requests of foreign web pages.

The sandbox listens on the developer's machine without a sign-in, and holds messages with codes. A
page of another site can make the browser send requests to the sandbox: under the sandbox's name,
which `Origin` shows, or under a foreign name that resolves to 127.0.0.1, which `Host` shows.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from providers.sandbox_server.wire import ServerRequest

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_READS: Final = frozenset({"GET", "HEAD"})


def refusal(request: ServerRequest, *, hosts: frozenset[str]) -> str:
    """Return the reason for a refusal; empty if the request is allowed.

    Args:
        request: any request.
        hosts: names besides the loopback's that Host may have.
    """
    host = request.headers.get("host")  # browsers always send it
    if host is not None and _name(host) not in _LOOPBACK | hosts:
        return "this Host is not the sandbox's: start it with --allow-host"
    origin = request.headers.get("origin")
    if request.method not in _READS and origin is not None and urlsplit(origin).netloc != host:
        return "a page of another site may change nothing here"
    return ""


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
