"""Names and descriptions of topics for recipients, by topic and locale."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from notifications.core import clock
from notifications.core.models import TopicText
from notifications.core.rules.language import locales
from notifications.core.store.cached.ttl_cache import Fresh

_LANGUAGES: Final = 100
"""Languages whose names a process keeps for a second."""


class TopicWords(NamedTuple):
    """The words for a topic in a locale."""

    name: str
    description: str = ""


@Fresh
def every() -> Mapping[str, Mapping[str, TopicWords]]:
    """Return all words by topic and locale."""
    found: dict[str, dict[str, TopicWords]] = defaultdict(dict)
    for row in TopicText.objects.all():
        found[row.topic][row.locale] = TopicWords(row.name, row.description)
    return found


def words(topic: str, *, locale: str) -> TopicWords:
    """Return the words of a topic in the nearest locale, else in English, else the readable topic.

    `ORDER_READY` reads `Order ready`, and `news.weekly` reads `News weekly`.
    """
    available = every().get(topic, {})
    nearest = locales.choose(available, locale)
    if nearest and locales.cldr(nearest).language in {locales.cldr(locale).language, "en"}:
        return available[nearest]
    return TopicWords(_readable(topic))


def _readable(topic: str) -> str:
    plain = topic.translate(str.maketrans("_.:-", "    ")).strip()
    plain = plain.lower() if plain.isupper() else plain
    return plain[:1].upper() + plain[1:]


def names(*, locale: str) -> Mapping[str, str]:
    """Return the names of all topics with a text, by topic, as `words` chooses them."""
    return _names(int(clock.monotonic()), locale)


@functools.lru_cache(maxsize=_LANGUAGES)
def _names(_second: int, locale: str) -> Mapping[str, str]:
    return {topic: words(topic, locale=locale).name for topic in every()}


def forget() -> None:
    """Read again on the next call."""
    every.forget()
    _names.cache_clear()
