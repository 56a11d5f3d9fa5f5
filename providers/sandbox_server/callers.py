"""Who may ask the sandbox: nobody else's web page.

The sandbox listens on the developer's machine and has no sign-in, and it holds what people would
get, codes included. A page of another site can make the browser send requests here: under this
server's name, which `Origin` gives away, or under a name of its own that it has resolved to
127.0.0.1, which `Host` gives away.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from providers.sandbox_server.wire import Request

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_READS: Final = frozenset({"GET", "HEAD"})


def refusal(request: Request, *, hosts: frozenset[str]) -> str:
    """Why this request is refused; empty when it is not.

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
