"""The text of a message in the payload of each service: text arrives as written.

Apprise writes the payload. A `finish` below corrects the fields that hold the text, because a
service reads more than words from a text. Texts of Discord and Mattermost stay Markdown, as Apprise
sends them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, Final

Payload = dict[str, Any]
Finish = Callable[[Payload, str, str], None]
"""Corrects the payload of a title (perhaps empty) and a text."""

_TAG_OF_TITLE: Final = re.compile(r"</?b>")


def unchanged(payload: Payload, title: str, text: str) -> None:
    """Leave a payload in which Apprise escapes the whole text."""
    del payload, title, text


def telegram(payload: Payload, title: str, text: str) -> None:
    """Escape the text for `parse_mode` HTML.

    Apprise takes a text in angle brackets for a tag and drops the text, and joins blank lines.
    """
    head = f"<b>{html.escape(title, quote=False)}</b>\n" if title else ""
    payload["text"] = head + html.escape(text, quote=False)


def shown_by_telegram(payload: Payload) -> str:
    """Return the text after Telegram's parsing, whose characters are limited."""
    return html.unescape(_TAG_OF_TITLE.sub("", payload["text"]))
