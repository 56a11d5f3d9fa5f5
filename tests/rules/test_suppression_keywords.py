"""STOP and START: a text that is nothing but the word, in any of its spellings."""

from __future__ import annotations

import pytest

from notifications.core.rules.suppression import keyword_in
from providers.contract import Keyword


@pytest.mark.parametrize(
    "text",
    [
        "STOP",
        "stop",
        " Stop. ",
        "STOP ALL",
        "Unsubscribe",
        "opt-out",
        "Arrêt",
        "arre\u0302t",
        "BAJA",
    ],
)
def test_a_stop_is_understood_however_it_is_written(text: str) -> None:
    assert keyword_in(text) is Keyword.STOP


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("Start", Keyword.START),
        ("unstop", Keyword.START),
        ("Yes!", Keyword.START),
        ("help", Keyword.HELP),
        ("AYUDA", Keyword.HELP),
    ],
)
def test_the_other_keywords_are_known_too(text: str, keyword: Keyword) -> None:
    assert keyword_in(text) is keyword


@pytest.mark.parametrize(
    "text",
    ["", " ", "please don't stop", "stop it or I call", "bus stop", "sí", "ja", "STOP" * 20, "停"],
)
def test_a_text_that_only_holds_a_keyword_asks_for_nothing(text: str) -> None:
    assert keyword_in(text) is None
