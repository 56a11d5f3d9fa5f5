"""Numbers, dates and plurals are written as the reader's language does, and cost little."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.core.rules.language.formats import Reader
from notifications.core.rules.language.templating import RenderError, check, compile_text

MOST_CPU_SECONDS = 10.0
"""Far more than a slow processor needs; what has no bound takes minutes."""
AT = "2026-03-01T23:30:00Z"


def written(source: str, locale: str, *, timezone: str = "UTC", **values: object) -> str:
    text = compile_text("", source).render(values, Reader(locale=locale, timezone=timezone)).body
    return text.replace("\u202f", " ").replace("\xa0", " ")


@pytest.mark.parametrize(
    ("locale", "number", "form"),
    [
        ("en", 1, "one"),
        ("en", 2, "other"),
        ("fr", 0, "one"),
        ("pl", 3, "few"),
        ("pl", 5, "many"),
        ("ar", 0, "zero"),
        ("ar", 2, "two"),
        ("ja", 1, "other"),
        ("pt-PT", 0, "other"),
        ("pt-BR", 0, "one"),
    ],
)
def test_a_plural_has_the_form_that_cldr_gives_it(locale: str, number: int, form: str) -> None:
    forms = "zero='zero', one='one', two='two', few='few', many='many', other='other'"
    assert written("{{ n|plural(" + forms + ") }}", locale, n=number) == form


def test_a_form_that_the_author_left_out_is_other() -> None:
    assert written("{{ n|plural(one='a', other='b') }}", "pl", n=3) == "b"


@pytest.mark.parametrize(
    ("source", "locale", "text"),
    [
        ("{{ n|number }}", "de", "1.234.567,5"),
        ("{{ n|number(2) }}", "de", "1.234.567,50"),
        ("{{ n|number(0) }}", "en-IN", "12,34,568"),
        ("{{ tiny|number(7) }}", "en", "0.0000010"),
        ("{{ s|percent }}", "fr", "25 %"),
        ("{{ s|percent(1) }}", "en", "25.0%"),
        ("{{ p|money('EUR') }}", "de", "9,90 €"),
        ("{{ p|money('JPY') }}", "ja", "￥10"),
        ("{{ t|money }}", "pt-BR", "R$ 1.250,00"),
        ("{{ at|date }}", "de", "01.03.2026"),
        ("{{ d|date('long') }}", "es", "1 de marzo de 2026"),
        ("{{ at|time }}", "en", "11:30 PM"),
        ("{{ at|datetime('short') }}", "de", "01.03.26, 23:30"),
        ("{{ l|listed }}", "en", "Ann, Bob, and 3"),
        ("{{ l|listed('or') }}", "de", "Ann, Bob oder 3"),
    ],
)
def test_values_are_written_as_the_language_does(source: str, locale: str, text: str) -> None:
    total = {"amount": "1250", "currency": "BRL"}
    values: dict[str, object] = {
        "n": 1234567.5,
        "s": 0.25,
        "p": 9.9,
        "t": total,
        "at": AT,
        "d": "2026-03-01",
    }
    names = ["Ann", "Bob", 3]
    got = compile_text("", source).render({**values, "tiny": 1e-6, "l": names}, Reader(locale)).body
    assert got.replace("\u202f", " ").replace("\xa0", " ") == text


def test_instants_are_told_in_the_readers_timezone() -> None:
    source = "{{ at|date('short') }} {{ at|time }}"
    assert written(source, "de", timezone="Europe/Berlin", at=AT) == "02.03.26 00:30"


@pytest.mark.parametrize("timezone", ["", "Mars/Olympus", "../../etc/passwd", "Europe", "\0"])
def test_a_zone_that_there_is_not_counts_as_utc(timezone: str) -> None:
    assert written("{{ at|time }}", "de", timezone=timezone, at=AT) == "23:30"


@pytest.mark.parametrize("locale", ["", "xx", "no such locale!", "en" * 99, "../en"])
def test_a_locale_that_cldr_does_not_know_is_english(locale: str) -> None:
    assert written("{{ n|number }}", locale, n=1234) == "1,234"


@pytest.mark.parametrize(
    "filter_",
    ["plural(other='')", "number", "percent", "money('EUR')", "date", "time", "datetime", "listed"],
)
def test_a_missing_value_is_named(filter_: str) -> None:
    with pytest.raises(RenderError, match="the variable 'x' is missing"):
        written("{{ x|" + filter_ + " }}", "en")


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{ x|number }}", "12"),
        ("{{ x|number }}", True),
        ("{{ x|number }}", 10**4000),
        ("{{ x|number }}", 1e300),
        ("{{ x|number(99) }}", 1),
        ("{{ x|number('a') }}", 1),
        ("{{ x|percent(-1) }}", 1),
        ("{{ x|money('XYZ') }}", 1),
        ("{{ x|money }}", 1),
        ("{{ x|money('EUR') }}", "1e999999"),
        ("{{ x|money('EUR') }}", "NaN"),
        ("{{ x|date }}", "tomorrow"),
        ("{{ x|date('enormous') }}", "2026-03-01"),
        ("{{ x|time }}", "2026-03-01T10:00:00"),
        ("{{ x|datetime }}", "0001-01-01T00:00:00+14:00"),
        ("{{ x|datetime }}", 5),
        ("{{ x|listed }}", "abc"),
        ("{{ x|listed('nor') }}", ["a"]),
        ("{{ x|listed }}", ["a" * 600] * 101),
        ("{{ x|plural(other='a') }}", []),
        ("{% for i in x %}{{ at|datetime('full') }}{% endfor %}", [0] * 3_000),
    ],
)
def test_a_value_of_another_kind_ends_soon_in_a_render_error(source: str, value: object) -> None:
    began = time.process_time()
    with pytest.raises(RenderError):
        written(source, "en", x=value, at=AT)
    assert time.process_time() - began < MOST_CPU_SECONDS


@pytest.mark.parametrize(
    "arguments", ["", "()", "('a')", "(one='a')", "(other='a', some='b')", "(other='a', **x)"]
)
def test_a_plural_without_other_is_refused_where_it_is_written(arguments: str) -> None:
    assert [fault.detail for fault in check("{{ n|plural" + arguments + " }}")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)


@settings(deadline=None)  # a busy machine is no fault; how long a render may take is tested above
@given(value=JSON, locale=st.text(max_size=12), timezone=st.text(max_size=12))
def test_any_json_is_written_or_refused(value: object, locale: str, timezone: str) -> None:
    for filter_ in ("number", "percent", "money", "date", "time", "datetime", "listed"):
        compiled = compile_text("", "{{ x|" + filter_ + " }}")
        try:
            compiled.render({"x": value}, Reader(locale=locale, timezone=timezone))
        except RenderError:
            continue
