"""Templates render what they say, and nothing that a template can say hurts the process."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import nodes

from notifications.core.rules.language import syntax
from notifications.core.rules.language.templating import (
    RenderError,
    check,
    compile_text,
    variables_of,
)

MOST_CPU_SECONDS = 10.0
"""Far more than a slow processor needs; what has no bound takes minutes."""
"""No template may take longer, on a slow machine; the worst below takes a tenth of it."""


def body(source: str, **variables: object) -> str:
    return compile_text("", source).render(variables).body


def test_names_are_filled_in() -> None:
    assert body("{{ place }}: {{ order.id }}", place="Café", order={"id": 7}) == "Café: 7"


def test_html_is_escaped_and_text_is_not() -> None:
    text = compile_text("{{ x }}", "{{ x }}", "<b>{{ x }}</b>").render({"x": "<i>&"})
    assert (text.title, text.body, text.html) == ("<i>&", "<i>&", "<b>&lt;i&gt;&amp;</b>")


def test_html_is_escaped_after_a_filter_too() -> None:
    html = compile_text("", "", "{{ x|upper }} {{ y|join(', ') }}").render({"x": "<i>", "y": ["<"]})
    assert html.html == "&lt;I&gt; &lt;"


def test_a_title_stays_on_one_line_whatever_its_variables_hold() -> None:
    text = compile_text("Hi {{ x }}", "").render({"x": "a\r\nBcc: everybody@example.com"})
    assert text.title == "Hi a Bcc: everybody@example.com"


def test_a_null_renders_as_nothing() -> None:
    assert body("<{{ x }}>{{ x|upper if x else '' }}", x=None) == "<>"


@pytest.mark.parametrize(
    "source",
    [
        *("{{ x }}", "{{ x|upper }}", "{% for i in x %}{{ i }}{% endfor %}", "{{ x + 1 }}"),
        *("{{ y.x }}", "{{ y.x|upper }}", "{{ y['x'] }}", "{% if x %}a{% endif %}", "{{ x.y }}"),
    ],
)
def test_a_missing_variable_is_named(source: str) -> None:
    with pytest.raises(RenderError, match="the variable 'x' is missing"):
        body(source, y={})


def test_a_default_stands_in_for_a_missing_variable() -> None:
    assert body("{{ x|default('friend') }}{% if y is defined %}!{% endif %}") == "friend"


def test_loops_know_where_they_are() -> None:
    source = (
        "{% for i in items %}{{ loop.index }}{{ i.n }}{{ '' if loop.last else ', ' }}{% endfor %}"
    )
    assert body(source, items=[{"n": "a"}, {"n": "b"}]) == "1a, 2b"


def test_declared_names_what_a_source_mentions() -> None:
    assert variables_of(
        "{{ a.b }}{% for i in c %}{{ i }}{{ loop.index }}{% endfor %}{{ d|d }}"
    ) == {*("a", "c", "d")}


def test_a_method_is_a_missing_key() -> None:
    assert body("{{ order.items }}", order={"items": "two"}) == "two"
    with pytest.raises(RenderError, match="'items' is missing"):
        body("{{ order.items }}", order={})


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("{{ x.__class__ }}", "underscore"),
        ("{{ x['__class__'] }}", "underscore"),
        ("{{ _meter }}", "underscore"),
        ("{% for _meter in x %}{% endfor %}", "underscore"),
        ("{{ x() }}", "call"),
        ("{{ x.format(1) }}", "call"),
        ("{{ x|attr('y') }}", "attr"),
        ("{{ x|center(50000000) }}", "center"),
        ("{{ x|replace('a', 'aa') }}", "replace"),
        ("{{ x|safe }}", "safe"),
        ("{{ x|_metered(1) }}", "_metered"),
        ("{{ x ** 9 }}", "pow"),
        ("{{ x ~ x }}", "concat"),
        ("{{ self }}", "self"),
        ("{% set a = x %}", "assign"),
        ("{% macro m() %}{% endmacro %}", "macro"),
        ("{% include 'x' %}", "include"),
        ("{% extends 'x' %}", "extends"),
        ("{% block x %}{% endblock %}", "block"),
        ("{% filter upper %}x{% endfilter %}", "filterblock"),
        ("{% for i in 'abc' %}{% endfor %}", "variable"),
        ("{% for i in x recursive %}{% endfor %}", "variable"),
        ("{% for i in x %}" * 3 + "{% endfor %}" * 3, "2 deep"),
        ("{% if x %}" * 60 + "{% endif %}" * 60, "deeply"),
        ("{{ " + "(" * 5_000 + "x" + ")" * 5_000 + " }}", "deeply"),
        ("{{ x }}" * syntax.MAX_NODES, "more than"),
        ("x" * (syntax.MAX_SOURCE + 1), "longer"),
        ("{{ x", "no closing"),
        ("{% frob %}", "frob"),
    ],
)
def test_what_could_hurt_is_refused_before_it_runs(source: str, word: str) -> None:
    assert any(word in fault.detail for fault in check(source)), check(source)
    with pytest.raises(syntax.BrokenTemplate):
        compile_text("", source)


def test_every_fault_is_told_with_its_line() -> None:
    faults = check("fine\n{{ a() }}\n\n{{ b|center(9) }}")
    assert [(fault.line, "available" in fault.detail) for fault in faults] == [
        (2, True),
        (4, False),
    ]


@pytest.mark.parametrize(
    ("source", "variables"),
    [
        ("{% for a in x %}{% for b in x %}{% endfor %}{% endfor %}", {"x": [0] * 32_000}),
        ("{% for a in x %}{% if a %}{% endif %}{% endfor %}", {"x": "y" * 64_000}),
        ("{% for a in x %}{{ y|upper }}{% endfor %}", {"x": [0] * 3_000, "y": "é" * 60_000}),
        ("{{ 'x' * 50000000 }}", {}),
        ("{{ x * 50000000 }}", {"x": "x"}),
        ("{{ x % 1 }}", {"x": "%50000000d"}),
        ("{{ x|join(y) }}", {"x": [0] * 30_000, "y": "y" * 60_000}),
        ("{{ x|round(999999999, 'ceil') }}", {"x": 1.5}),
        ("{{ x|round(y) }}", {"x": 5, "y": -999999999}),
        ("{{ x }}" * 2_000, {"x": "x" * 60_000}),
        ("{{ x|upper }}" * 1_000, {"x": "x" * 60_000}),
        ("{{ " + "*".join(["x"] * 35) + " }}", {"x": 10**300}),
        ("{{ x / 0 }}", {"x": 1}),
        ("{{ x|truncate(2, true, '') }}", {"x": [1, 2, 3] * 5}),
        ("{{ x|truncate(9) }}", {"x": [1] * 99}),
        ("{{ x }}{{ x + 1 }}", {"x": []}),
        ("{% for a in x %}{% endfor %}", {"x": 5}),
    ],
)
def test_what_grows_with_its_variables_ends_soon_in_an_error(
    source: str, variables: dict[str, object]
) -> None:
    compiled = compile_text("", source)
    began = time.process_time()
    with pytest.raises(RenderError):
        compiled.render(variables)
    assert time.process_time() - began < MOST_CPU_SECONDS


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
JSON_VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.just("b"), SCALARS)
SOURCES = st.lists(
    st.sampled_from((
        *("{{ a }}", "{{ a.b.c }}", "{{ a|upper }}", "{{ a + b }}", "{{ a[b] }}", "{{ a|int(b) }}"),
        *("{% for i in a %}{{ i|join(b) }}{% endfor %}", "{{ a|truncate(b) }}", "{{ a|round(b) }}"),
        *(
            "{% if a > b %}x{% endif %}",
            "{{ a|urlencode }}",
            "{{ c.items }}",
            "{{ a is divisibleby b }}",
        ),
        *("{{ a|default(b)|first }}", "{{ a|length }}", "{{ a in b }}", "{{ -a }}", "{{ a[1:b] }}"),
    )),
    max_size=4,
).map("".join)


@settings(deadline=None)  # a busy machine is no fault; how long a render may take is tested above
@given(SOURCES, st.dictionaries(st.sampled_from("abc"), JSON_VALUES))
def test_any_json_gives_a_message_or_a_render_error(
    source: str, variables: dict[str, object]
) -> None:
    compiled = compile_text(source, source, source)
    with contextlib.suppress(RenderError):
        assert isinstance(compiled.render(variables).html, str)


@pytest.mark.parametrize(
    "source",
    [
        "{% if text|title %}{% endif %}" * 900,
        "{% for i in many %}{% if text|title %}{% endif %}{% endfor %}",
        ("{% if text" + "|e|title" * 17 + " %}{% endif %}") * 20,
        "{% if text|urlencode %}{% endif %}" * 900,
        "{% if many|join(text)|upper %}{% endif %}" * 900,
        "{% if digits|int * digits|int %}{% endif %}",
        "{% if hexadecimal|int(0, 16) is divisibleby(7) %}{% endif %}",
        "{% for i in many %}{% if 0.5 in numbers %}{% endif %}{% endfor %}",
        "{% for i in many %}{% if 0.5 not in numbers %}{% endif %}{% endfor %}",
        "{% for i in many %}{% if 0.5 is in(numbers) %}{% endif %}{% endfor %}",
        "{% for i in many %}{% if numbers == same %}{% endif %}{% endfor %}",
        "{% for i in many %}{% if numbers is eq(same) %}{% endif %}{% endfor %}",
        "{% for i in many %}{% if i in [numbers, same] %}{% endif %}{% endfor %}",
        "{% for i in many %}{% if missing_from in text %}{% endif %}{% endfor %}",
        "{% if numbers == same == numbers %}{% endif %}" * 500,
    ],
)
def test_filters_and_comparisons_of_long_values_end_soon(source: str) -> None:
    text = compile_text("", source)
    variables = {"text": "& " * 30_000, "many": [1] * 500, "digits": "9" * 4_300}
    began = time.process_time()
    with pytest.raises(RenderError):
        text.render({
            **variables,
            "hexadecimal": "f" * 60_000,
            "missing_from": "&&",
            "numbers": list(range(20_000)),
            "same": list(range(20_000)),
        })
    assert time.process_time() - began < MOST_CPU_SECONDS


def test_slices_of_long_values_end_soon() -> None:
    slices = "{% if numbers" + "[:]" * 30 + " %}{% endif %}"
    values = {"many": [1] * 780, "numbers": list(range(32_000)), "text": "é" * 60_000}
    for source in (
        "{% for i in many %}" + slices + "{% endfor %}",
        slices * 30,
        "{% for i in many %}{% if text[::-1][1:] %}{% endif %}{% endfor %}" * 9,
    ):
        with pytest.raises(RenderError, match="run too long"):
            compile_text("", source).render(values)
    assert body("{{ text[:3] }}{{ numbers[1:3] }}", **values) == "ééé[1, 2]"
    with pytest.raises(RenderError, match="'nobody' is missing"):
        body("{{ nobody[:3] }}")


NODES = {
    nodes.Template: "x",
    nodes.Output: "{{ numbers }}",
    nodes.TemplateData: "x",
    nodes.If: "{% if numbers %}{% elif text %}{% endif %}",
    nodes.For: "{% for j in numbers %}{% endfor %}",
    nodes.CondExpr: "{{ numbers if numbers else text }}",
    nodes.Name: "{% if numbers %}{% endif %}",
    nodes.Const: "{{ 'x' }}",
    nodes.List: "{{ [numbers, text] }}",
    nodes.Tuple: "{{ (numbers, text) }}",
    nodes.Getattr: "{% if by.name %}{% endif %}",
    nodes.Getitem: "{% if by[text] %}{% endif %}{% if by[numbers] %}{% endif %}",
    nodes.Slice: "{% if numbers[:][::-1] %}{% endif %}{% if text[1:] %}{% endif %}",
    nodes.Filter: "{% if text|e|upper|first %}{% endif %}{% if numbers|join|length %}{% endif %}",
    nodes.Test: "{% if numbers is sequence %}{% endif %}{% if text is eq(same) %}{% endif %}",
    nodes.Keyword: "{% if text|truncate(length=9) %}{% endif %}",
    nodes.Compare: "{% if numbers < others %}{% endif %}",
    nodes.Operand: "{% if text in same %}{% endif %}",
    nodes.And: "{% if numbers and text %}{% endif %}",
    nodes.Or: "{% if text or numbers %}{% endif %}",
    nodes.Not: "{% if not numbers %}{% endif %}",
    nodes.Neg: "{{ -big }}",
    nodes.Pos: "{{ +big }}",
    nodes.Add: "{{ big + big }}",
    nodes.Sub: "{{ big - 1 }}",
    nodes.Mul: "{{ big * big * big }}",
    nodes.Div: "{{ big / 3 }}",
    nodes.FloorDiv: "{{ big // 3 }}",
    nodes.Mod: "{{ big % 3 }}",
}
"""Each node of the syntax, over the largest values."""


@pytest.mark.parametrize("source", NODES.values())
def test_each_part_of_the_syntax_in_a_loop_over_large_values_ends_soon(source: str) -> None:
    looped = "{% for i in many %}" + source * 3 + "{% endfor %}"
    values: dict[str, object] = {"many": [1] * 780, "numbers": list(range(32_000))}
    values["others"] = list(range(32_000))
    values |= {"text": "é" * 60_000, "same": "é" * 60_000, "by": {}, "big": 10**4_000}
    compiled = compile_text("", looped)
    began = time.process_time()
    with contextlib.suppress(RenderError):
        compiled.render(values)
    assert time.process_time() - began < MOST_CPU_SECONDS / 4


def test_the_loops_above_have_each_part_of_the_syntax() -> None:
    assert frozenset(NODES) == syntax._NODES


def test_a_long_text_can_be_escaped_and_trimmed() -> None:
    assert len(body("{{ x|trim|e|upper }}", x=" a" * 30_000)) == 59_999


@pytest.mark.parametrize("source", ["Hello,\n\x00", "Hello,\n{# \x00 #}", "Hello,\n\ud800"])
def test_a_character_that_no_database_stores_is_refused_with_its_line(source: str) -> None:
    [fault] = check(source)
    assert (fault.line, fault.detail) == (
        2,
        "a NUL character or a lone surrogate, which no text can have",
    )


@pytest.mark.parametrize("source", ["{{ '\\ud800' }}", "{{ x['\\x00'] }}", "{{ 1e999|int }}"])
def test_a_constant_that_no_message_can_hold_is_refused(source: str) -> None:
    assert [fault.detail for fault in check(source)] == [
        "this value cannot be written in a message"
    ]


def test_what_is_infinite_or_no_number_at_all_is_an_error_like_others() -> None:
    assert body("{{ 'inf'|float }}") == "inf"
    for source in ("{{ 'inf'|float|int }}", "{{ 'nan'|float|number }}"):
        with pytest.raises(RenderError):
            body(source)


def test_comparisons_with_what_stands_in_the_source_cost_nothing_more() -> None:
    source = (
        "{% for i in many %}{% if i == 'a' or i in ['b', 'c'] or i > 3 %}x{% endif %}{% endfor %}"
    )
    assert compile_text("", source).render({"many": ["a"] * 2_000}).body == "x" * 2_000


def test_a_comparison_with_a_missing_variable_names_it() -> None:
    for source in ("{% if a == b %}{% endif %}", "{% if b in a %}{% endif %}"):
        with pytest.raises(RenderError, match="'b'"):
            compile_text("", source).render({"a": [1]})
