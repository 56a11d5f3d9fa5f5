"""Filters and slices of templates cut no character that a person sees."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from notifications.core.rules.language.templating import RenderError, compile_text
from tests.providers.test_graphemes import MOST_CPU_SECONDS, UNITS


def body(source: str, **variables: object) -> str:
    return compile_text("", source).render(variables).body


@pytest.mark.parametrize("unit", UNITS)
def test_truncate_and_slices_keep_each_character_whole(unit: str) -> None:
    for length in range(9, 20):
        for killwords in ("true", "false"):
            made = body(f"{{{{ x|truncate({length}, {killwords}, '.', 0) }}}}", x=unit * 20)
            kept = made.removesuffix(".")
            assert kept == unit * (len(kept) // len(unit))
            assert len(made) <= length
        assert len(body(f"{{{{ x[:{length}] }}}}", x=unit * 20)) % len(unit) == 0
        assert body(f"{{{{ x[:{length}] }}}}{{{{ x[{length}:] }}}}", x=unit * 20) == unit * 20
    assert body("{{ x[:1] }} {{ x|first }}", x=unit + "a") == f"{unit} {unit}"
    assert body("{{ x[-1:] }}", x="a" + unit) in {"", unit}


@given(
    text=st.text(alphabet="ab c", max_size=40),
    length=st.integers(0, 30),
    killwords=st.booleans(),
    end=st.sampled_from(["", "...", "…"]),
    leeway=st.integers(0, 6),
)
def test_truncate_cuts_plain_text_as_jinja_does(
    text: str,
    length: int,
    *,
    killwords: bool,
    end: str,
    leeway: int,
) -> None:
    source = "{{ x|truncate(n, k, e, l) }}"
    values = {"x": text, "n": length, "k": killwords, "e": end, "l": leeway}
    if length < len(end):
        with pytest.raises(RenderError, match="truncate takes a length"):
            body(source, **values)
        return
    assert body(source, **values) == Environment(autoescape=True).from_string(source).render(values)


@given(text=st.text(alphabet="abc", max_size=9), start=st.integers(-9, 9), stop=st.integers(-9, 9))
def test_slices_of_plain_text_and_of_lists_are_those_of_python(
    text: str, start: int, stop: int
) -> None:
    source = "{{ x[a:b] }}{{ x[a:b:2] }}{{ y[a:b] }}"
    made = body(source, x=text, y=list(text), a=start, b=stop)
    assert made == f"{text[start:stop]}{text[start:stop:2]}{list(text)[start:stop]}"


def test_first_reads_lists_and_empty_values_as_before() -> None:
    assert body("{{ x|first }}", x=[3, 4]) == "3"
    for empty in ("", ()):
        with pytest.raises(RenderError):
            body("{{ x|first }}", x=empty)


def test_parts_in_html_are_escaped() -> None:
    source = "{{ x[:4] }} {{ x|first }} {{ x|truncate(9) }} {{ (x|e)[:2] }}"
    source += " {{ x|e|truncate(4, true, '', 0) }}"
    html = compile_text("", "", source).render({"x": "<é>&"}).html
    assert html == "&lt;é&gt;&amp; &lt; &lt;é&gt;&amp; &l &lt;"


@pytest.mark.parametrize("unit", ["é", "🇩🇪", "\u0301", "👩\u200d", "क्", "\u0600"])
def test_parts_of_long_texts_end_soon(unit: str) -> None:
    text = compile_text(
        "", "{% for i in many %}{{ x[5:n] }}{{ x|first }}{{ x|truncate(n) }}{% endfor %}"
    )
    began = time.process_time()
    with pytest.raises(RenderError):
        text.render({"x": unit * (60_000 // len(unit)), "many": [1] * 500, "n": 59_000})
    assert time.process_time() - began < MOST_CPU_SECONDS
