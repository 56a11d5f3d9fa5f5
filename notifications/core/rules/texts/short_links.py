"""Short links in an SMS, in place of long ones.

Only whole http and https links are replaced, only by shorter ones, and a retry of a delivery gets
the same link. A token is a keyed hash of sixty bits: at ten million links, one guess in a hundred
thousand million hits.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from providers import visitors

PATH: Final = "/l/"
TOKEN_LENGTH: Final = 10
"""Characters of base64url, all of which are in GSM-7."""
_TOKEN_BYTES: Final = 8
_LINK: Final = re.compile(
    r"https?://(?:[^\s<>\"\u2018-\u201f\u3001\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]"
    r"|\u2019(?=[a-z\u00c0-\u024f]))+",
    re.IGNORECASE,
)
"""Chinese and Japanese have no space after a link: a punctuation mark of theirs ends the link. The
quotation mark before a Latin letter is an apostrophe of the link."""
_AFTER: Final = ".,;:!?)]}'»…،؛؟।"
"""Ends of a sentence or a bracket, which are no part of a link."""
_OPENED_BY: Final = {")": "(", "]": "[", "}": "{"}


def replace_links(text: str, shorten: Callable[[str], str]) -> str:
    """Replace each link in a text by the short link, if the short link is shorter."""

    def shorter(found: re.Match[str]) -> str:
        link = _without_end(found[0])
        if not is_target(link):
            return found[0]
        short = shorten(link)
        return short + found[0][len(link) :] if len(short) < len(link) else found[0]

    return _LINK.sub(shorter, text)


def _without_end(link: str) -> str:
    """Return a link without the end of the sentence, and with the brackets that it opens itself."""
    unopened = {end: link.count(end) - link.count(begin) for end, begin in _OPENED_BY.items()}
    length = len(link)
    while link[length - 1] in _AFTER:
        last = link[length - 1]
        if last in unopened:
            if unopened[last] <= 0:
                break
            unopened[last] -= 1
        length -= 1
    return link[:length]


def is_target(link: str) -> bool:
    """Return True if a short link may lead to a link: an absolute http(s) URL with a host."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def token(delivery_id: UUID, link: str, *, key: bytes) -> str:
    """Return the token of a link in a delivery."""
    what = delivery_id.bytes + link.encode(errors="surrogatepass")
    hashed = hashlib.blake2b(what, key=key[:64], digest_size=_TOKEN_BYTES)
    return base64.urlsafe_b64encode(hashed.digest()).decode()[:TOKEN_LENGTH]


def is_a_person(*, method: str, agent: str, purpose: str) -> bool:
    """Return True if a request looks like a click.

    Phones, chat programs and mail gateways fetch links too. Requests that say so (by method,
    prefetch header or user agent, see `providers.visitors`) are no click, so the count of clicks is
    an upper estimate.
    """
    is_fetch = method != "GET" or "prefetch" in purpose.lower() or "preview" in purpose.lower()
    return not is_fetch and visitors.is_a_person(agent)
