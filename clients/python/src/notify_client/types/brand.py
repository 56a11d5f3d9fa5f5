"""Brand: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict


class BrandAnswer(TypedDict):
    """The brand of a producer's messages."""

    is_own: bool
    """False: the producer has no brand, and these are the values of the installation's brand."""

    name: str
    logo_url: str
    logo_alt: str
    color: str
    color_text: str
    """Colour of text on `color`: black or white, whichever is easier to read."""

    color_on_dark: str
    """Nearest tint of `color` that can be read on a dark page, such as the dark inbox component."""

    font: Literal[
        "system", "arial", "courier", "georgia", "tahoma", "times", "trebuchet", "verdana"
    ]
    footer: str
    postal_address: str
    website_url: str
    links: list[BrandLinkRequest]
    sender_name: str
    sender_address: str
    """Empty as well for an address that NOTIFY_MAIL_SENDERS does not permit any more."""

    reply_to: str


class BrandLinkRequest(TypedDict):
    """A link below each e-mail."""

    label: str
    url: str
    """An https URL."""


class BrandRequest(TypedDict):
    """A brand. An omitted field is empty or has its default."""

    name: str
    """The name that recipients know."""

    logo_url: NotRequired[str]
    """An https URL of an image, shown 40 pixels high; empty: the name is shown."""

    logo_alt: NotRequired[str]
    """Text in place of the logo; empty: the name."""

    color: NotRequired[str]
    """Colour of buttons and links, `#rrggbb`, with a contrast of at least 4.5 to 1 on white.

    Default: `"#1d4ed8"`.
    """

    font: NotRequired[
        Literal["system", "arial", "courier", "georgia", "tahoma", "times", "trebuchet", "verdana"]
    ]
    """Font of e-mails, which needs no download. Default: `"system"`."""

    footer: NotRequired[str]
    """Text below each e-mail."""

    postal_address: NotRequired[str]
    """Postal address below each e-mail; lines are kept."""

    website_url: NotRequired[str]
    """An https URL, below each e-mail."""

    links: NotRequired[Sequence[BrandLinkRequest]]
    """Links below each e-mail."""

    sender_name: NotRequired[str]
    """Name in the From header; empty: that of the e-mail provider's setting."""

    sender_address: NotRequired[str]
    """Address in the From header, permitted by the setting NOTIFY_MAIL_SENDERS; empty: that of
    the e-mail provider's setting.
    """

    reply_to: NotRequired[str]
    """Address in the Reply-To header; empty: answers go to the sender."""
