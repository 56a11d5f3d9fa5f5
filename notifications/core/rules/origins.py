"""Origins of web pages (RFC 6454), as browsers send them in the header `Origin`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

EVERY: Final = "*"
"""Stands for every origin in the list of a producer."""
LONGEST: Final = 255
_SHAPE: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?"
)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_LAST_PORT: Final = 65_535


def normalize(text: str) -> str:
    """Return an origin as browsers send the origin: lower case, without the default port.

    Apps in a web view have schemes of their own, such as `capacitor://localhost`.

    Raises:
        ValueError: the text is no origin; the message names the fault.
    """
    origin = text.strip().lower()
    if origin == EVERY:
        return EVERY
    match = _SHAPE.fullmatch(origin)
    if match is None or len(origin) > LONGEST or int(match["port"] or 0) > _LAST_PORT:
        msg = (
            f"{text!r} is no origin: write scheme://host or scheme://host:port, such as"
            " https://shop.example, without a path, in ASCII (punycode for other letters)"
        )
        raise ValueError(msg)
    if match["port"] == _DEFAULT_PORTS.get(match["scheme"]):
        return f"{match['scheme']}://{match['host']}"
    return origin


def of_url(url: str) -> str:
    """Return the origin of a URL of this installation."""
    parts = urlsplit(url)
    return normalize(f"{parts.scheme}://{parts.netloc}")


def header_value(origin: str, allowed: Collection[str]) -> str:
    """Return the value of `Access-Control-Allow-Origin`; empty: the origin is not permitted.

    The value is an entry of the list, never other text of the request. `null`, the origin of
    sandboxed frames and local files, is permitted by `*` only.
    """
    if origin in allowed and origin != EVERY:
        return origin
    return EVERY if origin and EVERY in allowed else ""
