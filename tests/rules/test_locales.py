"""A person gets their language where there is one, and a message always."""

from __future__ import annotations

import pytest

from notifications.rules.locales import choose, normalised


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("pt-BR", "pt-BR"),
        ("PT_br", "pt-BR"),
        ("es-MX", "es"),
        ("zh-hant-tw", "zh_Hant"),
        ("pt-PT", "pt-BR"),
        ("fr", "en"),
        ("", "en"),
        ("no such locale!", "en"),
    ],
)
def test_the_nearest_language_is_chosen(wanted: str, chosen: str) -> None:
    assert choose(["pt-BR", "es", "en", "zh_Hant"], wanted) == chosen


def test_without_english_any_text_is_better_than_none() -> None:
    assert choose(["tr", "es"], "fr") == "es"


def test_without_texts_there_is_no_choice() -> None:
    assert choose([], "en") is None


@pytest.mark.parametrize(
    ("given", "tag"),
    [
        ("EN", "en"),
        ("pt_br", "pt-BR"),
        ("sr-latn_rs", "sr-Latn-RS"),
        ("ca-valencia", "ca-valencia"),
        ("es-419", "es-419"),
    ],
)
def test_tags_are_spelled_one_way(given: str, tag: str) -> None:
    assert normalised(given) == tag
