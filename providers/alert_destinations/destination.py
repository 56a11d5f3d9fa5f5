"""The URL of a destination: kind, checks, and a name without secrets.

mailto:oncall@example.com             the e-mail provider of the installation
pagerduty://ROUTING_KEY?region=eu     Events API v2
https://hooks.example.com/path        a webhook with a JSON body
slack://TokenA/TokenB/TokenC          and the other chat services, as Apprise writes them
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qs, urlsplit

from providers import endpoints, mailboxes
from providers.chat.services import SERVICES
from providers.transport.guard import URL_LIMIT


class DestinationKind(StrEnum):
    """The kinds of destinations."""

    MAIL = "mail"
    PAGERDUTY = "pagerduty"
    WEBHOOK = "webhook"
    CHAT = "chat"


PAGERDUTY_ORIGINS: Final = {
    "us": "https://events.pagerduty.com",
    "eu": "https://events.eu.pagerduty.com",
}
"""Source: PagerDuty, "Service regions"."""
_ROUTING_KEY: Final = re.compile(r"[A-Za-z0-9]{32}")
"""PagerDuty: "a 32 character Integration Key"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A parsed URL."""

    kind: DestinationKind
    address: str = field(repr=False)
    """Mailbox, routing key, https URL or Apprise URL."""
    origin: str = ""
    """PagerDuty: the origin of the region."""
    label: str
    """Name for operators, without a secret."""


def parse(url: str) -> Destination:
    """Parse the URL of a destination.

    Raises:
        ValueError: the URL has no known form; the message does not repeat the URL.
    """
    text = url.strip()
    if len(text) > URL_LIMIT:
        raise ValueError(f"a URL of a destination has at most {URL_LIMIT} characters")
    scheme = text.partition(":")[0].lower()
    match scheme:
        case "mailto":
            return _mail(text)
        case "pagerduty":
            return _pagerduty(text)
        case "https" | "http":
            return Destination(
                kind=DestinationKind.WEBHOOK, address=text, label=endpoints.origin(text)
            )
        case _ if scheme in SERVICES and "://" in text:
            return Destination(kind=DestinationKind.CHAT, address=text, label=scheme)
        case _:
            raise ValueError(
                "a URL of a destination starts with mailto:, pagerduty://, https:// or the scheme"
                f" of a chat service: {', '.join(SERVICES)}"
            )


def _mail(text: str) -> Destination:
    address = mailboxes.check(text.partition(":")[2].removeprefix("//"))
    shown = f"{address[:1]}***@{address.rpartition('@')[2]}"
    return Destination(kind=DestinationKind.MAIL, address=address, label=shown)


def _pagerduty(text: str) -> Destination:
    parts = urlsplit(text)
    key = parts.netloc
    region = parse_qs(parts.query).get("region", ["us"])[-1]
    if not _ROUTING_KEY.fullmatch(key) or region not in PAGERDUTY_ORIGINS:
        raise ValueError(
            "write pagerduty://KEY with the integration key of 32 characters, and ?region=eu for"
            " an account in Europe"
        )
    return Destination(
        kind=DestinationKind.PAGERDUTY,
        address=key,
        origin=PAGERDUTY_ORIGINS[region],
        label=f"pagerduty {region}",
    )
