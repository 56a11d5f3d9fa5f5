"""The images of a template in the preview of a mail.

A mail names an image of its own as `cid:` and the inline id. A browser cannot load such an address,
so the preview has the image as a `data:` URL: no address of the admin, because the sandboxed frame
of a preview sends no cookie. The policy of the admin lets a page show `data:` images, and an image
runs no script.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from notifications.core.delivery import attached
from notifications.core.rules.attachments import Attachment

MOST_BYTES: Final = 1_000_000
"""Bytes of the images of a preview together, each as often as the mail shows the image: a preview
is sent anew while an author types."""

_REFERENCE: Final = re.compile(
    r"""(\bsrc\s*+=\s*+["']?+\s*+|\burl\(\s*+["']?+\s*+)cid:([A-Za-z0-9_\-]++)""", re.IGNORECASE
)
_IMAGE: Final = "image/"


class MailPage(NamedTuple):
    """The HTML part of a mail, as a preview shows the part."""

    source: str
    too_large: tuple[str, ...]
    """Names of the images that the preview leaves out for their size."""


def show(html: str, files: Sequence[Attachment]) -> MailPage:
    """Return the HTML with the images among `files`; other references stay as they are."""
    images = {
        each.inline_id: each for each in files if each.inline_id and each.type.startswith(_IMAGE)
    }
    if not images or "cid:" not in html.lower():
        return MailPage(html, ())
    left = MOST_BYTES
    urls: dict[str, str] = {}
    too_large: dict[str, None] = {}

    def data_url(match: re.Match[str]) -> str:
        nonlocal left
        file = images.get(match[2])
        if file is None:
            return match[0]
        if file.size > left:
            too_large[file.name] = None
            return match[0]
        if match[2] not in urls:
            urls[match[2]] = _url(file)
        if not urls[match[2]]:
            return match[0]
        left -= file.size
        return match[1] + urls[match[2]]

    return MailPage(_REFERENCE.sub(data_url, html), tuple(too_large))


def _url(file: Attachment) -> str:
    """Return an image as a URL; empty: the content was deleted."""
    content = attached.content_of(file)
    if content is None:
        return ""
    return f"data:{file.type};base64,{base64.b64encode(content).decode()}"
