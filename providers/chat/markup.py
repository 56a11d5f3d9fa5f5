"""The text of a message in the payload of each service: text arrives as written.

Apprise writes the payload. A `finish` below corrects the fields that hold the text, because a
service reads more than words from a text: tags, mentions with a notification of a channel, links
with a text in place of the target. Texts of Discord, Google Chat and Mattermost keep their
Markdown.

A zero-width space breaks a mention or a masked link where the service has no switch: a reader sees
the same characters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from providers import html_references
from providers.chat.limits import shorten

Payload = dict[str, Any]
Finish = Callable[[Payload, str, str], None]
"""Corrects the payload of a title (perhaps empty) and a text."""
Counted = Callable[[Payload], str]
"""Returns the part of a payload that a service's limit counts."""

ZERO_WIDTH_SPACE: Final = "\u200b"
FALLBACK_CHARACTERS: Final = 500
"""Slack: a notification shows no more of a fallback, in any client."""

_MENTION: Final = re.compile(r"(?<![^\W_])@(?=\S)")
"""The @ of a mention; the @ of a mailbox follows a letter or a digit."""
_MASK: Final = re.compile(r"\](?=[(\[:])")
"""Markdown: `[text](URL)`, `[text][name]` and `[name]: URL`."""
_SLACK_MARKUP: Final = re.compile(r"<(?=!|[^<|]+\|)")
"""`<!channel>` and `<URL|text>`, which Mattermost's webhooks read as Slack does."""
_REFERENCE: Final = re.compile(r"&(?=#|\w+;)")
"""`&#64;` and `&commat;`, which Mattermost reads as the character, also in a mention."""
_OF_A_CARD: Final = re.compile(r"([\\_*\[\]()~`>#+|!&.-])")
"""Markdown's characters in a card, as Apprise escapes the text of one."""
_TAG_OF_TITLE: Final = re.compile(r"</?b>")


def text_field(payload: Payload) -> str:
    """Return the text of Google Chat, Mattermost and Rocket.Chat."""
    return str(payload["text"])


def telegram(payload: Payload, title: str, text: str) -> None:
    """Escape the text for `parse_mode` HTML.

    Apprise takes a text in angle brackets for a tag and drops the text, and joins blank lines.
    """
    head = f"<b>{html.escape(title, quote=False)}</b>\n" if title else ""
    payload["text"] = head + html.escape(text, quote=False)


def telegram_text(payload: Payload) -> str:
    """Return the text after Telegram's parsing: Telegram limits the parsed characters."""
    return html_references.unescape(_TAG_OF_TITLE.sub("", payload["text"]))


def google_chat(payload: Payload, title: str, text: str) -> None:
    """Escape brackets: `<users/all>` rings a space, and `<URL|text>` hides the target.

    https://developers.google.com/workspace/chat/format-messages has no escape for `*` and `_`.
    Apprise writes backslashes, also in URLs, and leaves the `<` of a text.
    """
    head = f"*{html.escape(title, quote=False)}*\n" if title else ""
    payload["text"] = head + html.escape(text, quote=False)


def discord(payload: Payload, title: str, text: str) -> None:
    """Prevent notifications by mentions, and show the targets of links.

    https://discord.com/developers/docs/resources/message: "Allowed mentions object". `wait` is a
    parameter of the query (`ChatService.query`), not of the body. For a thread Apprise makes an
    embed with a title of at most 256 characters; a thread gets the same text as a channel.
    """
    for name in ("wait", "embeds"):
        payload.pop(name, None)
    payload["allowed_mentions"] = {"parse": []}
    payload["content"] = _unmask("\n".join(filter(None, (title, text))))


def discord_text(payload: Payload) -> str:
    """Return the text of Discord."""
    return str(payload["content"])


def slack(payload: Payload, title: str, text: str) -> None:
    """Add the text of a notification: without `fallback`, Slack shows an empty notification."""
    plain = "\n".join(filter(None, (title, text)))
    if not _fits_fallback(plain):
        plain = shorten(plain, _fits_fallback, most=FALLBACK_CHARACTERS)
    for attachment in payload.get("attachments", ()):  # a Slack workflow has none
        attachment["fallback"] = html.escape(plain, quote=False)


def _fits_fallback(plain: str) -> bool:
    return len(plain) <= FALLBACK_CHARACTERS


def slack_text(payload: Payload) -> str:
    """Return title and text of Slack, or the values for a workflow of Slack."""
    if "attachments" not in payload:
        return teams_payload(payload)
    return "".join(each.get("title", "") + each["text"] for each in payload["attachments"])


def teams(payload: Payload, title: str, text: str) -> None:
    """Wrap and escape the title: Teams cuts off a long one, and reads Markdown in titles, too."""
    del text
    for block in payload["attachments"][0]["content"]["body"]:
        if block.get("id") == "title":
            block |= {"text": _OF_A_CARD.sub(r"\\\1", title), "wrap": True}


def teams_payload(payload: Payload) -> str:
    """Return the whole payload."""
    return orjson.dumps(payload).decode()


def mattermost(payload: Payload, title: str, text: str) -> None:
    """Prevent notifications by mentions, and show the targets of links.

    A zero-width space after `<` is a part of the URL for the server; Markdown shows `&lt;` as `<`.
    """
    del title, text
    broken = _REFERENCE.sub("&" + ZERO_WIDTH_SPACE, _unmask(payload["text"]))
    payload["text"] = _silence(_SLACK_MARKUP.sub("&lt;", broken))


def rocket_chat(payload: Payload, title: str, text: str) -> None:
    """Prevent notifications by mentions; Apprise escapes Markdown, but no mention."""
    del title, text
    payload["text"] = _silence(payload["text"])


def webex(payload: Payload, title: str, text: str) -> None:
    """Prevent notifications by mentions: `<@all>` notifies a space."""
    del title, text
    payload["markdown"] = _silence(payload["markdown"])


def webex_text(payload: Payload) -> str:
    """Return the text of Webex."""
    return str(payload["markdown"])


def _silence(text: str) -> str:
    return _MENTION.sub("@" + ZERO_WIDTH_SPACE, text)


def _unmask(text: str) -> str:
    return _MASK.sub("]" + ZERO_WIDTH_SPACE, text)
