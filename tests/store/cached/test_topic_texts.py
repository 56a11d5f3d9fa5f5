"""The names of topics: in the reader's language, in English, or from the key."""

from __future__ import annotations

import pytest

from notifications.core.models import TopicText
from notifications.core.store.cached import topic_texts

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("topic", "locale", "name"),
    [
        ("orders", "de-AT", "Bestellungen"),
        ("orders", "pt", "Orders"),
        ("social", "ar", "التفاعلات"),
        ("social", "en", "Social"),
        ("ORDER_READY", "de", "Order ready"),
        ("news.weekly", "de", "News weekly"),
        ("_", "de", ""),
    ],
)
def test_the_nearest_text_is_taken(topic: str, locale: str, name: str) -> None:
    for key, tag, words in (
        ("orders", "de", "Bestellungen"),
        ("orders", "en", "Orders"),
        ("social", "ar", "التفاعلات"),
    ):
        TopicText.objects.create(topic=key, locale=tag, name=words)
    topic_texts.forget()
    assert topic_texts.words(topic, locale=locale).name == name
