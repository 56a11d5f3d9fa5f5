"""Converted templates render as the vendor's language does; the rest is refused with its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from notifications.core.rules.language import templating
from notifications.features.moving.languages import (
    double_parentheses,
    go_templates,
    handlebars,
    liquid,
)
from notifications.features.moving.languages.converted import NotConvertible


def render(source: str, **variables: Any) -> str:  # noqa: ANN401 - JSON values
    return templating.compile_text("", source).render(variables).body


@pytest.mark.parametrize(
    ("source", "variables", "expected"),
    [
        ("{{#if name}}Hi {{name}}{{else}}Hello{{/if}}", {}, "Hello"),
        ("{{#if name}}Hi {{name}}{{else}}Hello{{/if}}", {"name": "Ada"}, "Hi Ada"),
        ("{{#if a.b}}yes{{/if}}", {"a": {}}, ""),
        ("{{#unless paid}}Pay{{/unless}}", {"paid": False}, "Pay"),
        ("{{#each lines}}{{@index}}{{this}},{{/each}}", {"lines": ["a", "b"]}, "0a,1b,"),
        (
            "{{#each a}}{{#each b}}{{this}}{{../c}}{{/each}}{{/each}}",
            {"a": [{"b": [1, 2], "c": "x"}]},
            "1x2x",
        ),
        ("{{! a note }}{{!-- {{x}} --}}ok", {}, "ok"),
    ],
)
def test_handlebars(source: str, variables: dict[str, Any], expected: str) -> None:
    assert render(handlebars.convert(source), **variables) == expected


@pytest.mark.parametrize(
    ("source", "variables", "expected"),
    [
        ("{{ name | upcase }}", {"name": "ada"}, "ADA"),
        ("{{ lines | join: ', ' }}", {"lines": ["a", "b"]}, "a, b"),
        ("{% if name %}yes{% endif %}", {"name": ""}, "yes"),
        ("{% if name %}yes{% else %}no{% endif %}", {"name": False}, "no"),
        ("{% if name %}yes{% else %}no{% endif %}", {}, "no"),
        ("{% if n == 0 %}none{% elsif n > 5 %}many{% else %}some{% endif %}", {"n": 6}, "many"),
        ("{% if plan != 'pro' %}free{% endif %}", {}, "free"),
        ("{% if a and b %}both{% endif %}", {"a": 1}, ""),
        ("{% unless paid %}Pay{% endunless %}", {"paid": False}, "Pay"),
        ("{% for x in xs %}{{ forloop.index }}{{ x.y }}{% endfor %}", {"xs": [{"y": "a"}]}, "1a"),
        (
            "{% comment %}{{ x | y }}{% endcomment %}a{%- if b -%} c {%- endif %}",
            {"b": 1},
            "ac",
        ),
    ],
)
def test_liquid(source: str, variables: dict[str, Any], expected: str) -> None:
    assert render(liquid.convert(source), **variables) == expected


@pytest.mark.parametrize(
    ("source", "variables", "expected"),
    [
        ("{{ .Subscriber.Name }}", {"name": "Ada"}, "Ada"),
        (
            "{{ if .Tx.Data.city }}in {{ .Tx.Data.city }}{{ else }}far{{ end }}",
            {},
            "far",
        ),
        ("{{ .Tx.Data.order.total }}", {"order": {"total": 5}}, "5"),
        (
            '{{ TrackLink "https://a.example/x" . }} https://b.example@TrackLink',
            {},
            "https://a.example/x https://b.example",
        ),
    ],
)
def test_go_templates(source: str, variables: dict[str, Any], expected: str) -> None:
    assert render(go_templates.convert(source), **variables) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("Yes", "late"), (True, "late"), ("no", ""), (0, "")]
)
def test_an_optional_text_of_govuk_notify(value: object, expected: str) -> None:
    source, renamed = double_parentheses.convert("((Is-late??late))")
    assert render(source, is_late=value) == expected
    assert renamed == {"Is-late": "is_late"}


def test_an_email_of_govuk_notify_is_escaped() -> None:
    text = double_parentheses.convert("a < b & [the ((what))](https://x.example/((id)))")[0]
    assert double_parentheses.to_html(text) == (
        '<p>a &lt; b &amp; <a href="https://x.example/{{ id }}">the {{ what }}</a></p>'
    )


@pytest.mark.parametrize(
    ("convert", "source"),
    [
        (handlebars.convert, "a\n{{{raw}}}"),
        (handlebars.convert, "a\n{{> footer}}"),
        (handlebars.convert, "a\n{{date x 'Y'}}"),
        (handlebars.convert, "a\n{{#with x}}{{/with}}"),
        (handlebars.convert, "a\n{% x %}"),
        (handlebars.convert, "a\n{{#if x}}"),
        (handlebars.convert, "a\n{{/if}}"),
        (handlebars.convert, "a\n{{else}}"),
        (liquid.convert, "a\n{{ x | date: '%Y' }}"),
        (liquid.convert, "a\n{% assign x = 1 %}"),
        (liquid.convert, "a\n{% render 'x' %}"),
        (liquid.convert, "a\n{% if a and b or c %}{% endif %}"),
        (liquid.convert, "a\n{% for x in (1..5) %}{% endfor %}"),
        (liquid.convert, "a\n{% endif %}"),
        (liquid.convert, "a\n{{ x[0] }}"),
        (liquid.convert, "a\n{{ x | default: 'you' }}"),
        (liquid.convert, "a\n{% if x == nil %}{% endif %}"),
        (liquid.convert, "a\n{% if x != null %}{% endif %}"),
        (liquid.convert, "a\n{% if x == blank %}{% endif %}"),
        (liquid.convert, "a\n{% if x == empty %}{% endif %}"),
        (liquid.convert, "a\n{{ nil }}"),
        (go_templates.convert, 'a\n{{ template "content" . }}'),
        (go_templates.convert, "a\n{{ range .Tx.Data.x }}{{ end }}"),
        (go_templates.convert, "a\n{{ end }}"),
        (double_parentheses.convert, "a\n((??))"),
        (double_parentheses.convert, "a\n{{ x }}"),
    ],
)
def test_other_parts_are_refused_with_the_line(
    convert: Callable[[str], object], source: str
) -> None:
    with pytest.raises(NotConvertible, match=r"^line 2: "):
        convert(source)
