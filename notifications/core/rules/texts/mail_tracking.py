"""Tracking of an e-mail: a picture of one pixel, and links over the service.

Only the HTML part changes; a mail without HTML stays as it is. Only `href` of `<a>` with a whole
http or https URL is replaced: a style sheet, `mailto:` and the unsubscribe link stay.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection
from html.entities import html5
from typing import Final

from notifications.core.rules.texts.short_links import is_target
from providers import html_references

LONGEST_TARGET: Final = 2_000
"""Bytes. The tracked link of a longer target might be too long for a mail program."""
PIXEL: Final = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00"
    b",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
"""A transparent GIF of one pixel."""
_HREF: Final = re.compile(
    r"(?P<begin><a\s(?:[^<>]*?\s)?href\s*=\s*)(?P<quote>[\"'])(?P<target>https?://[^\"'<>\s]+)(?P=quote)",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(
    r"&(?:#(?:[0-9]+|x[0-9a-f]+)|(?P<name>[a-z][a-z0-9]*))[;=]?", re.IGNORECASE
)
_END: Final = re.compile(r"</body\s*>", re.IGNORECASE)


def replace_links(source: str, tracked: Callable[[str], str], *, keep: Collection[str] = ()) -> str:
    """Replace the target of each link by the tracked link of the target; links in `keep` stay."""

    def replace(found: re.Match[str]) -> str:
        target = _REFERENCE.sub(_character, found["target"])
        is_long = len(target.encode()) > LONGEST_TARGET
        if target in keep or is_long or not is_target(target):
            return found[0]
        link = html.escape(tracked(target))
        return f"{found['begin']}{found['quote']}{link}{found['quote']}"

    return _HREF.sub(replace, source)


def add_pixel(source: str, url: str) -> str:
    """Add the picture at the end of the body."""
    picture = f'<img src="{html.escape(url)}" width="1" height="1" alt="" style="border:0">'
    ends = list(_END.finditer(source))
    place = ends[-1].start() if ends else len(source)
    return source[:place] + picture + source[place:]


def _character(found: re.Match[str]) -> str:
    """Return the character of a reference as a browser reads the reference in an attribute.

    A name without a semicolon and before `=` or a letter is text: `&region=eu` has no `&reg`
    (https://html.spec.whatwg.org/multipage/parsing.html#named-character-reference-state).
    """
    return (
        html_references.unescape(found[0])
        if not found["name"] or found[0][1:] in html5
        else found[0]
    )
