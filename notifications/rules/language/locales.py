"""The choice of a template's locale for a recipient.

    pt-BR  ->  CLDR's parents (es-MX: es-419; zh-TW: zh-Hant)  ->  pt  ->  another Portuguese
           ->  the template's default  ->  en  ->  whatever there is

A recipient whose language has no text still gets the message. Locales are compared as BCP 47 tags
without implied parts, so `pt_BR`, `pt-br` and `pt-BR` are one, `zh-Hans` is `zh`, and `iw` is `he`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.core import get_global

DEFAULT: Final = "en"
"""For recipients of an unknown language."""
_REGION_LENGTH: Final = 2
_LONGEST_REGION: Final = 3
_SCRIPT_LENGTH: Final = 4
_MACROLANGUAGES: Final = {"no": "nb"}
"""Names for several languages, and the most written one; CLDR has them as parents."""


def normalize(locale: str) -> str:
    """Spell a locale as BCP 47 does: `PT_br` is `pt-BR`, `zh-hant-tw` is `zh-Hant-TW`."""
    language, *rest = locale.strip().replace("_", "-").split("-")
    return "-".join([language.lower(), *map(_subtag, rest)])


def choose(available: Collection[str], wanted: str, *, default: str = DEFAULT) -> str | None:
    """Return the best available locale, spelled as given; None only for an empty list."""
    spelled = {_canonical(locale): locale for locale in sorted(available)}
    for candidate in _chain(wanted):
        if candidate in spelled:
            return spelled[candidate]
    language = _language(wanted)
    related = (given for tag, given in spelled.items() if _language(tag) == language)
    fallback = choose(available, default) if default != DEFAULT else spelled.get(DEFAULT)
    return next(related, fallback or next(iter(spelled.values()), None))


@functools.lru_cache(maxsize=1024)
def cldr(tag: str) -> Locale:
    """Return CLDR's data of a locale, of its language, or of English."""
    language, *rest = normalize(tag).split("-")
    for spelling in ("-".join([language, *rest]), language):
        try:
            return Locale.parse(spelling, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return Locale(DEFAULT)


def is_known(tag: str) -> bool:
    """Return True if CLDR has a name for each part of a tag; an unnamed part is a mistake.

    Any language goes with any region: `en-SE` is an English reader in Sweden.
    """
    language, *rest = normalize(tag).split("-")
    return language in _subtags()[0] and all(map(_is_known_subtag, rest))


def direction(tag: str) -> str:
    """Return the text direction, `ltr` or `rtl`, as in HTML."""
    return str(cldr(tag).text_direction)


def of_reader(text: str, reader: str) -> str:
    """Return the reader's locale if it has the text's language, else the text's locale.

    An English sentence takes no French month.
    """
    return reader if _language(reader) == _language(text) else text


def _chain(wanted: str) -> Iterator[str]:
    """Yield the tag, then its parents, down to the language."""
    tag, parents = _canonical(wanted), _table("parent_exceptions")
    while tag:
        yield tag
        shorter = tag.rpartition("-")[0]
        parent = _canonical(parents.get(tag.replace("-", "_"), shorter))
        tag = parent if parent != tag else shorter


def _language(tag: str) -> str:
    return _canonical(tag).split("-", 1)[0]


@functools.lru_cache(maxsize=4096)
def _canonical(tag: str) -> str:
    """Return the canonical locale: current language code, script only if not implied."""
    language, *rest = normalize(tag).split("-")
    language = _MACROLANGUAGES.get(language, _table("language_aliases").get(language, language))
    language, *implied = language.split("_")
    rest = rest or implied
    scripts = [part for part in rest if len(part) == _SCRIPT_LENGTH and part.isalpha()]
    regions = [part for part in rest if len(part) == _REGION_LENGTH]
    usual = _likely_script(language)
    script = scripts[0] if scripts else _likely_script("_".join([language, *regions[:1]])) or usual
    others = [part for part in rest if part not in scripts]
    return "-".join([language, *([script] if script != usual else []), *others])


def _likely_script(tag: str) -> str:
    _, *rest = _table("likely_subtags").get(tag, "").split("_")
    return rest[0] if rest else ""


def _table(name: str) -> Mapping[str, str]:
    table: Mapping[str, str] = get_global(name)  # type: ignore[arg-type]  # one of Babel's names
    return table


@functools.cache
def _subtags() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    english = Locale("en")
    return (
        frozenset(english.languages) - {"und"},
        frozenset(english.scripts),
        frozenset(english.territories),
    )


def _is_known_subtag(subtag: str) -> bool:
    _, scripts, regions = _subtags()
    if len(subtag) <= _LONGEST_REGION:
        return subtag in regions
    # CLDR lists no variants (`ca-valencia`, `de-1996`).
    is_script = len(subtag) == _SCRIPT_LENGTH and subtag.isalpha()
    return not is_script or subtag in scripts


def _subtag(subtag: str) -> str:
    match len(subtag):
        case n if n == _REGION_LENGTH:
            return subtag.upper()
        case n if n == _SCRIPT_LENGTH and subtag.isalpha():
            return subtag.title()
        case _:
            return subtag.lower()
