r"""The number of segments of an SMS text, and a transliteration with fewer segments.

    GSM-7   160 septets, or 153 in each of several     ^ { } \ [ ~ ] | and the euro count two
    UCS-2    70 UTF-16 units, or 67                    an emoji counts two or more

A segment never ends inside an escape pair or a surrogate pair, so it may hold one unit less.
Source: 3GPP TS 23.038 and 23.040. Providers bill by their own count.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from providers.sms import gsm7

_SAME_IN_GSM_7: Final = str.maketrans({
    **dict.fromkeys("‘’‚‛′`´ʼʻ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\t\u00a0\u2002\u2003\u2007\u2009\u202f", " "),
    **dict.fromkeys("\u200b\u200e\u200f\u2060\ufeff\u00ad", ""),
    "…": "...",
    "•": "-",
    "·": ".",
    "‹": "<",
    "›": ">",
    "ç": "Ç",
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "Đ": "D",
    "ı": "i",
    "œ": "oe",
    "Œ": "OE",
    "ð": "d",
    "Ð": "D",
    "þ": "th",
    "Þ": "Th",
    "ẞ": "SS",
    "₺": "TL",
    "™": "TM",
    "©": "(c)",
    "®": "(R)",
})
"""Characters without an accent to lose. `ç` is Ç: the alphabet has only the capital."""


class Encoding(StrEnum):
    """Encoding of a text."""

    GSM_7 = "GSM-7"
    UCS_2 = "UCS-2"

    @property
    def alone(self) -> int:
        """Units of a text with a single segment."""
        return 160 if self is Encoding.GSM_7 else 70

    @property
    def of_several(self) -> int:
        """Units per segment of a text with several segments."""
        return 153 if self is Encoding.GSM_7 else 67


@dataclass(frozen=True, slots=True)
class SmsSize:
    """Size of a text."""

    encoding: Encoding
    units: int
    """Septets or UTF-16 code units."""
    segments: int
    """At least one: an empty SMS is an SMS."""


def measure(text: str) -> SmsSize:
    """Count a text's units and segments."""
    if gsm7.fits(text):
        encoding, widths = Encoding.GSM_7, [1 + (char in gsm7.EXTENSION) for char in text]
    else:
        encoding, widths = Encoding.UCS_2, [1 + (char > "\uffff") for char in text]
    units = sum(widths)
    segments = 1 if units <= encoding.alone else _fill(widths, room=encoding.of_several)
    return SmsSize(encoding, units, segments)


def _fill(widths: Iterable[int], *, room: int) -> int:
    segments, used = 1, 0
    for width in widths:
        used += width
        if used > room:
            segments, used = segments + 1, width
    return segments


def transliterate(text: str) -> str:
    """Return the text in GSM-7; unchanged if that is impossible, or longer.

        “Voilà” – it’s done…   ->   "Voilà" - it's done...
        Código de acceso: 1    ->   Codigo de acceso: 1

    A text that needs UCS-2 in any case stays unchanged. Letters lose accents only if the alphabet
    lacks the accented letter, so `é` and `ñ` stay. GSM-7 takes half the price.
    """
    if gsm7.fits(text):
        return text
    said = "".join(map(_letter, unicodedata.normalize("NFC", text).translate(_SAME_IN_GSM_7)))
    is_cheaper = measure(said).segments <= measure(text).segments
    return said if gsm7.fits(said) and is_cheaper else text


def _letter(char: str) -> str:
    if char in gsm7.ALPHABET:
        return char
    base = unicodedata.normalize("NFKD", char)
    return "".join(part for part in base if not unicodedata.combining(part))
