"""Visitors of messages and links: a person, or a machine on the way to the person.

Mailboxes load the pictures of a mail before any view (Apple's privacy proxy), gateways follow
each link, and chat programs fetch previews. Such a visit is no reading.

A person's visit comes from a browser or a mail program, with the platform in the user agent:
`Mozilla/5.0 (iPhone; ...) ...`. An agent without a platform is a machine: `curl/8.5`, `axios/1.6`,
`Go-http-client/2.0`, and `Mozilla/5.0` alone, which is the whole agent of Apple's proxy. Further
machines have `compatible` in the agent (`Mozilla/4.0 (compatible; ms-office; MSOffice 16)`,
`Mozilla/5.0 (compatible; Googlebot/2.1)`), or a word for the purpose. The proxies of
Gmail and Yahoo fetch a picture when the person opens the mail; Gmail's prefetch ends with
`Edge/12.246 Mozilla/5.0`. CUBOT is a brand of phones.
"""

from __future__ import annotations

import re
from typing import Final

_BROWSER: Final = re.compile(r"(?:Mozilla|Opera)/\d+\.\d+ \((?!compatible\b)[^()]*[A-Za-z]")
_MACHINE: Final = re.compile(
    r"(?<!cu)bot\b|crawl|spider|preview|prefetch|prerender|scan|headless|facebookexternalhit"
    r"|whatsapp|slack|barracuda|ms-office|monitor|Edge/12\.246 Mozilla",
    re.IGNORECASE,
)
_PROXY_OF_PERSON: Final = re.compile(r"GoogleImageProxy|YahooMailProxy")


def is_a_person(agent: str) -> bool:
    """Return True if a user agent is a person's; an empty agent is not."""
    if _PROXY_OF_PERSON.search(agent):
        return True
    return bool(_BROWSER.match(agent)) and not _MACHINE.search(agent)


def is_a_reading(*, is_machine: bool, agent: str) -> bool:
    """Return True if an opening or a click that a vendor reports counts as a reading.

    Args:
        is_machine: the vendor's own flag.
        agent: the user agent of the event; empty: the event names none, and only the flag decides.
    """
    return not is_machine and (not agent or is_a_person(agent))
