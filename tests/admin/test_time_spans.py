"""The console shows time spans in words."""

from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest

from notifications.core import clock
from notifications.core.templatetags.time_spans import end_of_sentence, instant, there, time_span

NOW = dt.datetime(2026, 11, 25, 3, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-2, "0 s"), (0.2, "0 s"), (12, "12 s"), (90, "1 min 30 s"), (7_500, "2 h 5 min")],
)
def test_a_span_has_seconds_and_is_never_negative(seconds: float, words: str) -> None:
    assert time_span(NOW, NOW + dt.timedelta(seconds=seconds)) == words


def test_a_span_without_an_end_ends_now() -> None:
    assert time_span(clock.now() - dt.timedelta(hours=3, seconds=1)) == "3 h 0 min"


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("Europe/Berlin", "Wed 25 Nov 04:00 there (03:00 UTC)"),
        ("America/New_York", "Tue 24 Nov 22:00 there (Wed 25 Nov 03:00 UTC)"),
        ("Europe/London", "Wed 25 Nov 03:00 UTC"),
        ("UTC", "Wed 25 Nov 03:00 UTC"),
    ],
)
def test_a_time_by_the_recipients_clock_names_both_clocks(zone: str, words: str) -> None:
    assert there(NOW, zoneinfo.ZoneInfo(zone)) == words


@pytest.mark.parametrize(
    ("zone", "html"),
    [
        ("Europe/London", "2026-11-25 03:00:00 UTC"),
        (
            "Europe/Berlin",
            '2026-11-25 03:00:00 UTC <span class="nc-quiet">Wed 25 Nov 04:00:00 there</span>',
        ),
    ],
)
def test_an_instant_ends_without_a_space(zone: str, html: str) -> None:
    assert instant(NOW, zoneinfo.ZoneInfo(zone)) == html


@pytest.mark.parametrize(
    ("text", "sentence"), [("wrong text", "wrong text."), ("Stop.", "Stop."), ("why?", "why?")]
)
def test_a_text_gets_one_full_stop(text: str, sentence: str) -> None:
    assert end_of_sentence(text) == sentence
