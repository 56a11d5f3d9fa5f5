"""A brand: the look of a producer's mails and pages, and the sender of its e-mails.

    features.brands ── row ──> Brand ── variables ──> `{{ brand.name }}` in each template
                                  |  '── sender, reply_to ──> headers of an e-mail
                                  '── color, logo ──> frame of mails, pages for recipients

A producer without a brand has the brand of the installation; without that the values below apply.
A notification keeps the template version of its acceptance; its brand is the brand at the time of
sending.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from notifications.core.rules import colors

COLOR: Final = "#1d4ed8"
FONTS: Final[Mapping[str, str]] = {
    "system": "system-ui, -apple-system, Segoe UI, Roboto, sans-serif",
    "arial": "Arial, Helvetica, sans-serif",
    "courier": "Courier New, Courier, monospace",
    "georgia": "Georgia, Times New Roman, serif",
    "tahoma": "Tahoma, Verdana, Geneva, sans-serif",
    "times": "Times New Roman, Times, serif",
    "trebuchet": "Trebuchet MS, Tahoma, sans-serif",
    "verdana": "Verdana, Geneva, sans-serif",
}
"""Name -> CSS font families that mail programs have without a download.

Without quotes, which would be escaped in a style sheet."""
DEFAULT_FONT: Final = "system"
MOST_LINKS: Final = 5
LIGHT_ROWS: Final = "#f5f5ff"
DARK_ROWS: Final = "#1f2130"
"""Background of unread rows of the light and the dark inbox component, on which text of the colour
stands (`--tint` in `features/inbox/static/.../style.css`)."""
_ORIGIN: Final = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(?=[/?#]|\Z)")


class BrandLink(NamedTuple):
    """A link in the footer of a mail."""

    label: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Brand:
    """A brand; an empty value: the brand has none."""

    name: str = ""
    logo_url: str = ""
    logo_alt: str = ""
    """Text in place of the logo; empty: the name."""
    color: str = COLOR
    """Colour of buttons and links, `#rrggbb`."""
    font: str = DEFAULT_FONT
    """A name of FONTS."""
    footer: str = ""
    postal_address: str = ""
    """Lines of text."""
    website_url: str = ""
    links: tuple[BrandLink, ...] = ()
    sender_name: str = ""
    """Display name of the From header; empty: that of the e-mail provider's setting."""
    sender_address: str = ""
    """Address of the From header; empty: that of the e-mail provider's setting."""
    reply_to: str = ""
    """Address of the Reply-To header; empty: answers go to the sender."""
    producer_id: int | None = None
    """The producer with this brand of its own; None: the brand of the installation."""

    @functools.cached_property
    def variables(self) -> Mapping[str, Any]:
        """The variable `brand` of templates: the same keys for each brand, with JSON values."""
        return {
            "name": self.name,
            "logo_url": self.logo_url,
            "logo_alt": self.logo_alt or self.name,
            "color": self.color,
            "color_text": self.color_text,
            "font": FONTS[self.font],
            "footer": self.footer,
            "postal_address": self.postal_address,
            "website_url": self.website_url,
            "links": [each._asdict() for each in self.links],
        }

    @functools.cached_property
    def logo_origin(self) -> str:
        """Scheme, host and port of the logo for a Content-Security-Policy; empty without a logo."""
        return origin(self.logo_url)

    @functools.cached_property
    def color_text(self) -> str:
        """Colour of text on `color`: black or white."""
        return colors.text_on(self.color)

    @functools.cached_property
    def color_on_rows(self) -> str:
        """Nearest shade of `color` that can be read on the light inbox component."""
        return colors.darker(self.color, on=LIGHT_ROWS)

    @functools.cached_property
    def color_on_dark(self) -> str:
        """Nearest tint of `color` that can be read on the dark inbox component."""
        return colors.lighter(self.color, on=DARK_ROWS)


DEFAULT: Final = Brand()


def origin(url: str) -> str:
    """Return scheme, host and port of an https URL; empty for another text.

    Only characters of host names are taken: a `;` would begin another directive of a policy.
    """
    found = _ORIGIN.match(url)
    return found[0] if found else ""


def color_fault(color: str) -> str:
    """Return why a colour cannot be that of a brand, as a clause; empty if it can.

    Links of the colour stand on white, so WCAG's ratio for text applies.
    """
    if not colors.is_color(color):
        return "must be # and six hexadecimal digits, such as #1d4ed8"
    ratio = colors.ratio(color, colors.WHITE)
    if ratio >= colors.LEAST_RATIO:
        return ""
    # Rounded down, so that a ratio just below the limit does not read as the limit.
    shown = int(ratio * 100) / 100
    return (
        f"has a contrast of {shown:.2f} to 1 on white, and links need {colors.LEAST_RATIO} to 1;"
        f" the nearest darker shade with enough contrast is {colors.darker(color)}"
    )


def sender_fault(address: str, permitted: frozenset[str]) -> str:
    """Return why the installation may not send from an address, as a clause; empty if it may.

    Args:
        address: the canonical address.
        permitted: canonical addresses, and domains such as `@shop.example`.
    """
    if not permitted.isdisjoint({address, "@" + address.rpartition("@")[2]}):
        return ""
    if not permitted:
        return (
            "is not permitted: NOTIFY_MAIL_SENDERS permits no sender besides that of the e-mail"
            " provider; add the address or its @domain to the setting, or leave the field empty"
        )
    return (
        f"is not permitted: the senders of NOTIFY_MAIL_SENDERS are {', '.join(sorted(permitted))}"
    )
