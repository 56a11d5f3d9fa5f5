"""The normal form of addresses, and the key with one value for all spellings of an address.

    normal_form     stored and sent to: `+52 1 55 1234 5678` -> `+525512345678`
                    `Maria@FAß.example` -> `Maria@xn--fa-hia.example`
                    `whatsapp:+49 151 1234-5678` -> `whatsapp:+4915112345678`
    key             compared: `maria@xn--fa-hia.example`, the endpoint of a Web Push subscription

Every address from the API, a file, the admin or a vendor's callback passes `normal_form`; look-ups
compare keys. The database function `suppressible` computes the same key, so that rows of an earlier
normal form are found too.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from notifications.core.rules import phone
from providers import endpoints, mailboxes
from providers.chat import whatsapp_number
from providers.contract import Channel
from providers.push import expo_token
from providers.push.web_push_encryption import Subscription

_FULL_WIDTH: Final = {0xFF01 + place: 0x21 + place for place in range(0x5E)}
"""Full-width ASCII, as East Asian keyboards write it."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Zero-width joiners, which belong to the spelling of Persian and Indic domains."""
BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, range(0xFE00, 0xFE10))
)
"""Characters without a glyph that Unicode counts as letters, marks or symbols."""
_SPACES: Final = " \u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_OPAQUE: Final = frozenset({Channel.PUSH, Channel.IN_APP, Channel.CHAT})
_ENDPOINT: Final = re.compile(r'"endpoint"\s*:\s*"([^"]+)"')
"""Of a subscription's JSON. The database function has the same pattern."""

_WANTED_FORMS: Final = {
    expo_token.KIND: "an Expo push token, like ExponentPushToken[...],",
    whatsapp_number.KIND: "whatsapp: and a number with its country code, on the channel chat,",
}
"""Kinds that the form of an address tells."""
_WEB_PUSH_KIND: Final = "web_push"
TOLD_KINDS: Final = frozenset({expo_token.KIND, _WEB_PUSH_KIND, whatsapp_number.KIND})
"""Kinds that each address of the kind tells by its form."""
_WEB_PUSH: Final = "must be a PushSubscription's JSON: endpoint, keys.p256dh, keys.auth"


def normal_form(channel: Channel, address: str) -> str:
    """Return an address in the form that is stored and sent to.

    Invisible characters and surrounding space are removed; the rest keeps the case of the local
    part, of a path and of a token.

    Raises:
        ValueError: the address is invalid on the channel; the message does not repeat the address.
    """
    text = clean(channel, address)
    match channel:
        case Channel.SMS:
            return phone.e164(text)
        case Channel.EMAIL:
            return mailboxes.check(check_visible(text))
        case Channel.WEBHOOK:
            return endpoints.lower_host(check_visible(text))
        case Channel.PUSH if text.startswith("{"):
            return _subscription(check_visible(text))
        case Channel.CHAT if whatsapp_number.is_number(text):
            return whatsapp_number.PREFIX + phone.e164(text[len(whatsapp_number.PREFIX) :])
        case Channel.PUSH | Channel.IN_APP | Channel.CHAT:
            return check_visible(text)


def _subscription(text: str) -> str:
    try:
        return Subscription.parse(text).to_json()
    except ValueError:
        raise ValueError(_WEB_PUSH) from None


def told_kind(channel: Channel, address: str) -> str:
    """Return the kind that the form of an address tells, one of `TOLD_KINDS`; else empty."""
    if channel is Channel.PUSH and expo_token.is_token(address):
        return expo_token.KIND
    if channel is Channel.PUSH and address.startswith("{"):
        return _WEB_PUSH_KIND
    if channel is Channel.CHAT and whatsapp_number.is_number(address):
        return whatsapp_number.KIND
    return ""


def kind_of(channel: Channel, address: str, given: str) -> str:
    """Return the kind of a contact: the kind that the address tells, else the given one.

    Raises:
        ValueError: the given kind is one of `_WANTED_FORMS`, and the address has another form.
    """
    told = told_kind(channel, address)
    if not told and given in _WANTED_FORMS:
        msg = f"must be {_WANTED_FORMS[given]} for the kind {given}"
        raise ValueError(msg)
    return told or given


def key(channel: int, address: str) -> str:
    """Return the text under which an address is compared, of an address in any valid spelling."""
    match channel:
        case Channel.SMS:
            return phone.one_spelling(address)
        case Channel.EMAIL:
            return address.lower()
        case Channel.PUSH if address.startswith("{"):
            found = _ENDPOINT.search(address)
            return found[1] if found else address
        case _:
            return address


def usable_form(channel: Channel, text: str) -> str:
    """Return the normal form of an address, or the cleaned text if it has no normal form."""
    try:
        return normal_form(channel, text)
    except ValueError:
        return clean(channel, text)


def search_key(channel: Channel, text: str) -> str:
    """Return the key of an address that a person or a vendor wrote, valid or not."""
    return key(channel, usable_form(channel, text))


def search_keys(text: str) -> list[str]:
    """Return the keys of an address of unknown channel."""
    return sorted({search_key(channel, text) for channel in Channel})


def check_visible(text: str) -> str:
    """Return a text that has no invisible character but joiners.

    Raises:
        ValueError: the text has such a character, whose number and name the message tells.
    """
    for each in text:
        if not each.isprintable() and each not in _JOINERS:
            raise ValueError(must_be_free_of(each))
    return text


def must_be_free_of(char: str) -> str:
    """Return the end of a sentence that refuses a character, by number and name."""
    name = unicodedata.name(char, "control character")
    return f"must be free of the character U+{ord(char):04X} ({name})"


def clean(channel: Channel, address: str) -> str:
    """Return an address without surrounding space and invisible characters.

    Full-width letters and digits become ASCII, except in a chat id, which can be a room's name.
    Joiners stay beside letters that are not ASCII: they can belong to a domain. A line end stays in
    numbers, mailboxes and URLs, and is a fault there: it can be the begin of a second address.
    """
    around = None if channel in _OPAQUE else _SPACES
    if address.isascii():
        return address.strip(around)
    if channel is Channel.CHAT:
        return "".join(each for each in address if not _is_format(each)).strip()
    text = address.translate(_FULL_WIDTH)
    shown = "".join(each for each in text if not (_is_format(each) or each in BLANKS))
    shown = shown.strip(around)
    bare = "".join(each for each in shown if each not in _JOINERS).strip(around)
    return bare if bare.isascii() or channel is Channel.SMS else shown


def _is_format(char: str) -> bool:
    return unicodedata.category(char) == "Cf" and char not in _JOINERS
