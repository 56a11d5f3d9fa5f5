"""Keywords of inbound SMS: STOP, START or HELP, in a few languages.

A keyword counts only if the text contains no other word, as for carriers: "please don't stop" is
not a STOP.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from providers.contract import Keyword

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
"""English as carriers have it, then German, French, Spanish, Portuguese, Italian and Dutch; in
capitals, without accents and spaces. "SI" and "JA" are missing, because they may answer another
question."""

_MEANINGS: Final = {word: keyword for keyword, words in _WORDS.items() for word in words.split()}
_LONGEST: Final = 40
"""Characters of a keyword at most."""


def keyword_in(text: str) -> Keyword | None:
    """Return the keyword of a text; ignores case, accents, spaces and punctuation."""
    if len(text) > _LONGEST:
        return None
    letters = unicodedata.normalize("NFKD", text).upper()
    return _MEANINGS.get("".join(each for each in letters if each.isalnum()))
