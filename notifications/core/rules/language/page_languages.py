"""The languages of the pages for recipients: unsubscribe, preferences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from notifications.core.rules.language import locales

PAGE_LANGUAGES: Final[Mapping[str, str]] = MappingProxyType({
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "ar": "العربية",
    "pt-BR": "Português (Brasil)",
})
"""Tag -> the language's own name. `notifications/core/locale` has a catalogue for each."""


def choose(wanted: Iterable[str]) -> str:
    """Return the page language of the first wanted locale with a page language; else English.

    `de-AT` has `de`, and `pt` has `pt-BR`.
    """
    for locale in wanted:
        if locale and locales.is_known(locale):
            found = locales.choose(PAGE_LANGUAGES, locale)
            if found and locales.language_of(found) == locales.language_of(locale):
                return found
    return locales.DEFAULT
