"""The longest message of each chat service; a longer text loses its end and gets an ellipsis.

The limits are those of the services, not Apprise's. `draft` measures the payload, because escapes
count; a preview measures title and text alone, because the preview loads no Apprise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from providers import graphemes
from providers.graphemes import ELLIPSIS

_LINE: Final = "\r\n"
"""Between title and text."""


def _characters(text: str) -> int:
    """Return the length in UTF-16 units: an emoji is two, for services that say only characters."""
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The longest message of a service."""

    service: str
    """Name for people."""
    most: int
    unit: str = "characters"
    size: Callable[[str], int] = _characters
    envelope: int = 0
    """Size that the payload adds to title and text, at most."""

    def __str__(self) -> str:
        """Return `Discord (2,000 characters)`."""
        return f"{self.service} ({self.most:,} {self.unit})"


_LARK_BYTES: Final = 20_000
"""https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot: 20 KB, with all that surrounds
the text."""
_NTFY: Final = Limit(service="ntfy", most=4_095, unit="bytes", size=_bytes)
"""https://docs.ntfy.sh/publish/#limitations: a message of 4,096 bytes becomes a file."""
_TEAMS: Final = Limit(service="Teams", most=28_000, unit="bytes", size=_bytes, envelope=600)
"""https://learn.microsoft.com/connectors/teams: "about 28 KB", with all that surrounds the text."""

LIMITS: Final[Mapping[str, Limit]] = {
    # https://docs.slack.dev/reference/methods/chat.postMessage truncates above 40,000; Apprise's
    # limit leaves room for what surrounds the text
    "slack": Limit(service="Slack", most=35_000),
    # https://discord.com/developers/docs/resources/webhook: `content`
    "discord": Limit(service="Discord", most=2_000),
    "workflow": _TEAMS,
    "workflows": _TEAMS,
    # https://core.telegram.org/bots/api#sendmessage: `text`, after the parsing of entities
    "tgram": Limit(service="Telegram", most=4_096),
    # The API's own refusal: "Maximum length of the field is 4096"; the page says 32,000 bytes
    "gchat": Limit(service="Google Chat", most=4_096),
    # Servers since 5.0: POST_MESSAGE_MAX_RUNES_V2
    "mmosts": Limit(service="Mattermost", most=16_383),
    # The default of the server's setting Message_MaxAllowedSize
    "rockets": Limit(service="Rocket.Chat", most=5_000),
    # https://developer.webex.com/docs/api/v1/messages: `markdown`
    "wxteams": Limit(service="Webex", most=7_439, unit="bytes", size=_bytes),
    # An event of Matrix has 65,536 bytes, and Hookshot writes the payload into it once more
    "matrixs": Limit(service="Matrix", most=30_000, unit="bytes", size=_bytes, envelope=200),
    # https://zulip.com/api/send-message: `content`, the default of the server's MAX_MESSAGE_LENGTH
    "zulip": Limit(service="Zulip", most=10_000),
    # https://nextcloud-talk.readthedocs.io/en/latest/capabilities: `max-length`
    "nctalks": Limit(service="Nextcloud Talk", most=32_000),
    "lark": Limit(service="Lark", most=_LARK_BYTES, unit="bytes", size=_bytes, envelope=200),
    "feishu": Limit(service="Feishu", most=_LARK_BYTES, unit="bytes", size=_bytes, envelope=200),
    # The server's refusal 460101: "message too long, exceed 20000 bytes"
    "dingtalk": Limit(service="DingTalk", most=20_000, unit="bytes", size=_bytes, envelope=200),
    # https://developer.work.weixin.qq.com/document/path/91770: `content`
    "wecombot": Limit(service="WeCom", most=2_048, unit="bytes", size=_bytes),
    # https://developers.line.biz/en/reference/messaging-api/#text-message
    "line": Limit(service="LINE", most=5_000),
    # https://developers.viber.com/docs/api/rest-bot-api/#text-message
    "viber": Limit(service="Viber", most=7_000),
    # https://gateway.threema.ch/en/developer/api: `text` in simple mode
    "threema": Limit(service="Threema", most=3_500, unit="bytes", size=_bytes),
    # https://pushover.net/api#limits: `message`
    "pover": Limit(service="Pushover", most=1_024),
    "ntfy": _NTFY,
    "ntfys": _NTFY,
    # The server's column on MySQL
    "gotifys": Limit(service="Gotify", most=65_535, unit="bytes", size=_bytes),
}
"""Limits by scheme of the address."""


def limits_under(title: str, text: str, *, among: Collection[str] | None = None) -> list[Limit]:
    """Return the limits of the services that show a part of a message only.

    `among` has the schemes of the services; None: all services.
    """
    whole = _LINE.join(filter(None, (title, text)))
    found = dict.fromkeys(
        limit
        for name, limit in LIMITS.items()
        if (among is None or name in among) and limit.size(whole) > limit.most - limit.envelope
    )
    return sorted(found, key=lambda limit: limit.service)


def shorten(text: str, fits: Callable[[str], bool], *, most: int) -> str:
    """Return the longest beginning of a text, with an ellipsis, that fits.

    Args:
        text: a text that does not fit.
        fits: tells whether a shortened text fits; called once for each halving.
        most: no text of more characters fits.

    Returns:
        Cut between two grapheme clusters, never inside an emoji; empty if the ellipsis alone does
        not fit.
    """
    ends = [0, *(end for end in graphemes.ends(text[: most + 1]) if end <= most)]
    if not fits(ELLIPSIS):
        return ""
    low, high = 0, len(ends)  # what ends at `low` fits
    while high - low > 1:
        middle = (low + high) // 2
        if fits(_cut(text, ends[middle])):
            low = middle
        else:
            high = middle
    return _cut(text, ends[low])


def _cut(text: str, end: int) -> str:
    return text[:end].rstrip() + ELLIPSIS
