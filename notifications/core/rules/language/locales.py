"""The choice of a template's locale for a recipient.

    es-AR  ->  below the nearest of CLDR's parents (es-419: es-MX)  ->  es  ->  another Spanish, of
               the usual region first (fr-BE: fr-FR before fr-CA)
           ->  CLDR's parent in another language (nn: nb)  ->  the language in another script
           ->  the template's default  ->  en  ->  whatever there is

No text is chosen by the alphabet while CLDR knows more. `es` alone is, as in CLDR, the language as
its usual region writes it: `es-AR` prefers `es-MX`.

A recipient without a text in the own language still gets the message. Locales are compared as BCP
47 tags without implied parts, so `pt_BR`, `pt-br` and `pt-BR` are one, `zh-Hans` is `zh`, and `iw`
is `he`; between two texts of one locale, the wanted spelling wins. Tags of browsers, Android, iOS,
Java and POSIX are understood: `de-DE-u-co-phonebk`, `in_ID`, `en_US@calendar=gregorian`,
`zh_TW_#Hant`, `th_TH_TH_#u-nu-thai`, `en_US.UTF-8`, `sr_RS@latin`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
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
_WRITTEN_PARENTS: Final = {"yue": "zh_Hant_HK", "yue_Hans": "zh_Hans"}
"""Languages whose readers read another one; CLDR has these in its distances, not as parents."""

_USUAL_BELOW_A_PARENT: Final = frozenset({"en-GB", "es-MX", "pt-PT"})
"""The locale with most readers below `en-001`, `es-419` and Portuguese outside Brazil; CLDR has
likely regions of languages alone."""
_NO_LOCALE: Final = re.compile(r"[@.].*")
"""Keywords of ICU, encodings and modifiers of POSIX."""
_POSIX_SCRIPTS: Final = {"latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"}
"""Modifiers of POSIX that name a script."""
_RIGHT_TO_LEFT: Final = frozenset({
    *("Adlm", "Arab", "Aran", "Gara", "Hebr", "Mand"),
    *("Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"),
})
"""The scripts in use written from the right."""


@functools.lru_cache(maxsize=4096)
def normalize(locale: str) -> str:
    """Spell a locale as BCP 47 does, without extensions.

    `PT_br` is `pt-BR`, `zh-hant-tw` is `zh-Hant-TW`, and `en-US-u-hc-h12` is `en-US`.
    """
    language, *rest = _NO_LOCALE.sub("", locale.strip()).replace("_", "-").split("-")
    script = _POSIX_SCRIPTS.get(locale.strip().lower().rpartition("@")[2], "")
    bare = [part.removeprefix("#") for part in (script, *rest)]  # Java marks a script with #
    kept = itertools.takewhile(lambda part: len(part) != 1, bare)  # a single letter: an extension
    spelled = dict.fromkeys(_subtag(part) for part in kept if part)  # Java: TH twice in th_TH_TH
    return "-".join([language.lower(), *sorted(spelled, key=lambda part: not _is_script(part))])


def choose(available: Collection[str], wanted: str, *, default: str = DEFAULT) -> str | None:
    """Return the best available locale, spelled as given; None only for an empty list."""
    exact = {normalize(locale): locale for locale in sorted(available)}
    current_last = sorted(exact, key=lambda tag: (tag == _canonical(tag), tag))
    spelled = {_canonical(tag): exact[tag] for tag in current_last}
    for language in (wanted, default, DEFAULT):
        if (same := exact.get(normalize(language))) is not None:
            return same
        if (found := _nearest(spelled, language)) is not None:
            return spelled[found]
    return min(available, default=None)


def _nearest(tags: Collection[str], wanted: str) -> str | None:
    """Return the nearest canonical tag of a locale.

    None without a text of the language or of a parent in another language.
    """
    chain = _chain(wanted)
    related = [tag for tag in tags if language_of(tag) == language_of(wanted)]
    nearest = min(related, key=lambda tag: _distance(tag, chain), default=None)
    if nearest is not None and _script(nearest) == _script(chain[0]):
        return nearest
    parents = (each for each in chain if language_of(each) != language_of(wanted))
    of_parent = next((_nearest(tags, parent) for parent in parents), None)
    if of_parent is not None and (nearest is None or _script(of_parent) == _script(chain[0])):
        return of_parent
    return nearest


def _distance(tag: str, chain: Sequence[str]) -> tuple[object, ...]:
    """Return how far a text is from a reader of the same language; the tag ends a tie."""
    own = _chain(tag)
    common = next((each for each in chain if each in own), "")
    ancestors = (chain.index(common), own.index(common)) if common else (len(chain), len(own))
    is_parent = tag == common
    is_usual = tag in {language_of(tag), _usual(tag)}
    is_usual_below = tag in _USUAL_BELOW_A_PARENT
    other_script = _script(tag) != _script(chain[0])
    unusual = (not is_parent, not is_usual, not is_usual_below)
    return other_script, ancestors[0], *unusual, ancestors[1], tag


def _script(canonical: str) -> str:
    language, *rest = canonical.split("-")
    return next(filter(_is_script, rest), _likely_script(language))


def _usual(canonical: str) -> str:
    """Return the tag of the language's likely region: `fr-FR`, `zh-Hant-TW`."""
    language, *_ = canonical.split("-")
    script = _script(canonical)
    likely = _table("likely_subtags")
    found = likely.get(f"{language}_{script}") or likely.get(language, language)
    parts = found.split("_")
    if len(parts) > 1 and parts[1] != script:
        return language
    return _canonical("-".join(parts))


