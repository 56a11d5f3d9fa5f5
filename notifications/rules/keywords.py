"""What a text to our number asks for: STOP, START or HELP, in a few languages.

Only a text that is nothing but the keyword asks for anything, which is also how carriers read
texts: "please don't stop" must not stop anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Keyword(StrEnum):
    """What is asked for."""

    STOP = "stop"
    """No more texts to this number."""
    START = "start"
    """Texts again."""
    HELP = "help"
    """Who are you? The vendor answers it; here it is only logged (`pipeline.inbound`)."""


_WORDS: Final[Mapping[Keyword, str]] = {
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
"""English as carriers have it, then German, French, Spanish, Portuguese, Italian and Dutch.

In capitals, without accents and spaces. A mere "si" or "ja" is missing from the second row: it may
well answer another question.
"""

_MEANINGS: Final = {word: keyword for keyword, words in _WORDS.items() for word in words.split()}
_LONGEST: Final = 40
"""Characters; what is longer is a letter, not a keyword."""


def keyword_in(text: str) -> Keyword | None:
    """What a text asks for; capitals, accents, spaces and punctuation do not matter."""
    if len(text) > _LONGEST:
        return None
    letters = unicodedata.normalize("NFKD", text).upper()
    return _MEANINGS.get("".join(each for each in letters if each.isalnum()))
