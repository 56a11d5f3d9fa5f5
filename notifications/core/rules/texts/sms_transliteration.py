"""Transliteration of a text to GSM-7, at half the price, if GSM-7 can represent every character.

    “Voilà” – it’s done…   ->   "Voilà" - it's done...
    Código de acceso: 1    ->   Codigo de acceso: 1

A text that needs UCS-2 in any case stays unchanged. Letters lose accents only if the alphabet lacks
the accented letter, so `é` and `ñ` stay.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from notifications.core.rules.texts.sms_segments import measure
from providers.sms import gsm7

_SAME: Final = str.maketrans({
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


def transliterate(text: str) -> str:
    """Return the text in GSM-7; unchanged if that is impossible, or longer."""
    if gsm7.fits(text):
        return text
    said = "".join(map(_letter, unicodedata.normalize("NFC", text).translate(_SAME)))
    is_cheaper = measure(said).segments <= measure(text).segments
    return said if gsm7.fits(said) and is_cheaper else text


def _letter(char: str) -> str:
    if char in gsm7.ALPHABET:
        return char
    base = unicodedata.normalize("NFKD", char)
    return "".join(part for part in base if not unicodedata.combining(part))
