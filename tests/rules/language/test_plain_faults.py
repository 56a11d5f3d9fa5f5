"""An author reads what is wrong in words of the template, not of Jinja."""

from __future__ import annotations

import pytest

from notifications.core.rules.language import templating


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ name", "{{ has no closing }}"),
        ("{{ name }", "{{ is closed by one }: write }}"),
        ("{{ }}", "{{ }} is empty: write the name of a variable between the brackets"),
        ("{% if a %}x", "{% if %} has no closing {% endif %}"),
        ("{% for a in b %}", "{% for %} has no closing {% endfor %}"),
        ("{% endif %}", "{% endif %} has no beginning, such as {% if name %}"),
        ("{% foo %}", "{% foo %} is no tag: use if, for or else"),
        ("{% if x", "{% has no closing %}"),
        ("{# note", "{# has no closing #}"),
        ("{% if %}", "the condition or the list is missing before %}"),
        ("{{ a$ }}", "$ cannot stand between the brackets"),
        ("{{ x) }}", ") stands in the wrong place"),
        ("{{ x. }}", "a name is missing after the point"),
        ("{{ x| }}", "expected token a name, got }}"),
        ("{{ order id }}", "}} is missing before id; a name has letters, digits and underscores"),
    ],
)
def test_each_mistake_has_plain_words(source: str, said: str) -> None:
    [fault] = templating.check(source)
    assert fault.detail.startswith(said)
    assert not fault.detail.endswith(".")
