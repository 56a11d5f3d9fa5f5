"""Which locales there are, by CLDR.

A language, a script or a region that CLDR has no name for is a typing mistake, and the person would
get another language than they asked for. Any language goes with any region: `en-SE` is an
Englishwoman in Stockholm.
"""

from __future__ import annotations

import functools
from typing import Final

from babel import Locale

from notifications.rules.language.locales import normalised

_SCRIPT_LENGTH: Final = 4
_LONGEST_REGION: Final = 3


@functools.cache
def _subtags() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    english = Locale("en")
    return (
        frozenset(english.languages) - {"und"},
        frozenset(english.scripts),
        frozenset(english.territories),
    )


def is_known(locale: str) -> bool:
    """Whether CLDR has a name for each part of a locale, spelled with `-` or `_`."""
    language, *rest = normalised(locale).split("-")
    return language in _subtags()[0] and all(map(_is_known, rest))


def _is_known(subtag: str) -> bool:
    _, scripts, regions = _subtags()
    if len(subtag) <= _LONGEST_REGION:
        return subtag in regions
    # What is longer is a variant (`ca-valencia`, `de-1996`); CLDR lists none of those.
    is_script = len(subtag) == _SCRIPT_LENGTH and subtag.isalpha()
    return subtag in scripts if is_script else True
