"""A locale that nobody speaks is a typing mistake."""

from __future__ import annotations

import pytest

from notifications.core.rules.language.locales import is_known


@pytest.mark.parametrize(
    "locale", ["en", "pt_br", "zh-Hant-TW", "es-419", "en-SE", "ca-valencia", "de-1996", "fil"]
)
def test_what_cldr_has_names_for_is_known(locale: str) -> None:
    assert is_known(locale)


@pytest.mark.parametrize("locale", ["xx", "en-XX", "und", "zh-Hanx", "qqq-DE", "portuguese"])
def test_what_it_has_no_names_for_is_not(locale: str) -> None:
    assert not is_known(locale)
