"""Filters for a variable that begins the address of a link or of an image in a mail.

    {{ url|link_address }}      https://, http://, mailto:, tel: or an empty value
    {{ url|image_address }}     https://, http://, cid: or an empty value

The value must hold the whole scheme, so the text behind the variable cannot change the scheme.
`required=true` refuses an empty value, for a variable that is not the whole address.
`texts.mail_blocks` writes these filters; authors of HTML may use them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from jinja2.runtime import Undefined

from notifications.core.rules.language.formats import RenderError

LINK: Final = "link_address"
IMAGE: Final = "image_address"
FILTERS: Final = frozenset({LINK, IMAGE})
_LINK_SCHEMES: Final = re.compile("https?://|mailto:|tel:", re.IGNORECASE)
_IMAGE_SCHEMES: Final = re.compile("https?://|cid:", re.IGNORECASE)


def filters() -> dict[str, Callable[..., str]]:
    """Return the filters by name."""
    return {LINK: _link_address, IMAGE: _image_address}


def _link_address(value: object, *, required: bool = False) -> str:
    """Return the address of a link.

    Raises:
        RenderError: the value is no text, has another scheme, or is empty and required.
    """
    address = _text(value)
    if not _LINK_SCHEMES.match(address) and (address or required):
        raise RenderError("the address of a link begins with https://, http://, mailto: or tel:")
    return address


def _image_address(value: object, *, required: bool = False) -> str:
    """Return the address of an image.

    Raises:
        RenderError: as `_link_address`.
    """
    address = _text(value)
    if not _IMAGE_SCHEMES.match(address) and (address or required):
        raise RenderError("the address of an image begins with https://, http:// or cid:")
    return address


def _text(value: object) -> str:
    """Return the value as text; null is empty.

    Raises:
        RenderError: the value is no text.
        jinja2.exceptions.UndefinedError: the variable is missing.
    """
    if value is None:
        return ""
    if not isinstance(value, str | Undefined):
        raise RenderError("an address is a text")
    return str(value).strip()
