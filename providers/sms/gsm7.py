"""Texts of seven bits in an SMS (GSM 03.38); other texts need UCS-2.

Source: 3GPP TS 23.038, the default alphabet and the extension table.
"""

from __future__ import annotations

from typing import Final

_BASIC: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ"
    " !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
EXTENSION: Final = frozenset("\f^{}\\[~]|€")
"""Each character has an escape before it, so each character counts as two."""

ALPHABET: Final = EXTENSION.union(_BASIC)


def fits(text: str) -> bool:
    """Tell whether every character is in the alphabet: no backtick, no `ç`, no curly quotes."""
    return ALPHABET.issuperset(text)
