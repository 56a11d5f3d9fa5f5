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
ZULIP_TOPIC_CHARACTERS: Final = 60
LINE_NAME_CHARACTERS: Final = 20
VIBER_NAME_CHARACTERS: Final = 28
NTFY_PAYLOAD_BYTES: Final = 8_192
PUSHOVER_TITLE_CHARACTERS: Final = 250

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
_TAG_OF_LARK: Final = re.compile(r"<(?=/?at\b)", re.IGNORECASE)
_ALL_DEVICES_OF_APPRISE: Final = "ALL_DEVICES"
_TAG_OF_TITLE: Final = re.compile(r"</?b>")


def lines_at(*path: str, clean: Callable[[str], str] = str) -> Finish:
    """Return what writes title and text, in lines, to a place of the payload."""

    def finish(payload: Payload, title: str, text: str) -> None:
        place: Any = payload
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = clean(_lines(title, text))

    return finish


def text_at(*path: str | int) -> Counted:
    """Return what reads the text at a place of the payload."""

    def read(payload: Payload) -> str:
        place: Any = payload
        for key in path:
            place = place[key]
        return str(place)

    return read


def _lines(title: str, text: str) -> str:
    return "\n".join(filter(None, (title, text)))


def text_field(payload: Payload) -> str:
    """Return the text of Google Chat, Mattermost, Rocket.Chat and Threema."""
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
    payload["content"] = _unmask(_lines(title, text))


def discord_text(payload: Payload) -> str:
    """Return the text of Discord."""
    return str(payload["content"])


def slack(payload: Payload, title: str, text: str) -> None:
    """Add the text of a notification: without `fallback`, Slack shows an empty notification."""
    fallback = _lines(title, text)
    if not _fits_fallback(fallback):
        fallback = shorten(fallback, _fits_fallback, most=FALLBACK_CHARACTERS)
    for attachment in payload.get("attachments", ()):  # a Slack workflow has none
        attachment["fallback"] = html.escape(fallback, quote=False)


def _fits_fallback(plain: str) -> bool:
    return len(plain) <= FALLBACK_CHARACTERS


def slack_text(payload: Payload) -> str:
    """Return title and text of Slack, or the values for a workflow of Slack."""
    if "attachments" not in payload:
        return whole_payload(payload)
    return "".join(each.get("title", "") + each["text"] for each in payload["attachments"])


def teams(payload: Payload, title: str, text: str) -> None:
    """Wrap and escape the title: Teams cuts off a long one, and reads Markdown in titles, too."""
    del text
    for block in payload["attachments"][0]["content"]["body"]:
        if block.get("id") == "title":
            block |= {"text": _OF_A_CARD.sub(r"\\\1", title), "wrap": True}


def whole_payload(payload: Payload) -> str:
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


def matrix(payload: Payload, title: str, text: str) -> None:
    """Escape the text for Hookshot, which would read a `text` without `html` as Markdown."""
    head = f"<strong>{html.escape(_silence(title))}</strong><br>" if title else ""
    payload["text"] = _silence(_lines(title, text))
    payload["html"] = head + html.escape(_silence(text)).replace("\n", "<br>")


def zulip(payload: Payload, title: str, text: str) -> None:
    """Write the title into the text where it cannot be the topic.

    https://zulip.com/api/send-message: a direct message has no topic, and Zulip cuts off a long
    one. A topic rings no user.
    """
    is_topic = payload["type"] == "stream" and len(title) <= ZULIP_TOPIC_CHARACTERS
    if title and not is_topic:
        payload["topic"] = title[:ZULIP_TOPIC_CHARACTERS]
    payload["content"] = plain(text if is_topic else _lines(title, text))


def line(payload: Payload, title: str, text: str) -> None:
    """Cut the sender's name: LINE refuses a longer one."""
    (message,) = payload["messages"]
    message["text"] = _lines(title, text)
    message["sender"]["name"] = message["sender"]["name"][:LINE_NAME_CHARACTERS]


def viber(payload: Payload, title: str, text: str) -> None:
    """Cut the sender's name: Viber refuses a longer one."""
    payload["text"] = _lines(title, text)
    payload["sender"]["name"] = payload["sender"]["name"][:VIBER_NAME_CHARACTERS]


def pushover(payload: Payload, title: str, text: str) -> None:
    """Keep the recipient's own sound and devices, and cut the title."""
    payload.pop("sound", None)
    if payload.get("device") == _ALL_DEVICES_OF_APPRISE:
        del payload["device"]
    titled(payload, title, text)
    if len(title) > PUSHOVER_TITLE_CHARACTERS:
        payload["title"] = shorten(
            title, lambda part: len(part) <= PUSHOVER_TITLE_CHARACTERS, most=len(title)
        )


def titled(payload: Payload, title: str, text: str) -> None:
    """Write title and text to the two fields of a push notification, which has no markup."""
    payload["message"] = text
    if title:
        payload["title"] = title
    else:
        payload.pop("title", None)


def ntfy_text(payload: Payload) -> str:
    """Return the message of ntfy; the payload if ntfy refuses the payload as a whole.

    The server's server/server.go: JSON must be shorter than twice the longest message, and a line
    end or a quote is longer in JSON.
    """
    whole = whole_payload(payload)
    is_taken = len(whole.encode()) < NTFY_PAYLOAD_BYTES
    return str(payload["message"]) if is_taken else whole


def plain(text: str) -> str:
    """Prevent notifications by mentions, and show the targets of links."""
    return _silence(_unmask(text))


def without_tags_of_lark(text: str) -> str:
    """Break `<at user_id="all">`, which rings a group."""
    return _TAG_OF_LARK.sub("<" + ZERO_WIDTH_SPACE, text)


def without_tags_of_wecom(text: str) -> str:
    """Break `<@user>`, which rings a member."""
    return text.replace("<@", "<" + ZERO_WIDTH_SPACE + "@")


def _silence(text: str) -> str:
    return _MENTION.sub("@" + ZERO_WIDTH_SPACE, text)


def _unmask(text: str) -> str:
    return _MASK.sub("]" + ZERO_WIDTH_SPACE, text)