@functools.lru_cache(maxsize=1024)
def cldr(tag: str) -> Locale:
    """Return CLDR's data of a locale, of its language, or of English."""
    language, *rest = normalize(tag).split("-")
    for spelling in ("-".join([language, *rest]), language, _canonical(tag), language_of(tag)):
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
    current = language_of(language)  # `iw` and `in` of older Android are `he` and `id`
    return current in _subtags()[0] and all(map(_is_known_subtag, rest))


def direction(tag: str) -> str:
    """Return the text direction, `ltr` or `rtl`, as in HTML.

    The script says it, also of a language without data in Babel, such as Egyptian Arabic.
    """
    return "rtl" if _script(_canonical(tag)) in _RIGHT_TO_LEFT else "ltr"


def language_of(tag: str) -> str:
    """Return the current code of a tag's language: `he` for `iw-IL`."""
    return _canonical(tag).split("-", 1)[0]


def of_reader(text: str, reader: str) -> str:
    """Return the reader's locale if it has the text's language, else the text's locale.

    An English sentence takes no French month.
    """
    return reader if language_of(reader) == language_of(text) else text


@functools.lru_cache(maxsize=4096)
def _chain(wanted: str) -> tuple[str, ...]:
    """Return the canonical tag, then its parents, down to the language."""
    tag, parents = _canonical(wanted), {**_table("parent_exceptions"), **_WRITTEN_PARENTS}
    found = []
    while tag:
        found.append(tag)
        shorter = tag.rpartition("-")[0]
        parent = _canonical(parents.get(tag.replace("-", "_"), shorter))
        tag = parent if parent != tag else shorter
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def _canonical(tag: str) -> str:
    """Return the canonical locale: current language code, script only if not implied."""
    language, *rest = normalize(tag).split("-")
    language = _MACROLANGUAGES.get(language, _table("language_aliases").get(language, language))
    language, *implied = language.split("_")
    scripts = list(filter(_is_script, rest)) or list(filter(_is_script, implied))
    rest = rest or implied
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
    return not _is_script(subtag) or subtag in scripts


def _is_script(subtag: str) -> bool:
    return len(subtag) == _SCRIPT_LENGTH and subtag.isalpha()


def _subtag(subtag: str) -> str:
    match len(subtag):
        case n if n == _REGION_LENGTH:
            return subtag.upper()
        case _ if _is_script(subtag):
            return subtag.title()
        case _:
            return subtag.lower()
