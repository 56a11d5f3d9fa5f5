"""What an SMS costs, and how it can cost less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.texts.sms_segments import Encoding, measure, transliterate


@pytest.mark.parametrize(
    ("text", "units", "segments"),
    [
        ("", 0, 1),
        ("a" * 160, 160, 1),
        ("a" * 161, 161, 2),
        ("a" * 306, 306, 2),
        ("a" * 307, 307, 3),
        ("€" * 80, 160, 1),
        ("€" * 81, 162, 2),
        ("a" * 152 + "€" * 5, 162, 2),
        ("a" * 152 + "€" + "a" * 152, 306, 3),  # the pair would not end where the segment does
    ],
)
def test_seven_bit_segments(text: str, units: int, segments: int) -> None:
    size = measure(text)
    assert (size.encoding, size.units, size.segments) == (Encoding.GSM_7, units, segments)


@pytest.mark.parametrize(
    ("text", "units", "segments"),
    [
        ("ê" * 70, 70, 1),
        ("ê" * 71, 71, 2),
        ("😀" * 35, 70, 1),
        ("😀" * 36, 72, 2),
        ("ê" * 66 + "😀" + "ê" * 66, 134, 3),  # nor would a surrogate pair
        ("👨‍👩‍👧", 8, 1),
    ],
)
def test_sixteen_bit_segments(text: str, units: int, segments: int) -> None:
    size = measure(text)
    assert (size.encoding, size.units, size.segments) == (Encoding.UCS_2, units, segments)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("“Voilà” – it’s done…", '"Voilà" - it\'s done...'),
        ("código français", "codigo franÇais"),
        ("Şifreniz: 1 ₺", "Sifreniz: 1 TL"),
        ("Zażółć gęślą jaźń", "Zazolc gesla jazn"),
        ("Ačiū, Ødegård", "Aciu, Ødegård"),
        ("cafe\u0301 a\u0301", "café a"),
        ("`x`\u00a0y\u200b", "'x' y"),
    ],
)
def test_a_text_is_said_in_seven_bits_where_it_can_be(text: str, said: str) -> None:
    assert transliterate(text) == said
    assert measure(said).encoding is Encoding.GSM_7


@pytest.mark.parametrize("text", ["“王”", "код – 1", "done 😀…", "plain", "…" * 70])
def test_a_text_that_gains_nothing_stays_as_it_is(text: str) -> None:
    assert transliterate(text) == text


@given(st.text())
def test_transliteration_never_costs_more(text: str) -> None:
    assert measure(transliterate(text)).segments <= measure(text).segments
    assert transliterate(transliterate(text)) == transliterate(text)
