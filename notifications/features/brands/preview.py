"""Previews of a mail in a brand: in light and dark programs, and on a phone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from notifications.core.rules.brand import Brand
from notifications.core.rules.language.templating import Reader
from notifications.core.rules.texts import wording
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

_SAMPLE: Final = TextSource(
    channel=Channel.EMAIL,
    locale="en",
    title="Your order is on its way",
    html="<h1>Your order is on its way</h1>"
    '<p>The parcel arrives on Monday. <a href="https://example.com">Follow the parcel</a>.</p>'
    '<p><a href="https://example.com" style="display: inline-block; padding: 10px 18px;'
    " border-radius: 6px; background: {{ brand.color }}; color: {{ brand.color_text }} !important;"
    ' text-decoration: none">Show the order</a></p>',
)
DARK_QUERY: Final = "@media (prefers-color-scheme: dark)"
_PHONE_PIXELS: Final = 390
_PROGRAM_PIXELS: Final = 640


@dataclass(frozen=True, slots=True)
class BrandPreview:
    """A mail as a program shows it."""

    title: str
    width: int
    """Pixels."""
    html: str


def previews(brand: Brand) -> list[BrandPreview]:
    """Return the previews of a sample mail.

    The style sheet of the frame is rewritten, because a frame in a page has the colour scheme of
    the operator's browser.
    """
    html = wording.compile_text(_SAMPLE).render({}, Reader("en"), brand=brand).html
    light = html.replace(DARK_QUERY, "@media not all")
    dark = html.replace(DARK_QUERY, "@media all")
    return [
        BrandPreview("E-mail in a light program", _PROGRAM_PIXELS, light),
        BrandPreview("E-mail in a dark program", _PROGRAM_PIXELS, dark),
        BrandPreview("E-mail on a phone", _PHONE_PIXELS, light),
    ]
