"""Names and descriptions of topics for recipients, by topic and locale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from notifications.models import TopicText
from notifications.rules.language import locales
from notifications.store.cached.ttl_cache import Fresh


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


forget = every.forget
