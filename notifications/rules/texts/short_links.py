"""Long links in an SMS, replaced by short ones of ours.

Promise: only whole http and https links are replaced, only by something shorter, and always by the
same: a retry of a delivery sends the same words. A token is a keyed hash, so nobody can guess the
next one; sixty bits leave one hit in a hundred thousand million tries at ten million links.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

PATH: Final = "/l/"
TOKEN_LENGTH: Final = 10
"""Characters of base64url, all of which are in GSM-7."""
_TOKEN_BYTES: Final = 8
_LINK: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_AFTER: Final = ".,;:!?)]}'»”\u2019…،。"
"""What ends a sentence or a bracket, and no link."""
_MACHINES: Final = re.compile(
    r"bot\b|crawl|spider|preview|scan|facebookexternalhit|whatsapp|slack|curl|wget|python|java/|go-http",
    re.IGNORECASE,
)


def replaced(text: str, shorten: Callable[[str], str]) -> str:
    """The text with each of its links cut short, where that makes it shorter."""

    def shorter(found: re.Match[str]) -> str:
        link = found[0].rstrip(_AFTER)
        if not is_target(link):
            return found[0]
        short = shorten(link)
        return short + found[0][len(link) :] if len(short) < len(link) else found[0]

    return _LINK.sub(shorter, text)


def is_target(link: str) -> bool:
    """Tell whether a short link may lead there: an absolute http or https URL with a host."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def token(delivery_id: UUID, link: str, *, key: bytes) -> str:
    """The same for the same link of a delivery."""
    what = delivery_id.bytes + link.encode(errors="surrogatepass")
    hashed = hashlib.blake2b(what, key=key[:64], digest_size=_TOKEN_BYTES)
    return base64.urlsafe_b64encode(hashed.digest()).decode()[:TOKEN_LENGTH]


def is_a_person(*, method: str, agent: str, purpose: str) -> bool:
    """Tell whether a request looks like somebody who touched the link.

    Phones and chat programs fetch a link to show what is behind it, mail gateways to check it. What
    says so of itself (its method, a prefetch header, its user agent) counts as no click; what hides
    it is counted, so clicks are an estimate from above.
    """
    is_fetch = method != "GET" or "prefetch" in purpose.lower() or "preview" in purpose.lower()
    return not is_fetch and bool(agent) and not _MACHINES.search(agent)
