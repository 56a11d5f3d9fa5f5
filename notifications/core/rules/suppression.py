"""Causes of suppressed addresses: dead addresses, keywords of inbound SMS and others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from notifications.core.rules import addresses
from providers.contract import Channel, Keyword

_KEYWORDS: Final[Mapping[Keyword, str]] = {
    Keyword.STOP: """
        STOP STOPALL UNSUBSCRIBE CANCEL END QUIT REVOKE OPTOUT
        STOPP ABMELDEN ABBESTELLEN
        ARRET ARRETER DESABONNER
        BAJA PARAR ALTO CANCELAR DETENER
        SAIR REMOVER
        BASTA DISISCRIVIMI
        AFMELDEN
    """,
    Keyword.START: "START YES UNSTOP ANMELDEN REPRENDRE ALTA INICIAR AANMELDEN",
    Keyword.HELP: "HELP INFO HILFE AIDE AYUDA AJUDA AIUTO",
}
"""English as carriers have it, then German, French, Spanish, Portuguese, Italian and Dutch; in
capitals, without accents and spaces. "SI" and "JA" are missing, because they may answer another
question."""

_MEANINGS: Final = {word: keyword for keyword, words in _KEYWORDS.items() for word in words.split()}
_LONGEST_KEYWORD: Final = 40
"""Characters of a keyword at most."""


class Cause(StrEnum):
    """The cause of a suppression. Undoing one cause leaves the others."""

    BOUNCE = "bounce"
    """A provider called the address dead."""
    COMPLAINT = "complaint"
    """The recipient reported our mail as spam."""
    STOP_KEYWORD = "stop_keyword"
    """The recipient answered STOP; START undoes it."""
    UNSUBSCRIBE_ALL = "unsubscribe_all"
    """The recipient opted out of the channel."""
    MANUAL = "manual"
    """An operator or a producer entered it."""
    IMPORT = "import"
    """From a file."""


CONTACT_CHANGED: Final = "CONTACT_CHANGED"
"""The type of the notice that goes to an address which a producer took away."""
BY_PERSON: Final = frozenset({Cause.COMPLAINT, Cause.STOP_KEYWORD, Cause.UNSUBSCRIBE_ALL})
"""Entries that the person made: only the person or an operator undoes them."""
BY_PRODUCER: Final = frozenset({Cause.MANUAL, Cause.IMPORT})
"""Entries that a producer may undo, if it made them."""

CALLED_DEAD: Final = frozenset({Cause.BOUNCE, Cause.COMPLAINT})
"""Entries of addresses that a provider called dead: these also invalidate contacts."""

LISTED: Final = frozenset({Channel.SMS, Channel.EMAIL})
"""Channels whose dead addresses are listed, because a number or a mailbox can come back under
another user id. A push token dies with its installation."""

LONGEST_ADDRESS: Final = 2_048
"""Characters of a contact's address."""
MOST_ADDRESS_BYTES: Final = 2_600
"""In UTF-8. PostgreSQL indexes at most 2,704 bytes of a row, other columns included."""
_LOOSE: Final = {
    Channel.SMS: re.compile(r"\+[1-9]\d{6,14}"),
    Channel.EMAIL: re.compile(r"[^\s@]{1,64}@[^\s@]{1,255}"),
}
"""E.164, and a mailbox of a server with other rules than ours."""
_WANTED: Final = {
    Channel.SMS: "must be an E.164 number, like +4915112345678",
    Channel.EMAIL: "must be a mailbox, like maria@example.com",
}


def size_fault(address: str) -> str:
    """Return the fault of an address's size; empty for an acceptable size."""
    if len(address.encode(errors="surrogatepass")) > MOST_ADDRESS_BYTES:
        return f"must have at most {MOST_ADDRESS_BYTES} bytes in UTF-8"
    return ""


def address_fault(channel: Channel, address: str) -> str:
    """Return the fault of an address for the suppression list; empty for a valid address.

    The list takes any valid address of a contact, and further mailboxes and numbers from lists of
    other systems.
    """
    text = addresses.clean(channel, address)
    if not 0 < len(text) <= LONGEST_ADDRESS:
        return f"must have 1 to {LONGEST_ADDRESS} printable characters"
    if fault := size_fault(text):
        return fault
    try:
        addresses.normal_form(channel, text)
    except ValueError as error:
        is_usable = channel in _LOOSE and _LOOSE[channel].fullmatch(text) and text.isprintable()
        said = str(error)
        return "" if is_usable else said if "U+" in said else _WANTED.get(channel, said)
    return ""


def keyword_in(text: str) -> Keyword | None:
    """Return the keyword of a text; ignores case, accents, spaces and punctuation.

    A keyword counts only if the text contains no other word, as for carriers: "please don't stop"
    is not a STOP.
    """
    if len(text) > _LONGEST_KEYWORD:
        return None
    letters = unicodedata.normalize("NFKD", text).upper()
    return _MEANINGS.get("".join(each for each in letters if each.isalnum()))
