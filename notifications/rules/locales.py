"""Which of a template's languages a person gets.

    pt-BR  ->  pt  ->  another Portuguese  ->  en  ->  whatever there is

Promise: a recipient whose language has no text still gets the message. Locales are compared as
BCP 47 tags, so `pt_BR`, `pt-br` and `pt-BR` are one. What is no tag matches nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

DEFAULT: Final = "en"
"""The language that most recipients of an unknown one can make something of."""
_REGION_LENGTH: Final = 2
_SCRIPT_LENGTH: Final = 4


def normalised(locale: str) -> str:
    """Spell a locale as BCP 47 does: `PT_br` is `pt-BR`, `zh-hant-tw` is `zh-Hant-TW`."""
    language, *rest = locale.strip().replace("_", "-").split("-")
    return "-".join([language.lower(), *map(_subtag, rest)])


def choose(available: Collection[str], wanted: str) -> str | None:
    """The best of the available locales, spelled as it was given; None only when there is none."""
    spelled = {normalised(locale): locale for locale in sorted(available)}
    for candidate in _chain(normalised(wanted)):
        if candidate in spelled:
            return spelled[candidate]
    language = normalised(wanted).split("-", 1)[0]
    related = (given for tag, given in spelled.items() if tag.split("-", 1)[0] == language)
    fallback = spelled.get(DEFAULT) or next(iter(spelled.values()), None)
    return next(related, fallback)


def _chain(tag: str) -> Iterator[str]:
    """The tag, then the same with one subtag less, down to the language."""
    while tag:
        yield tag
        tag = tag.rpartition("-")[0]


def _subtag(subtag: str) -> str:
    match len(subtag):
        case n if n == _REGION_LENGTH:
            return subtag.upper()
        case n if n == _SCRIPT_LENGTH and subtag.isalpha():
            return subtag.title()
        case _:
            return subtag.lower()
